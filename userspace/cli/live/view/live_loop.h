// `sojourn live` on a terminal: it shows figures and handles keys until the user quits or a signal
// comes.
#pragma once

#include "analysis/base/result.h"
#include "userspace/cli/live/view/live_session.h"
#include "userspace/live/terminal_screen.h"

namespace sojourn::cli {

// `signals` is a signalfd of live_signals().
Result<void> run_screen(const LiveSettings& settings, LiveSession& session,
                        live_view::TerminalScreen& terminal, int signals);

}  // namespace sojourn::cli
