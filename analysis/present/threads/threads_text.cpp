#include <algorithm>
#include <cmath>
#include <string_view>
#include <utility>
#include <vector>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "analysis/present/threads/thread_labels.h"
#include "analysis/present/threads/threads_content.h"
#include "analysis/present/words/table.h"
#include "analysis/present/words/text_format.h"
#include "analysis/threads/hand_offs.h"

namespace sojourn::present {

namespace {

using threads::ThreadActivity;
using threads::ThreadSurvey;

constexpr std::size_t kMaxNames = 3;
constexpr std::size_t kWidest = 100;  // of a sentence in a file

std::string share(std::uint64_t part_ns, const ThreadActivity& story) {
  return story.total_ns() == 0
             ? "-"
             : percent(static_cast<double>(part_ns) / static_cast<double>(story.total_ns()));
}

void add_wait_times(std::vector<std::string>& cells, const statistics::Distribution& times) {
  for (const double at : {0.5, 0.99})
    cells.push_back(times.count() == 0 ? "-" : duration(static_cast<double>(times.quantile(at))));
  cells.push_back(times.count() == 0 ? "-" : duration(static_cast<double>(times.max())));
}

class ThreadsWriter {
 public:
  explicit ThreadsWriter(const ThreadsContent& content)
      : content_(content), survey_(content.survey) {}

  std::string run() {
    if (!survey_.knows_states())
      return "\nnothing is known of what its threads did: record with --context sched, or --auto\n";
    threads();
    edges();
    hand_offs_table();
    traffic();
    paths();
    reactions();
    doubts();
    return std::move(text_);
  }

 private:
  template <typename Entry>
  std::size_t rows(const std::vector<Entry>& entries) const {
    return std::min(entries.size(), content_.max_rows);
  }

  std::string rate(std::uint64_t count) const {
    const double a_second = static_cast<double>(count) / std::max(content_.duration_s, 1e-9);
    return a_second >= 9.95 || a_second == 0
               ? present::count(static_cast<std::uint64_t>(std::llround(a_second)))
               : fmt::format("{:.2g}", a_second);
  }

  std::string thread(std::uint32_t tid) const { return printable(survey_.thread_name(tid)); }

  void add(const Table& table, std::size_t all) {
    if (table.empty()) return;
    text_ += "\n" + table.text(content_.width);
    if (all > content_.max_rows)
      text_ += fmt::format("  and {} more: --limit {}\n", count(all - content_.max_rows), all);
  }

  void threads() {
    std::vector<std::pair<std::uint32_t, const ThreadActivity*>> all;
    for (const auto& [tid, story] : survey_.threads())
      if (survey_.is_selected(story)) all.emplace_back(tid, &story);
    std::ranges::stable_sort(all, std::ranges::greater(),
                             [](const auto& of) { return of.second->running_ns; });
    Table times({"threads", "tid", "running", "wants a CPU", "blocked", "wakes a second",
                 "woken to running p50", "p99", "max"});
    // The least important first.
    times.spare(8, "max of woken to running");
    times.spare(1);
    times.spare(4);
    times.spare(7, "p99 of woken to running");
    Table roles({"what drives them", ""});
    roles.left(1);
    roles.fold(1);
    for (std::size_t row = 0; row < rows(all); ++row) {
      const auto& [tid, story] = all[row];
      std::vector<std::string> cells = {"  " + thread(tid),
                                        std::to_string(tid),
                                        share(story->running_ns, *story),
                                        share(story->runnable_ns, *story),
                                        share(story->blocked_ns, *story),
                                        rate(story->all_wakes())};
      add_wait_times(cells, story->woken_ns);
      times.row(std::move(cells));
      roles.row({"  " + thread(tid), role_label(survey_, tid)});
    }
    add(times, all.size());
    add(roles, all.size());
  }

  void edges() {
    std::vector<std::pair<const threads::WakeupEdgeKey*, const threads::WakeupEdge*>> all;
    for (const auto& [key, edge] : survey_.edges()) all.emplace_back(&key, &edge);
    std::ranges::stable_sort(all, std::ranges::greater(),
                             [](const auto& of) { return of.second->count; });
    Table table({"who wakes whom", "that waited in", "a second", "waited (mean)",
                 "woken to running p50", "p99", "max"});
    table.left(1);
    table.spare(6, "max of woken to running");
    table.spare(3);
    table.spare(5, "p99 of woken to running");
    table.spare(4);
    table.fold(1);
    for (std::size_t row = 0; row < rows(all); ++row) {
      const auto& [key, edge] = all[row];
      std::vector<std::string> cells = {
          fmt::format("  {} -> {}", waker_label(survey_, *key), thread(key->tid)),
          wait_channel_label(survey_, key->tid, key->channel), rate(edge->count),
          duration(static_cast<double>(edge->waited_ns) / static_cast<double>(edge->count))};
      add_wait_times(cells, edge->delay_ns);
      table.row(std::move(cells));
    }
    add(table, all.size());
    sent_to_each_other();
  }

  void sent_to_each_other() {
    for (const auto& [ends, count] : survey_.loopback())
      text_ += fmt::format("  of the network's, {} a second were of packets that {} sent to {}\n",
                           rate(count), thread(ends.first), thread(ends.second));
  }

  std::string names(const std::set<std::uint32_t>& tids) const {
    std::vector<std::string> words;
    for (const std::uint32_t tid : tids) {
      if (words.size() == kMaxNames) break;
      words.push_back(thread(tid));
    }
    std::string text = fmt::format("{}", fmt::join(words, ", "));
    if (tids.size() > kMaxNames) text += fmt::format(" and {} more", tids.size() - kMaxNames);
    return text;
  }

  void hand_offs_table() {
    const std::vector<threads::HandOff> all = threads::hand_offs(survey_);
    Table table({"blocking queues and locks", "woken by", "waiting", "a second",
                 "woken to running p50", "p99", "max"});
    table.left(1);
    table.left(2);
    table.spare(6, "max of woken to running");
    table.spare(5, "p99 of woken to running");
    table.spare(4);
    table.fold(2);
    for (std::size_t row = 0; row < rows(all); ++row) {
      const threads::HandOff& of = all[row];
      std::vector<std::string> cells = {fmt::format("  {} {:#x}", of.kind, of.futex.second),
                                        names(of.wakers), names(of.waiters), rate(of.count)};
      add_wait_times(cells, of.delay_ns);
      table.row(std::move(cells));
    }
    add(table, all.size());
  }

  void traffic() {
    std::vector<std::pair<const threads::TrafficKey*, const threads::Traffic*>> all;
    for (const auto& [key, traffic] : survey_.traffic()) all.emplace_back(&key, &traffic);
    std::ranges::stable_sort(all, std::ranges::greater(),
                             [](const auto& of) { return of.second->calls; });
    Table table({"sockets and timers", "call", "of", "a second", "in vain", "moved a second"});
    table.left(1);
    table.left(2);
    table.spare(4);
    table.fold(2);
    const threads::SyscallTable& calls = survey_.calls();
    for (std::size_t row = 0; row < rows(all); ++row) {
      const auto& [key, traffic] = all[row];
      const std::string what =
          printable(calls.descriptor(survey_.threads().at(key->tid).pid, key->descriptor));
      table.row(
          {"  " + thread(key->tid), printable(calls.name(key->number)), what, rate(traffic->calls),
           rate(traffic->empty),
           rate(traffic->amount) + (calls.counts_messages(key->number) ? " messages" : " bytes")});
    }
    add(table, all.size());
  }

  void paths() {
    std::vector<std::pair<const threads::PathKey*, const statistics::Distribution*>> all;
    for (const auto& [key, times] : survey_.paths()) all.emplace_back(&key, &times);
    std::ranges::stable_sort(all, std::ranges::greater(),
                             [](const auto& of) { return of.second->count(); });
    Table table({"socket in to socket out (estimate)", "a second", "p50", "p99", "max"});
    table.fold(0);
    for (std::size_t row = 0; row < rows(all); ++row) {
      const auto& [key, times] = all[row];
      std::vector<std::string> cells = {"  " + path_label(survey_, *key), rate(times->count())};
      add_wait_times(cells, *times);
      table.row(std::move(cells));
    }
    add(table, all.size());
    if (!all.empty())
      remark(
          "  from a receiving call's end to the next sending call's begin, of its own thread or of "
          "those that it woke; what a queue held while its taker ran is not followed",
          2);
  }

  void reactions() {
    std::vector<std::pair<const threads::ReactionKey*, const statistics::Distribution*>> all;
    for (const auto& [key, times] : survey_.reactions()) all.emplace_back(&key, &times);
    std::ranges::stable_sort(all, std::ranges::greater(),
                             [](const auto& of) { return of.second->count(); });
    Table table({"woken, to the first hit of a point", "point", "a second", "p50", "p99", "max"});
    table.left(1);
    table.spare(5, "max");
    table.spare(4, "p99");
    table.spare(2);
    table.fold(1);
    for (std::size_t row = 0; row < rows(all); ++row) {
      const auto& [key, times] = all[row];
      std::vector<std::string> cells = {
          "  " + thread(key->tid), printable(survey_.point_name(key->point)), rate(times->count())};
      add_wait_times(cells, *times);
      table.row(std::move(cells));
    }
    add(table, all.size());
  }

  void doubts() {
    if (!survey_.knows_calls())
      doubt(
          "system calls were not recorded (--context syscalls): in what threads wait, queues, "
          "sockets and ways from socket to socket are not known");
    if (survey_.left_out() != 0)
      doubt(fmt::format("{} of too many different edges, descriptors or ways were left out",
                        count(survey_.left_out())));
  }

  void doubt(std::string_view line) {
    text_ += "\n";
    remark(line, 0);
  }

  void remark(std::string_view line, std::size_t indent) {
    text_ += wrapped(line, indent, std::min(content_.width, kWidest)) + "\n";
  }

  const ThreadsContent& content_;
  const ThreadSurvey& survey_;
  std::string text_;
};

}  // namespace

std::string threads_text(const ThreadsContent& content) {
  return ThreadsWriter(content).run();
}

}  // namespace sojourn::present
