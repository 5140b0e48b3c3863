// The receiver of an answer's columns, beside its text.
#pragma once

#include <cstdint>
#include <span>
#include <string_view>

namespace sojourn::page {

// Receives the columns of an answer, and how far the work on it is.
class AnswerSink {
 public:
  AnswerSink() = default;
  AnswerSink(const AnswerSink&) = delete;
  AnswerSink& operator=(const AnswerSink&) = delete;
  virtual ~AnswerSink() = default;

  virtual void column(std::string_view name, std::span<const double> values) = 0;
  virtual void column(std::string_view name, std::span<const std::uint8_t> values) = 0;
  virtual void progress(std::uint64_t done, std::uint64_t of) = 0;
};

}  // namespace sojourn::page
