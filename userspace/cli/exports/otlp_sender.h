// Posts batches of spans to a collector, one after the other, as OTLP over HTTP is specified. A
// batch is sent again if the collector allows it, or if there was no answer: after the time that
// the collector names, else after growing delays. One thread owns an OtlpSender.
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

#include "analysis/base/result.h"
#include "userspace/http/client.h"

namespace sojourn::cli {

class OtlpSender {
 public:
  static constexpr unsigned kMaxTries = 5;
  static constexpr std::chrono::seconds kPatience{10};      // for an answer
  static constexpr std::chrono::seconds kLongestPause{60};  // between two tries
  static constexpr std::chrono::seconds kFirstPause{1};

  // Reports that a batch waits, in a sentence without its end.
  using TellOfPause = std::function<void(std::string_view why, std::chrono::seconds pause)>;

  OtlpSender(http::Url url, bool is_json, TellOfPause tell)
      : client_(std::move(url), kPatience), is_json_(is_json), tell_(std::move(tell)) {}

  Result<void> send(std::string_view batch, std::size_t spans);

  const http::Url& url() const { return client_.url(); }
  std::uint64_t requests() const { return requests_; }  // that were answered by success
  std::uint64_t accepted() const { return accepted_; }  // spans
  std::uint64_t rejected() const { return rejected_; }
  const std::string& warning() const { return warning_; }  // the collector's first one

 private:
  std::string content_type() const;
  void note_success(std::string_view body, std::size_t spans);
  std::string so_far() const;

  http::Client client_;
  bool is_json_;
  TellOfPause tell_;
  std::uint64_t requests_ = 0;
  std::uint64_t accepted_ = 0;
  std::uint64_t rejected_ = 0;
  std::string warning_;
};

// Returns the time that a header Retry-After asks for, from `now_unix_s` on: seconds, or a date.
// Nothing if it is neither.
std::optional<std::chrono::seconds> retry_after(const std::string& header, std::int64_t now_unix_s);

}  // namespace sojourn::cli
