// Signals that are read from a signalfd, and their names. No state.
#pragma once

#include <string>

namespace sojourn::capture {

// Returns the next signal, or SIGINT if there is none to be read.
int read_signal(int signals);

// "interrupt", "SIGTERM"
std::string words_for(int signal);

}  // namespace sojourn::capture
