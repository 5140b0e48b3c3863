#include "analysis/present/live/live_screen.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <utility>

#include <fmt/format.h>

#include "analysis/base/printable.h"
#include "analysis/present/causes/causes_content.h"
#include "analysis/present/live/live_words.h"
#include "analysis/present/words/text_format.h"

namespace sojourn::present {

namespace {

using live::Snapshot;

constexpr std::array<std::pair<std::string_view, std::string_view>, 14> kKeys = {
    {{"q", "quit"},
     {"p, space", "pause: the screen stands still, and the capture goes on"},
     {"s, S", "sort places by path, rate, p99, max, how many are in them"},
     {"t", "figures of the last seconds, or since the start"},
     {"/", "count only packets for which an expression is true: dir == D && latency > 5ms"},
     {"c", "choose columns"},
     {"up, down", "go through the places"},
     {"e", "switch points on, by a pattern of their names"},
     {"x", "switch points off: they cost nothing then"},
     {"d", "write what a flight recorder of this process holds"},
     {"Ctrl-L", "draw the screen again"},
     {"Ctrl-Z", "stop the view; fg brings it back, and the capture goes on meanwhile"},
     {"Esc", "leave a question, or this list"},
     {"?, h", "this list"}}};

const live::QueueRow* find_queue(const Snapshot& snapshot, const live::TimesRow& place) {
  for (const auto& queue : snapshot.queues)
    if (queue.direction == place.direction && queue.name == place.name) return &queue;
  return nullptr;
}

std::optional<LiveColumn> column_of(LiveSort sort) {
  switch (sort) {
    case LiveSort::kRate:
      return LiveColumn::kRate;
    case LiveSort::kP99:
      return LiveColumn::kP99;
    case LiveSort::kMax:
      return LiveColumn::kMax;
    case LiveSort::kDepth:
      return LiveColumn::kDepth;
    case LiveSort::kPath:
      break;
  }
  return std::nullopt;
}

class ScreenWriter {
 public:
  ScreenWriter(const Snapshot& snapshot, const LiveScreen& screen)
      : snapshot_(snapshot),
        screen_(screen),
        layout_(layout_of(snapshot, screen.columns, screen.width)) {}

  std::vector<ScreenLine> run() {
    title();
    facts();
    if (screen_.helps) {
      help();
    } else if (screen_.chooses_columns) {
      column_list();
    } else {
      figures();
    }
    const std::size_t body = screen_.height - std::min<std::size_t>(screen_.height, 1);
    lines_.resize(body);
    if (screen_.height > 0) footer();
    return std::move(lines_);
  }

 private:
  std::size_t room() const {
    const std::size_t used = lines_.size() + 1;
    return screen_.height - std::min(screen_.height, used);
  }
  void add(ScreenLine line) { lines_.push_back(std::move(line)); }
  void blank() { lines_.emplace_back(); }

  // Fills the whole width: the target on the left, the rest at the right edge.
  void title() {
    const std::string left =
        fmt::format(" sojourn  {}", snapshot_.target.empty() ? snapshot_.path : snapshot_.target);
    std::string right =
        fmt::format("{}  {} events/s ", elapsed_words(snapshot_),
                    count(static_cast<std::uint64_t>(std::llround(snapshot_.events_per_s))));
    if (snapshot_.has_ended) right = fmt::format("{}  ended ", elapsed_words(snapshot_));
    if (!screen_.paused.empty()) right = screen_.paused + " ";
    const std::size_t room = screen_.width - std::min(screen_.width, columns_of(right));
    add({{padded(left, room, screen_.glyphs) + cut(right, screen_.width, screen_.glyphs),
          Look::kTitle}});
  }

  void facts() {
    ScreenLine line;
    std::size_t width = 0;
    const auto part = [&](std::string_view words, Look look) {
      const std::size_t room = screen_.width - std::min(screen_.width, width + 1);
      if (room < 8) return;
      const std::string text = cut(words, room, screen_.glyphs);
      line.push_back({(line.empty() ? " " : "   ") + text, look});
      width += columns_of(line.back().text);
    };
    part(loss_words(snapshot_), snapshot_.lost == 0 ? Look::kPlain : Look::kBad);
    if (snapshot_.sample) part(sample_words(snapshot_), Look::kWarning);
    if (!snapshot_.filter.empty()) part("only " + printable(snapshot_.filter), Look::kWarning);
    for (const std::string& doubt : doubts(snapshot_)) part(doubt, Look::kWarning);
    for (const std::string& cost : cost_words(snapshot_)) part(cost, Look::kDim);
    add(std::move(line));
  }

  void figures() {
    if (snapshot_.directions.empty()) {
      blank();
      add({{cut(" nothing has come yet: is there traffic?", screen_.width, screen_.glyphs),
            Look::kDim}});
      return;
    }
    blank();
    // Short enough to stand above names.
    const std::string span = screen_.since_start ? fmt::format("all {:.0f} s", snapshot_.since_s)
                                                 : span_words(snapshot_, false);
    add(heading_line(layout_, "latency, " + span, std::nullopt, screen_.glyphs));
    blank_depths();
    for (const auto& row : snapshot_.directions)
      add(row_line(layout_, {.times = &row.times}, screen_.since_start, screen_.glyphs));
    blank();
    places();
    activities();
    worst();
  }

  // Directions have no depth, so their heading has no words above those columns.
  void blank_depths() {
    auto& heads = lines_.back();
    for (std::size_t at = 0; at < layout_.columns.size(); ++at) {
      const LiveColumn column = layout_.columns[at].column;
      if (column == LiveColumn::kDepth || column == LiveColumn::kDepthMax)
        heads[at + 1].text = std::string(layout_.columns[at].width + 1, ' ');
    }
  }

  // The slowest packets have some lines at least.
  std::size_t place_rows(std::size_t places) const {
    constexpr std::size_t kForWorst = 5;
    const std::size_t lines = room() - std::min<std::size_t>(room(), 1);
    const std::size_t kept = snapshot_.worst.empty() || lines < 9 ? 0 : kForWorst;
    return std::min(places, lines - std::min(lines, kept));
  }

  void places() {
    const auto order = sorted_places(snapshot_, screen_.sort, screen_.since_start);
    if (order.empty() || room() < 2) return;
    const std::size_t shown = place_rows(order.size());
    const std::size_t selected = std::min(screen_.selected, order.size() - 1);
    // The selected row is always among those that are shown.
    const std::size_t first = shown == 0 || selected < shown ? 0 : selected - shown + 1;
    add(heading_line(layout_,
                     shown < order.size()
                         ? fmt::format("where, {}-{} of {}", first + 1, first + shown, order.size())
                         : "where they spend it",
                     column_of(screen_.sort), screen_.glyphs));
    std::uint64_t deepest = 0;
    for (const auto& queue : snapshot_.queues)
      deepest = std::max(deepest, screen_.since_start ? queue.max : queue.window_max);
    for (std::size_t at = first; at < first + shown; ++at)
      add(row_line(layout_,
                   {.times = order[at],
                    .queue = find_queue(snapshot_, *order[at]),
                    .deepest = deepest,
                    .is_selected = screen_.selected != 0 && at == selected},
                   screen_.since_start, screen_.glyphs));
  }

  // Shows activities in rows like those of places, and each marker's count in a line.
  void activities() {
    if (!snapshot_.activities.empty() && room() > 2) {
      add(heading_line(layout_, "activity", std::nullopt, screen_.glyphs));
      for (const auto& row : snapshot_.activities)
        if (room() > 1)
          add(row_line(layout_, {.times = &row}, screen_.since_start, screen_.glyphs));
    }
    for (const auto& row : snapshot_.markers)
      if (room() > 1)
        add({{cut(fmt::format("marker {}: {} {}", printable(row.name),
                              count((screen_.since_start ? row.all : row.window).count),
                              span_words(snapshot_, screen_.since_start)),
                  screen_.width, screen_.glyphs)}});
  }

  void worst() {
    if (snapshot_.worst.empty() || room() < 3) return;
    blank();
    add({{"the slowest, " + span_words(snapshot_, false), Look::kHeader}});
    // Reasons have a second line each where all of them find room.
    const std::size_t lines_each = room() >= 2 * snapshot_.worst.size() ? 2 : 1;
    for (const causes::Verdict& verdict : snapshot_.worst) {
      if (room() == 0) return;
      packet(verdict, lines_each);
    }
  }

  void packet(const causes::Verdict& verdict, std::size_t lines_each) {
    constexpr std::size_t kIndent = 12;
    const bool is_up = verdict.direction == model::Direction::kUplink;
    const std::string why = sentence(verdict, *snapshot_.names, *snapshot_.topology);
    const std::string who = packet_words(snapshot_, verdict);
    const std::size_t width = screen_.width - std::min(screen_.width, kIndent);
    std::string text = fmt::format("{}: {}", who, why);
    std::string rest;
    if (lines_each > 1 && columns_of(text) > width) {
      const std::string broken = wrapped(text, 0, width);
      const std::size_t end = broken.find('\n');
      if (end != std::string::npos) {
        rest = text.substr(std::min(text.size(), end + 1));
        text = broken.substr(0, end);
      }
    }
    add({{std::string(1, letter(verdict.direction)), is_up ? Look::kUp : Look::kDown},
         {right_aligned(duration(static_cast<double>(verdict.latency_ns())), 9), Look::kStrong},
         {"  " + cut(text, width, screen_.glyphs)}});
    if (!rest.empty() && room() > 0)
      add({{std::string(kIndent, ' ') + cut(rest, width, screen_.glyphs)}});
  }

  void help() {
    blank();
    for (const auto& [keys, words] : kKeys) {
      if (room() == 0) return;
      const bool is_off = screen_.is_readonly && (keys == "e" || keys == "x" || keys == "d");
      add({{" " + padded(keys, 10, screen_.glyphs), is_off ? Look::kDim : Look::kKey},
           {cut(is_off ? fmt::format("{} (not with --readonly)", words) : std::string(words),
                screen_.width - std::min<std::size_t>(screen_.width, 11), screen_.glyphs),
            is_off ? Look::kDim : Look::kPlain}});
    }
  }

  void column_list() {
    blank();
    add({{cut(" columns: a digit shows one or leaves it out", screen_.width, screen_.glyphs),
          Look::kHeader}});
    for (std::size_t at = 0; at < kLiveColumns; ++at) {
      if (room() == 0) return;
      const auto column = static_cast<LiveColumn>(at);
      const bool is_shown = std::ranges::find(layout_.columns, column,
                                              &LiveLayout::Shown::column) != layout_.columns.end();
      const std::string_view state = !screen_.columns[at] ? "-" : is_shown ? "shown" : "no room";
      add({{fmt::format(" {}  ", at), Look::kKey},
           {padded(state, 9, screen_.glyphs), screen_.columns[at] ? Look::kStrong : Look::kDim},
           {padded(heading(column), 15, screen_.glyphs)},
           {cut(meaning(column), screen_.width - std::min<std::size_t>(screen_.width, 28),
                screen_.glyphs),
            Look::kDim}});
    }
  }

  void footer() {
    if (screen_.question) {
      add({{*screen_.question, Look::kKey}, {screen_.answer}});
      return;
    }
    if (!screen_.message.empty()) {
      add({{cut(screen_.message, screen_.width, screen_.glyphs),
            screen_.is_error ? Look::kBad : Look::kStrong}});
      return;
    }
    constexpr std::array<std::pair<std::string_view, std::string_view>, 8> kShown = {
        {{"q", "quit"},
         {"p", "pause"},
         {"s", "sort"},
         {"t", "window"},
         {"/", "filter"},
         {"c", "columns"},
         {"d", "dump"},
         {"?", "help"}}};
    ScreenLine line;
    std::size_t width = 0;
    for (const auto& [key, words] : kShown) {
      const std::size_t more = key.size() + words.size() + 3;
      if (width + more > screen_.width) break;
      width += more;
      line.push_back({" " + std::string(key), Look::kKey});
      line.push_back({" " + std::string(words) + " ", Look::kDim});
    }
    add(std::move(line));
  }

  const Snapshot& snapshot_;
  const LiveScreen& screen_;
  LiveLayout layout_;
  std::vector<ScreenLine> lines_;
};

}  // namespace

std::vector<const live::TimesRow*> sorted_places(const Snapshot& snapshot, LiveSort sort,
                                                 bool since_start) {
  std::vector<const live::TimesRow*> order;
  order.reserve(snapshot.places.size());
  for (const auto& place : snapshot.places) order.push_back(&place);
  const auto key = [&](const live::TimesRow* row) -> double {
    const live::Quantiles& times = since_start ? row->all : row->window;
    const live::QueueRow* const queue = find_queue(snapshot, *row);
    switch (sort) {
      case LiveSort::kRate:
        return times.per_s;
      case LiveSort::kP99:
        return static_cast<double>(times.p99_ns);
      case LiveSort::kMax:
        return static_cast<double>(times.max_ns);
      case LiveSort::kDepth:
        return queue == nullptr ? 0 : static_cast<double>(queue->now);
      case LiveSort::kPath:
        break;
    }
    return 0;
  };
  std::ranges::stable_sort(order, std::ranges::greater(), key);
  return order;
}

std::vector<ScreenLine> screen_lines(const Snapshot& snapshot, const LiveScreen& screen) {
  return ScreenWriter(snapshot, screen).run();
}

}  // namespace sojourn::present
