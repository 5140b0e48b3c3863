// `sojourn live` without a terminal to draw on: lines, or an object in each.
#pragma once

#include "analysis/base/result.h"
#include "userspace/base/fd.h"
#include "userspace/cli/live/view/live_session.h"

namespace sojourn::cli {

// Prints lines until a signal comes on the descriptor, the trace ends, or the given number of
// intervals is over.
Result<void> run_lines(const LiveSettings& settings, LiveSession& session, int signals);

// Prints the messages of the session's capture, but not its failure: the command ends with that.
void pass_messages_on(LiveSession& session);

// Waits until the capture of the session has begun, or the trace has ended, and prints its
// messages. Returns false if a signal came. Fails if there is nothing to show.
Result<bool> wait_for_capture(LiveSession& session, int signals);

}  // namespace sojourn::cli
