#include "analysis/latseq/texts.h"

#include <algorithm>
#include <array>
#include <cstddef>
#include <ctime>
#include <map>
#include <span>
#include <utility>
#include <vector>

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <nlohmann/json.hpp>

namespace sojourn::latseq {

namespace {

constexpr std::uint64_t kSecondNs = 1'000'000'000;

std::string quoted(const std::string& text) {
  return nlohmann::json(text).dump(-1, ' ', true, nlohmann::json::error_handler_t::replace);
}

std::string value_json(const Recording& recording, const Id& id) {
  if (id.list == kOneValue) return fmt::format("\"{}\"", id.value);
  return fmt::format("[\"{}\"]", fmt::join(recording.lists()[id.list], "\", \""));
}

std::string ids_json(const Recording& recording, const Ids& ids) {
  std::vector<std::string> members;
  for (const Id& id : ids)
    members.push_back(quoted(recording.names()[id.name]) + ": " + value_json(recording, id));
  return fmt::format("{{{}}}", fmt::join(members, ", "));
}

std::string names_json(const Recording& recording, const std::vector<NameId>& names) {
  std::vector<std::string> members;
  members.reserve(names.size());
  for (const NameId name : names) members.push_back(quoted(recording.names()[name]));
  return fmt::format("[{}]", fmt::join(members, ", "));
}

std::string ids_text(const Recording& recording, std::span<const Id> ids) {
  std::vector<std::string> texts;
  for (const Id& id : ids) texts.push_back(recording.names()[id.name] + value_text(recording, id));
  return fmt::format("{}", fmt::join(texts, "."));
}

// Rounds to microseconds, half to even.
std::uint64_t rounded_us(std::uint64_t ns) {
  const std::uint64_t us = ns / 1000;
  const std::uint64_t rest = ns % 1000;
  return us + (rest > 500 || (rest == 500 && us % 2 != 0));
}

// "20200423_123226.191801"
std::string date(std::uint64_t ns) {
  const std::uint64_t us = rounded_us(ns);
  const auto second = static_cast<std::time_t>(us / 1'000'000);
  std::tm parts{};
  localtime_r(&second, &parts);
  return fmt::format("{:04}{:02}{:02}_{:02}{:02}{:02}.{:06}", parts.tm_year + 1900,
                     parts.tm_mon + 1, parts.tm_mday, parts.tm_hour, parts.tm_min, parts.tm_sec,
                     us % 1'000'000);
}

// The name of a place in the journey's path: its own, or that of the nearest place around it.
std::string place_on_path(const Recording& recording, const Path& path, NameId place) {
  const std::string& name = recording.names()[place];
  std::string_view part = name;
  while (true) {
    for (const NameId known : path)
      if (recording.names()[known] == part) return std::string(part);
    const auto dot = part.rfind('.');
    if (dot == std::string_view::npos) return name;
    part = part.substr(0, dot);
  }
}

std::string shared_event(const Recording& recording, const Journeys& all,
                         const SharedEvent& event) {
  const Measure& measure = recording.measures()[event.measure];
  const Journey& first = all.journeys[event.journey];
  const Path& path = all.paths[first.direction()][first.path];
  std::string text = fmt::format("{} {} ", date(measure.ts_ns), measure.uplink ? 'U' : 'D');
  for (const Id& id : recording.ids(measure.properties))
    if (recording.names()[id.name] == "len") text += fmt::format("({})", id.value);
  text += fmt::format("\t{}--{}\t", place_on_path(recording, path, measure.src),
                      place_on_path(recording, path, measure.dest));
  for (auto other = event.others.rbegin(); other != event.others.rend(); ++other)
    text += fmt::format("uid{}.", uid(recording, all.journeys[*other]));
  return text + fmt::format("uid{}:{}.{}\n", uid(recording, first),
                            ids_text(recording, first.globals),
                            ids_text(recording, recording.ids(measure.locals)));
}

}  // namespace

std::string seconds(std::uint64_t ns) {
  const std::uint64_t part = ns % kSecondNs;
  if (part % 1000 == 0) return fmt::format("{}.{:06}", ns / kSecondNs, part / 1000);
  return fmt::format("{}.{:09}", ns / kSecondNs, part);
}

std::string journey_json(const Recording& recording, const Journey& journey) {
  std::vector<std::string> way;
  for (const std::uint32_t index : journey.way) {
    const Measure& measure = recording.measures()[index];
    way.push_back(fmt::format("[{}, {}, {}]", index, seconds(measure.ts_ns),
                              quoted(recording.segment(measure))));
  }
  const std::string path = fmt::format("\"path\": {}", journey.path);
  const std::string completed = "\"completed\": true";
  return fmt::format(
      "{{\"dir\": {}, \"glob\": {}, \"ts_in\": {}, \"set\": [{}], \"set_ids\": {}, {}, {}, "
      "\"ts_out\": {}, \"properties\": {}, \"uid\": {}, \"file\": {}}}\n",
      journey.direction(), ids_json(recording, journey.globals), seconds(journey.in_ns),
      fmt::join(way, ", "), ids_json(recording, journey.ids), journey.path_late ? completed : path,
      journey.path_late ? path : completed, seconds(journey.out_ns),
      ids_json(recording, journey.properties), value_json(recording, journey.ids.front()),
      quoted(recording.file()));
}

Result<void> print_journeys(const Recording& recording, const Journeys& all, const Print& print) {
  for (const Journey& journey : all.journeys) SJ_CHECK(print(journey_json(recording, journey)));
  return {};
}

Result<void> print_points(const Recording& recording, const Journeys& all, const Print& print) {
  for (const Node& node : recording.graph().nodes()) {
    std::vector<int> directions(node.uplink.begin(), node.uplink.end());
    std::string durations;
    if (const auto stays = all.stays.find(node.name); stays != all.stays.end()) {
      std::vector<std::string> members;
      for (const auto& [name, ns] : stays->second.by_uid)
        members.push_back(
            fmt::format("{}: {}", quoted(name), ns == Stays::kEntered ? "0" : seconds(ns)));
      durations = fmt::format(" \"duration\": {{{}}},", fmt::join(members, ", "));
    }
    SJ_CHECK(
        print(fmt::format("{{\"next\": {}, \"count\": {}, \"dir\": [{}],{} \"point\": {}}}\n",
                          names_json(recording, node.next), node.count, fmt::join(directions, ", "),
                          durations, quoted(recording.names()[node.name]))));
  }
  return {};
}

Result<void> print_paths(const Recording& recording, const Journeys& all, const Print& print) {
  std::array<std::string, 2> texts;
  for (std::size_t direction = 0; direction < 2; ++direction) {
    std::vector<std::string> paths;
    for (const Path& path : all.paths[direction]) paths.push_back(names_json(recording, path));
    texts[direction] = fmt::format("[{}]", fmt::join(paths, ", "));
  }
  return print(fmt::format("{{\"D\": {}, \"U\": {}}}\n", texts[0], texts[1]));
}

Result<void> print_lseqj(const Recording& recording, const Journeys& all, const Print& print) {
  std::string header = "#funcId ";
  std::vector<NameId> seen;
  for (const auto& paths : all.paths)
    for (const Path& path : paths)
      for (const NameId place : path) {
        if (std::ranges::find(seen, place) != seen.end()) continue;
        seen.push_back(place);
        header += recording.names()[place] + " ";
      }
  SJ_CHECK(print(header + "\n"));
  for (const SharedEvent& event : all.events) SJ_CHECK(print(shared_event(recording, all, event)));
  return {};
}

Result<void> print_matrix(const Recording& recording, const Journeys& all, const Print& print) {
  using Key = std::pair<std::size_t, std::uint32_t>;
  std::vector<std::pair<Key, std::string>> matrices;  // in the order of their first journeys
  std::map<Key, std::size_t> known;
  for (const Journey& journey : all.journeys) {
    const Key key = {journey.direction(), journey.path};
    const auto [place, fresh] = known.try_emplace(key, matrices.size());
    if (fresh) {
      std::string header = "uid;";
      for (const std::uint32_t measure : journey.way)
        header += recording.segment(recording.measures()[measure]) + ";";
      matrices.emplace_back(
          key, fmt::format("{}{}\n{}\n", journey.uplink ? 'U' : 'D', journey.path, header));
    }
    std::string& text = matrices[place->second].second;
    text += uid(recording, journey) + ";";
    std::uint64_t before_ns = journey.in_ns;
    for (const std::uint32_t index : journey.way) {
      const std::uint64_t ts_ns = recording.measures()[index].ts_ns;
      const std::uint64_t us = rounded_us(ts_ns - before_ns);
      text += fmt::format("{}.{:06};", us / 1'000'000, us % 1'000'000);
      before_ns = ts_ns;
    }
    text += "\n";
  }
  for (const auto& [key, text] : matrices) SJ_CHECK(print(text + "\n"));
  return {};
}

}  // namespace sojourn::latseq
