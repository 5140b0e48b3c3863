// Which trace this is: a text that two traces share only if they are the same one, whatever their
// files are called. Taken of what stands beside the events and of the headers of all blocks, so it
// is known without reading events. A function without state.
#pragma once

#include <string>

#include "analysis/trace/reader.h"

namespace sojourn::page {

std::string identity_of(const trace::Reader& reader);

}  // namespace sojourn::page
