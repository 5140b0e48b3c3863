#include "userspace/coarse/suggest/map_suggestion.h"

#include <algorithm>
#include <functional>
#include <map>
#include <utility>

#include <fmt/format.h>

#include "userspace/coarse/functions/function_names.h"
#include "userspace/coarse/suggest/path_pieces.h"
#include "userspace/tracee/point_selection.h"
#include "userspace/tracee/procfs.h"

namespace sojourn::coarse {

namespace {

constexpr std::size_t kMaxSuggestedName = 200;
constexpr std::size_t kMaxSpans = 5;
constexpr double kMaxWatched = 40'000;  // hits a second, of all together: some 4 % of a processor

constexpr std::string_view kNoPath =
    R"(# None of these functions was seen to pass anything on to another: there is no path.
)";
constexpr std::string_view kGuess =
    R"(# Where the same address was seen in one after the other, it is taken for the unit. What one is
# given within a call of another is taken for a copy of that one's unit. Both are guesses.
)";
constexpr std::string_view kPieces =
    R"(# There are {} paths, or pieces of fewer: what joins them is not known, as a unit that is copied
# or waits in between may have another address behind. Nor is it known which are uplink: all have
# direction "D". A latency of all together means nothing, `report --by path` tells them apart:
)";

// In TOML's quotes. Names were made printable before.
std::string toml_string(std::string_view text) {
  std::string words = "\"";
  for (const char c : text) {
    if (c == '"' || c == '\\') words += '\\';
    words += c;
  }
  return words + '"';
}

std::string base_name(const std::string& file) {
  return file.substr(file.rfind('/') + 1);
}

// Rates; small ones with decimals.
std::string rate_text(double a_second) {
  return a_second < 10 ? fmt::format("{:.2g}", a_second) : fmt::format("{:.0f}", a_second);
}

// By file, then by name, as layers lie together so.
std::vector<std::size_t> in_order(const FoundPoints& found) {
  std::vector<std::size_t> order(found.mapped.size());
  for (std::size_t at = 0; at < order.size(); ++at) order[at] = at;
  const auto key = [&](std::size_t at) {
    const MappedSite& site = found.mapped[at];
    return std::pair(found.points.sites[site.site].file, std::string_view(site.function));
  };
  std::ranges::sort(order, {}, key);
  return order;
}

// The text of a map, part by part.
class Writer {
 public:
  Writer(const FoundPoints& found, std::span<const CallRate> calls)
      : found_(found), calls_(calls), places_(calls.size()) {
    for (const MappedSite& site : found.mapped)
      places_.at(point_of(site)) = place_name(site.function, kMaxSuggestedName);
    places_ = shortest_names(places_);
    for (std::size_t id = 0; id < calls.size(); ++id)
      if (calls[id].way && calls[id].way->is_nested)
        copies_.try_emplace(id, fmt::format("item{}", copies_.size() + 2));
  }

  const CallRate& call_of(const MappedSite& site) const { return calls_[point_of(site)]; }

  // `in_front` begins each line; `table` is the kind of table in the map.
  std::string entry(const MappedSite& site, std::string_view table, std::string_view comment,
                    std::string_view in_front) const {
    const tracee::Site& where = found_.points.sites[site.site];
    return fmt::format(
        "\n{5}{0}[[{1}]]\n{0}function = {2}\n{0}library = {3}\n{4}", in_front, table,
        toml_string(site.function),
        toml_string(tracee::printable(base_name(found_.points.files[where.file].name))),
        table == "point" && in_front.empty() ? way(site) : "",
        comment.empty() ? "" : fmt::format("# {}\n", comment));
  }

  std::string comment(const MappedSite& site) const {
    const CallRate& call = call_of(site);
    std::string text = fmt::format("{} calls a second", rate_text(call.a_second));
    if (call.way && call.way->is_nested)
      text += fmt::format("; {:.0f} of 100 times called within {}, with something else: {}",
                          call.way->share * 100, places_[*call.way->from],
                          kWatched.at(call.way->watched));
    else if (call.way && call.way->from)
      text += fmt::format("; {} was given to {} before, {:.0f} of 100 times",
                          kWatched.at(call.way->watched), places_[*call.way->from],
                          call.way->share * 100);
    else if (call.way)
      text += fmt::format("; {} is passed on", kWatched.at(call.way->watched));
    return text;
  }

  // Comments that list the paths, and say what is not known of them.
  std::string paths() const {
    const auto pieces = pieces_of(ways_of(calls_));
    if (pieces.empty()) return std::string(kNoPath);
    std::string text(kGuess);
    if (pieces.size() > 1) text += fmt::format(kPieces, pieces.size());
    for (const PathPiece& piece : pieces)
      text += fmt::format("#   {} -> {}, {} functions\n", places_[piece.first], places_[piece.last],
                          piece.functions);
    return text;
  }

 private:
  std::size_t point_of(const MappedSite& site) const {
    return found_.points.sites[site.site].point;
  }

  // Describes the function's step on a unit's path.
  std::string way(const MappedSite& site) const {
    const auto& way = call_of(site).way;
    if (!way) return {};
    const std::string& own = places_[point_of(site)];
    const std::string item = item_of(point_of(site));
    std::string words =
        fmt::format("direction = \"D\"\nsrc = {0}\ndest = {1}\n{2} = {3}\nlocal = [\"{2}\"]\n",
                    toml_string(way->from ? places_[*way->from] : "to." + own), toml_string(own),
                    item, toml_string(kWatched.at(way->watched)));
    if (way->is_nested) words += "link = \"nesting\"\n";
    if (!way->from || way->is_nested) words += fmt::format("begins = [\"{}\"]\n", item);
    // The head of an empty list is null, or the list itself.
    if (way->watched == kWatchedHead)
      words += fmt::format("queue = \"arg0\"\nwhen = [\"{0} != 0\", \"{0} != queue\"]\n", item);
    return words;
  }

  // The field with the address of the unit. Of a copy it has another name, as an id of one name has
  // to have the same value in both.
  std::string item_of(std::size_t point) const {
    while (!copies_.contains(point) && calls_[point].way && calls_[point].way->from)
      point = *calls_[point].way->from;
    const auto copy = copies_.find(point);
    return copy == copies_.end() ? "item" : copy->second;
  }

  const FoundPoints& found_;
  std::span<const CallRate> calls_;
  std::vector<std::string> places_;  // by point
  std::map<std::size_t, std::string>
      copies_;  // the names of copies, by the point that has them first
};

}  // namespace

Result<FoundPoints> find_data_path(const tracee::Process& process) {
  SJ_TRY(found, find_guesses(process, kMaxSuggestions, kWatched));
  // One point for each function: an earlier one may have taken a place that another has, too.
  std::vector<bool> wanted(found.points.schema.points.size());
  std::vector<MappedSite> mapped;
  std::vector<tracee::Site> sites;
  for (MappedSite& site : found.mapped) {
    const tracee::Site& where = found.points.sites[site.site];
    if (wanted[where.point] || mapped.size() == kMaxSuggestions) continue;
    wanted[where.point] = true;
    site.site = sites.size();
    sites.push_back(where);
    mapped.push_back(std::move(site));
  }
  found.points.sites = std::move(sites);
  found.mapped = std::move(mapped);
  found.points = tracee::select(std::move(found.points), wanted);
  return found;
}

std::vector<std::optional<DataFlowStep>> ways_of(std::span<const CallRate> calls) {
  std::vector<std::optional<DataFlowStep>> ways;
  ways.reserve(calls.size());
  for (const CallRate& call : calls) ways.push_back(call.way);
  return ways;
}

std::vector<bool> worth_watching(std::span<const CallRate> calls) {
  std::vector<std::size_t> order;
  for (std::size_t at = 0; at < calls.size(); ++at)
    if (calls[at].a_second > 0 && !calls[at].is_too_hot) order.push_back(at);
  std::ranges::sort(order, {}, [&](std::size_t at) { return calls[at].a_second; });
  std::vector<bool> wanted(calls.size());
  double all = 0;
  for (const std::size_t at : order) {
    all += calls[at].a_second;
    wanted[at] = all <= kMaxWatched;
  }
  return wanted;
}

std::string suggested_map(const FoundPoints& found, std::span<const CallRate> calls,
                          const std::string& about) {
  const Writer writer(found, calls);
  std::string hit;
  std::string hot;
  std::string idle;
  double idle_s = 0;
  std::vector<const MappedSite*> busy;
  for (const std::size_t at : in_order(found)) {
    const MappedSite& site = found.mapped[at];
    const CallRate& call = writer.call_of(site);
    if (call.is_too_hot) {
      hot += writer.entry(site, "point", writer.comment(site) + ": too many", "# ");
    } else if (call.a_second > 0) {
      hit += writer.entry(site, "point", writer.comment(site), "");
      busy.push_back(&site);
    } else {
      idle += fmt::format("# {}\n", site.function);
      idle_s = std::max(idle_s, call.watched_s);
    }
  }
  std::string text = fmt::format(
      "about = {}\n\n# Functions that look like the data path, by their names. Throw out what is "
      "not, and say of the\n# others from where a unit comes and where it goes (direction, src, "
      "dest), and what it is known by\n# (sn = \"*(u32*)(arg1 + 8)\", local = [\"sn\"]): "
      "docs/coarse-tracing.md.\n",
      toml_string(about));
  text += writer.paths();
  text += hit;
  if (!hot.empty()) text += "\n# Called so often that tracing would be felt:\n" + hot;
  if (!busy.empty()) {
    std::ranges::stable_sort(busy, std::ranges::greater(), [&](const MappedSite* site) {
      return writer.call_of(*site).a_second;
    });
    busy.resize(std::min(busy.size(), kMaxSpans));
    text +=
        "\n# How long calls of the busiest take, instead of their points above. Most functions end "
        "with an\n# instruction that costs: record with --allow-slow-sites, or --allow-uretprobe "
        "in "
        "programs of C.\n";
    for (const MappedSite* site : busy) text += writer.entry(*site, "span", "", "# ");
  }
  if (!idle.empty()) text += fmt::format("\n# Not called in {:.1f} s:\n{}", idle_s, idle);
  return text;
}

}  // namespace sojourn::coarse
