// Signals that come as readable bytes of a signalfd, and what they are called. No state.
#pragma once

#include <string>

namespace sojourn::capture {

// The next signal; SIGINT if there is none to be read.
int read_signal(int signals);

// "interrupt", "SIGTERM"
std::string words_for(int signal);

}  // namespace sojourn::capture
