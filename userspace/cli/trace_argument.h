// The trace file that a command was given to read: opened, or refused where nothing in it could be
// read, and a word where it does not hold all that happened.
#pragma once

#include <string>
#include <string_view>

#include "analysis/base/result.h"
#include "analysis/trace/reader.h"
#include "userspace/cli/arguments.h"

namespace sojourn::cli {

// The argument that names it.
Argument add_trace(Arguments& arguments, std::string& path);

Result<trace::Reader> open_trace(const std::string& path);

// What is missing or damaged, as the first line of a text for people; empty where nothing is. After
// reading: some damage is found only then.
std::string first_line(const trace::Reader& reader);

// The same on stderr, beside data; returned is what was told. Where data is printed while the file
// is read, it is told before with what the headers tell, and again where more than that was found.
std::string tell_if_not_whole(const trace::Reader& reader, std::string_view told = "");

}  // namespace sojourn::cli
