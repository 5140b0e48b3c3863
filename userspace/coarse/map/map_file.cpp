#include "userspace/coarse/map/map_file.h"

#include <algorithm>
#include <optional>
#include <utility>

#include <toml++/toml.h>

#include "analysis/filter/keywords.h"
#include "userspace/base/fail_errno.h"
#include "userspace/base/fd.h"
#include "userspace/coarse/map/map_reader.h"
#include "userspace/tracee/file_bytes.h"
#include "userspace/tracee/procfs.h"

namespace sojourn::coarse {

namespace {

constexpr std::size_t kMaxBytes = 1 << 20;  // of a map

const std::vector<std::string> kTopWords = {"about", "programs", "point",
                                            "queue", "release",  "span"};

}  // namespace

std::string_view trimmed(std::string_view text) {
  while (text.starts_with(' ') || text.starts_with('\t')) text.remove_prefix(1);
  while (text.ends_with(' ') || text.ends_with('\t')) text.remove_suffix(1);
  return text;
}

std::optional<model::Direction> direction_from(std::string_view letter) {
  const auto known = letter.size() == 1 ? model::direction_from_letter(letter[0])
                                        : std::optional<model::Direction>();
  return known && model::is_of_target(*known) ? known : std::nullopt;
}

// The direction of queues and spans: downlink by default.
Result<model::Direction> MapReader::unit_direction(const toml::table& table) const {
  const toml::node* const node = table.get("direction");
  if (node == nullptr) return model::Direction::kDownlink;
  SJ_TRY(letter, text_of(*node, "direction"));
  const auto direction = direction_from(letter);
  if (direction != model::Direction::kDownlink && direction != model::Direction::kUplink)
    return fail_at(place_of(node->source()), "direction: expected \"D\" or \"U\"");
  return *direction;
}

std::unexpected<Error> MapReader::fail_unknown(Position place, std::string_view key,
                                               std::string_view name, const MapPoint& point) const {
  std::vector<std::string> known(point.fields.size());
  std::ranges::transform(point.fields, known.begin(), &MapField::name);
  return fail_at(place, "{}: the point has no field '{}'{}", key, tracee::printable(name),
                 filter::did_you_mean(std::string(name), known));
}

Result<Map> MapReader::read() {
  toml::table top;
  try {
    top = toml::parse(source_.text(), map_.path);
  } catch (const toml::parse_error& error) {
    return fail_at(place_of(error.source()), "{}", tracee::printable(error.description()));
  }
  for (const auto& [key, value] : top) {
    if (key.str() == "about") {
      SJ_TRY(about, text_of(value, "about"));
      map_.about = std::move(about);
    } else if (std::ranges::find(kTopWords, key.str()) == kTopWords.end()) {
      return fail_at(place_of(key.source()), "'{}' means nothing here{}",
                     tracee::printable(key.str()),
                     filter::did_you_mean(std::string(key.str()), kTopWords));
    }
  }
  SJ_CHECK(read_programs(top));
  SJ_CHECK(read_releases(top));
  SJ_CHECK(read_points(top));
  SJ_CHECK(read_queues(top));
  SJ_CHECK(read_spans(top));
  if (map_.points.empty())
    return fail("{}: holds no point: each begins with a line [[point]], [[queue]] or [[span]]",
                map_.path);
  SJ_CHECK(join_links());
  SJ_CHECK(check_inherited());
  return std::move(map_);
}

Result<void> MapReader::read_programs(const toml::table& top) {
  return read_names(top, "programs", [&](std::string name, Position place) -> Result<void> {
    if (name.empty() || name.contains('/'))
      return fail_at(place, "programs: '{}' is no name of an executable's file, as in [\"gnb\"]",
                     tracee::printable(name));
    map_.programs.push_back(std::move(name));
    return {};
  });
}

Result<std::string> MapReader::text_of(const toml::node& value, std::string_view key) const {
  if (!value.is_string())
    return fail_at(place_of(value.source()), "{}: expected a text in quotes",
                   tracee::printable(key));
  return value.as_string()->get();
}

Result<void> MapReader::check_place(std::string_view key, const std::string& name,
                                    const toml::node& node) const {
  const auto place = model::parse_point(fmt::format("D {}--x", name), "");
  if (place && place->src == name) return {};
  return fail_at(place_of(node.source()), "{}: '{}' is no name of a place", key,
                 tracee::printable(name));
}

std::string Map::at(Position place) const {
  return language::SourceText({}, path).name_of(place);
}

Result<Map> parse_map(std::string_view text, const std::string& path) {
  return MapReader(text, path).read();
}

Result<Map> read_map(const std::string& path) {
  base::Fd file;
  SJ_TRY(bytes, tracee::open_regular(path, file));
  if (bytes > kMaxBytes) return fail("{}: {} bytes: a map has at most {}", path, bytes, kMaxBytes);
  std::string text(bytes, '\0');
  if (!tracee::read_fully(file.get(), 0, std::as_writable_bytes(std::span(text))))
    return fail_errno("read {}", path);
  return parse_map(text, path);
}

}  // namespace sojourn::coarse
