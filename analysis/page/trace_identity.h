// The identity of a trace: a text that two files share only if they hold the same trace, whatever
// they are called. It is made of the trace's metadata and of the headers of all blocks, so no
// events are read. A function without state.
#pragma once

#include <string>

#include "analysis/trace/reader.h"

namespace sojourn::page {

std::string identity_of(const trace::Reader& reader);

}  // namespace sojourn::page
