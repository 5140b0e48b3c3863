#include "userspace/cli/exports/otlp_sender.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <ctime>
#include <random>
#include <thread>

#include <fmt/format.h>

#include "analysis/base/count_text.h"
#include "analysis/base/printable.h"
#include "analysis/exports/otlp_answer.h"

namespace sojourn::cli {

namespace {

// No other status is tried again.
constexpr std::array kRetryable = {429, 502, 503, 504};

// Several exporters that were refused together are not to come back together.
std::chrono::seconds scattered(std::chrono::seconds pause) {
  std::random_device random;
  return pause + std::chrono::seconds(random() % (static_cast<unsigned>(pause.count()) / 2 + 1));
}

std::string status_text(const http::Answer& answer) {
  std::string text = fmt::format("{} {}", answer.status, printable(answer.reason));
  const std::string message = exports::otlp_error(answer.body, answer.content_type);
  if (!message.empty()) text += ": " + message;
  return text;
}

}  // namespace

std::optional<std::chrono::seconds> retry_after(const std::string& header,
                                                std::int64_t now_unix_s) {
  std::int64_t seconds = 0;
  const auto [end, code] = std::from_chars(header.data(), header.data() + header.size(), seconds);
  if (!header.empty() && code == std::errc() && end == header.data() + header.size() &&
      seconds >= 0)
    return std::chrono::seconds(seconds);
  std::tm date{};
  if (strptime(header.c_str(), "%a, %d %b %Y %H:%M:%S GMT", &date) == nullptr) return std::nullopt;
  return std::chrono::seconds(std::max<std::int64_t>(timegm(&date) - now_unix_s, 0));
}

std::string OtlpSender::content_type() const {
  return is_json_ ? "application/json" : "application/x-protobuf";
}

std::string OtlpSender::so_far() const {
  if (accepted_ == 0) return "";
  return fmt::format(" ({} were taken before)", counted(accepted_, "span"));
}

Result<void> OtlpSender::send(std::string_view batch, std::size_t spans) {
  std::chrono::seconds pause = kFirstPause;
  for (unsigned tries = 1;; ++tries, pause *= 2) {
    const auto answer = client_.post(content_type(), batch);
    if (answer && answer->status >= 200 && answer->status < 300) {
      note_success(answer->body, spans);
      return {};
    }
    const std::string why = answer ? status_text(*answer) : answer.error().text();
    const bool may_retry =
        !answer || std::ranges::find(kRetryable, answer->status) != kRetryable.end();
    if (!may_retry) return fail("post to {}: {}{}", url().text(), why, so_far());
    if (tries == kMaxTries)
      return fail("post to {}: {}, {} times{}", url().text(), why, tries, so_far());
    const auto asked = answer ? retry_after(answer->retry_after, std::time(nullptr)) : std::nullopt;
    const std::chrono::seconds wait = asked.value_or(scattered(pause));
    if (wait > kLongestPause)
      return fail("post to {}: {}, and not again for {} s{}", url().text(), why, wait.count(),
                  so_far());
    tell_(why, wait);
    std::this_thread::sleep_for(wait);
  }
}

// Rejected spans are never sent again.
void OtlpSender::note_success(std::string_view body, std::size_t spans) {
  ++requests_;
  exports::OtlpAnswer answer = exports::otlp_answer(body, is_json_);
  const std::uint64_t rejected = std::min<std::uint64_t>(answer.rejected_spans, spans);
  rejected_ += rejected;
  accepted_ += spans - rejected;
  if (warning_.empty()) warning_ = std::move(answer.message);
}

}  // namespace sojourn::cli
