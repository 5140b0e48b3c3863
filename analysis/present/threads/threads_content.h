// The output of `sojourn threads`, and of `sojourn report` for a trace without points: what the
// threads of a program do, from its kernel context. docs/threads.md explains each figure.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>

#include <nlohmann/json_fwd.hpp>

#include "analysis/threads/thread_survey.h"

namespace sojourn::present {

// References outlive the printing.
struct ThreadsContent {
  const threads::ThreadSurvey& survey;
  double duration_s = 0;
  std::size_t max_rows = 20;     // of a table
  std::size_t width = SIZE_MAX;  // of the terminal
};

// Tables, each with an empty line before it.
std::string threads_text(const ThreadsContent& content);
nlohmann::ordered_json threads_json(const ThreadsContent& content);
// The wakeup graph, as Graphviz reads it.
std::string threads_dot(const ThreadsContent& content);

}  // namespace sojourn::present
