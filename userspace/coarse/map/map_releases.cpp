// The tables [[release]].
#include <algorithm>
#include <utility>

#include "analysis/filter/keywords.h"
#include "userspace/coarse/map/map_reader.h"
#include "userspace/tracee/procfs.h"

namespace sojourn::coarse {

namespace {

const std::vector<std::string> kReleaseWords = {"name", "has", "lacks"};
constexpr std::size_t kMaxReleases = 64;
constexpr std::size_t kMaxMarks = 16;  // of each

}  // namespace

Result<void> MapReader::read_releases(const toml::table& top) {
  const toml::node* const releases = top.get("release");
  if (releases == nullptr) return {};
  if (!releases->is_array_of_tables())
    return fail_at(place_of(releases->source()), "release: expected a line [[release]] for each");
  const toml::array& all = *releases->as_array();
  if (all.size() > kMaxReleases)
    return fail_at(place_of(releases->source()), "more than {} releases", kMaxReleases);
  for (const toml::node& one : all) SJ_CHECK(read_release(*one.as_table()));
  return {};
}

Result<void> MapReader::read_release(const toml::table& table) {
  for (const auto& [key, value] : table)
    if (std::ranges::find(kReleaseWords, key.str()) == kReleaseWords.end())
      return fail_at(place_of(key.source()), "'{}' means nothing here{}",
                     tracee::printable(key.str()),
                     filter::did_you_mean(std::string(key.str()), kReleaseWords));
  const toml::node* const name = table.get("name");
  if (name == nullptr) return fail_at(place_of(table.source()), "the release has no name");
  MapRelease release;
  SJ_TRY(text, text_of(*name, "name"));
  release.name = std::move(text);
  const auto into = [&](std::string_view key, std::vector<std::string>& names) {
    return read_names(table, key, [&](std::string function, TextPosition place) -> Result<void> {
      if (function.empty() || names.size() == kMaxMarks)
        return fail_at(place, "{}: expected up to {} names of functions", key, kMaxMarks);
      names.push_back(std::move(function));
      return {};
    });
  };
  SJ_CHECK(into("has", release.has));
  SJ_CHECK(into("lacks", release.lacks));
  if (release.has.empty())
    return fail_at(place_of(table.source()),
                   "the release '{}' is known by nothing: has = [\"CLASS::FUNCTION\"]",
                   tracee::printable(release.name));
  map_.releases.push_back(std::move(release));
  return {};
}

}  // namespace sojourn::coarse
