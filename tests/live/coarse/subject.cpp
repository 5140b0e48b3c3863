#include "tests/live/coarse/subject.h"

#include <sstream>

#include <catch2/catch_test_macros.hpp>

#include "analysis/model/unread.h"

namespace sojourn::live {

std::string coarse_path(const std::string& name) {
  return std::string(SJ_COARSE_SUBJECTS) + "/" + name;
}

CoarseSubject::CoarseSubject(const std::string& name, const std::string& map)
    : map_(directory_.path("my.toml")),
      trace_(directory_.path("run.sjt")),
      target_({coarse_path(name)}) {
  change_map(map);
  REQUIRE(target_.wait_for_output("ready"));
}

void CoarseSubject::change_map(const std::string& map) {
  test::write_contents(map_, map);
}

test::Ended CoarseSubject::end(int signal) {
  target_.signal(signal);
  return target_.wait();
}

std::vector<std::string> CoarseSubject::with_map(const std::string& command,
                                                 const std::vector<std::string>& more) const {
  std::vector<std::string> arguments = {command, "-p", pid(), "--map", map_};
  arguments.insert(arguments.end(), more.begin(), more.end());
  return arguments;
}

test::Ended CoarseSubject::record(const std::string& duration) {
  test::Ended ended = sojourn(with_map(
      "record", {"--budget", "none", "--allow-slow-sites", "--for", duration, "-o", trace_}));
  CAPTURE(ended.err);
  REQUIRE(ended.exit_code == 0);
  return ended;
}

Values values_of(const model::Point& point, const model::EventView& event) {
  Values values;
  const std::uint64_t unread = model::unread_bits(model::unread_field(point), event.values);
  for (std::size_t at = 0; at < point.fields.size(); ++at)
    if (point.fields[at].name != model::kUnreadField && (unread >> at & 1) == 0)
      values[point.fields[at].name] = event.values[at];
  return values;
}

std::vector<nlohmann::json> json_lines(const std::string& text) {
  std::vector<nlohmann::json> all;
  std::istringstream in(text);
  for (std::string line; std::getline(in, line);) all.push_back(nlohmann::json::parse(line));
  return all;
}

}  // namespace sojourn::live
