// The trace file that a command reads: opens it, refuses one without readable blocks, and reports
// if it is incomplete.
#pragma once

#include <string>
#include <string_view>

#include "analysis/base/result.h"
#include "analysis/trace/reader.h"
#include "userspace/cli/arguments.h"

namespace sojourn::cli {

// Returns what is wrong with the address of a stream; empty: nothing, or it is a file's name.
std::string check_trace_name(const std::string& name);

// Declares the argument for its path.
Argument add_trace(Arguments& arguments, std::string& path);

// Describes the unfinished file of that name, and what to do with it; empty: there is none.
std::string partial_words(const std::string& path);

// The error for a file that does not exist describes its unfinished one.
Result<trace::Reader> open_trace(const std::string& path);

// Refuses a stream if the command needs a file.
Result<void> check_is_file(const std::string& path);

// An error for a trace that a script has made: no points can be added behind the script's own.
// `what`: what is to be done, as in "merge".
Result<void> require_as_recorded(const trace::Reader& reader, std::string_view what);

// Missing or damaged parts, as the first line of a text for people; empty if the trace is whole. To
// be called after reading, as some damage is only found then.
std::string first_line(const trace::Reader& reader);

// Prints the same to stderr, for commands that print data, and returns it. If data is printed while
// the file is read, it is called before, with the headers' facts, and again if more was found.
std::string tell_if_not_whole(const trace::Reader& reader, std::string_view notice = "");

}  // namespace sojourn::cli
