#include "analysis/page/page_summary.h"

#include <algorithm>
#include <cstddef>
#include <optional>
#include <set>
#include <span>
#include <string_view>
#include <utility>

#include <nlohmann/json.hpp>

#include "analysis/page/trace_windows.h"

namespace sojourn::page {

using nlohmann::json;
using nlohmann::ordered_json;

namespace {

constexpr std::size_t kEvents = 1000;  // as many as the page shows at first
constexpr std::uint64_t kLeastRoomNs = 1'000'000;

// Keeps the bytes of the answer's column, and passes on how far the work is.
class Sink : public AnswerSink {
 public:
  explicit Sink(std::function<void(double)> progress) : progress_(std::move(progress)) {}

  void column(std::string_view /*name*/, std::span<const double> /*values*/) override {}
  void column(std::string_view /*name*/, std::span<const std::uint8_t> values) override {
    bytes.assign(values.begin(), values.end());
  }
  void progress(std::uint64_t done, std::uint64_t of) override {
    if (of > 0) progress_(std::min(1.0, static_cast<double>(done) / static_cast<double>(of)));
  }

  std::vector<std::uint8_t> bytes;

 private:
  std::function<void(double)> progress_;
};

// Asks the questions one after the other. Each counts as a share of the whole work.
class Inquiry {
 public:
  Inquiry(PageEngine& engine, std::size_t traces, const SummaryProgress& progress)
      : engine_(engine), all_(static_cast<double>(traces) * kWeights), progress_(progress) {}

  void turn_to(std::size_t trace) { trace_ = trace; }

  // `weight`: passes over the trace that the answer takes.
  Result<ordered_json> ask(json question, double weight) {
    Sink sink([&](double part) {
      if (weight > 0) progress_((done_ + weight * part) / all_);
    });
    question["trace"] = trace_;
    const auto text = engine_.answer(question.dump(), sink);
    done_ += weight;
    bytes_ = std::move(sink.bytes);
    if (!text) return std::unexpected(text.error());
    return ordered_json::parse(*text, nullptr, false);
  }
  std::vector<std::uint8_t>& bytes() { return bytes_; }

 private:
  static constexpr double kWeights = 13;  // the sum of the weights of the questions about one trace

  PageEngine& engine_;
  std::size_t trace_ = 0;
  double all_;
  const SummaryProgress& progress_;
  double done_ = 0;
  std::vector<std::uint8_t> bytes_;  // the column of the last answer
};

// The packets that the first screen shows, the slowest first.
std::vector<std::uint64_t> shown_packets(const ordered_json& screen) {
  std::vector<std::pair<std::uint64_t, std::uint64_t>> packets;  // latency, id
  std::set<std::uint64_t> known;
  const auto add = [&](std::uint64_t id, std::uint64_t latency_ns) {
    if (known.insert(id).second) packets.emplace_back(latency_ns, id);
  };
  for (const auto& worst : screen["explanation"]["worst"])
    add(worst["id"].get<std::uint64_t>(), worst["latency_ns"].get<std::uint64_t>());
  const auto& slowest = screen["slowest"];
  for (std::size_t at = 0; at < slowest["id"].size(); ++at)
    add(slowest["id"][at].get<std::uint64_t>(), slowest["latency"][at].get<std::uint64_t>());
  std::ranges::stable_sort(packets, [](const auto& a, const auto& b) { return a.first > b.first; });
  std::vector<std::uint64_t> ids;
  ids.reserve(packets.size());
  for (const auto& [latency, id] : packets) ids.push_back(id);
  return ids;
}

// The window begins before the packet came and ends after its last event. It has room for the
// packets in the same blocks, which seldom take longer than one of the slowest.
std::optional<Window> window_of(const ordered_json& packet) {
  std::uint64_t first = UINT64_MAX;
  std::uint64_t last = 0;
  for (const auto& event : packet["journey"]["events"]) {
    first = std::min(first, event["t_ns"].get<std::uint64_t>());
    last = std::max(last, event["t_ns"].get<std::uint64_t>());
  }
  if (last < first) return std::nullopt;
  const std::uint64_t room = std::max(last - first, kLeastRoomNs);
  return Window{.from_ns = first - std::min(first, room), .to_ns = last + room};
}

// The page has times since the origin; a window before the origin begins there.
ordered_json since(const Window& window, std::uint64_t origin_ns) {
  const auto offset = [&](std::uint64_t ns) { return ns - std::min(ns, origin_ns); };
  return {{"from_ns", offset(window.from_ns)}, {"to_ns", offset(window.to_ns)}};
}

// Returns the events around the slowest packets. If they take more than `most_bytes`, half as many
// packets have a window, until they fit.
Result<std::vector<std::uint8_t>> windows_of(Inquiry& inquiry, ordered_json& packets,
                                             std::uint64_t origin_ns, std::uint64_t most_bytes) {
  for (auto& packet : packets) packet["window"] = nullptr;
  for (std::size_t some = packets.size(); some > 0; some /= 2) {
    auto windows = json::array();
    for (std::size_t at = 0; at < some; ++at)
      if (const auto window = window_of(packets[at]))
        windows.push_back({{"from_ns", window->from_ns}, {"to_ns", window->to_ns}});
    SJ_CHECK(inquiry.ask({{"call", "windows"}, {"windows", windows}}, 0));
    if (inquiry.bytes().size() > most_bytes) continue;
    for (std::size_t at = 0; at < some; ++at)
      if (const auto window = window_of(packets[at]))
        packets[at]["window"] = since(*window, origin_ns);
    return std::move(inquiry.bytes());
  }
  return std::vector<std::uint8_t>();
}

Result<ordered_json> answers_of(Inquiry& inquiry, std::uint64_t most_window_bytes,
                                std::vector<std::uint8_t>& windows) {
  ordered_json answers;
  SJ_TRY(about, inquiry.ask({{"call", "about"}}, 0));
  SJ_TRY(screen, inquiry.ask({{"call", "summarised screen"}}, 1.5));
  const std::vector<std::uint64_t> shown = shown_packets(screen);
  SJ_TRY(told, inquiry.ask({{"call", "packets"}, {"ids", shown}}, 2.5));
  auto& packets = told["packets"];
  SJ_TRY(ids, inquiry.ask({{"call", "ids"}, {"ids", shown}}, 1));
  for (std::size_t at = 0; at < packets.size(); ++at)
    for (const char* const kind : {"ue", "bearer", "number"})
      packets[at]["known"][kind] = std::move(ids[kind][at]);
  SJ_TRY(around,
         windows_of(inquiry, packets, about["origin_ns"].get<std::uint64_t>(), most_window_bytes));
  windows = std::move(around);
  answers["about"] = std::move(about);
  answers["screen"] = std::move(screen);
  answers["packets"] = std::move(packets);
  for (const char* const by : {"direction", "ue", "bearer", "path", "hop", "layer"}) {
    SJ_TRY(groups, inquiry.ask({{"call", "groups"}, {"by", by}}, 1));
    answers["groups"][by] = std::move(groups);
  }
  SJ_TRY(queues, inquiry.ask({{"call", "queues"}}, 1.5));
  answers["queues"] = std::move(queues);
  SJ_TRY(events, inquiry.ask({{"call", "events"}, {"limit", kEvents}}, 0));
  answers["events"] = std::move(events);
  SJ_TRY(profile, inquiry.ask({{"call", "profile"}}, 0.5));
  answers["profile"] = std::move(profile);
  for (const char* const call : {"machine", "names"}) {
    SJ_TRY(answer, inquiry.ask({{"call", call}}, 0));
    answers[call] = std::move(answer);
  }
  return answers;
}

}  // namespace

Result<PageSummary> summary_of(PageEngine& engine, std::size_t traces,
                               std::uint64_t most_window_bytes, const SummaryProgress& progress) {
  Inquiry inquiry(engine, traces, progress);
  PageSummary summary;
  ordered_json document = {{"traces", ordered_json::array()}};
  for (std::size_t trace = 0; trace < traces; ++trace) {
    inquiry.turn_to(trace);
    SJ_TRY(answers, answers_of(inquiry, most_window_bytes, summary.windows.emplace_back()));
    document["traces"].push_back(std::move(answers));
  }
  if (traces > 1) {
    SJ_TRY(compared, inquiry.ask({{"call", "compare"}}, 0));
    document["compare"] = std::move(compared);
  }
  summary.text = document.dump(-1, ' ', false, ordered_json::error_handler_t::replace);
  return summary;
}

}  // namespace sojourn::page
