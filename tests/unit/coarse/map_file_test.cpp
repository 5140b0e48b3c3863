// Maps, and the errors of invalid ones.
#include "userspace/coarse/map/map_file.h"

#include <algorithm>
#include <random>
#include <string>

#include <catch2/catch_test_macros.hpp>

namespace sojourn::coarse {
namespace {

constexpr const char* kExample = R"toml(about = "an example"
programs = ["gnb", "gnb-split"]

[[point]]
function = "rlc_tx_am_entity::handle_sdu"
direction = "D"
src = "pdcp.tx"
dest = "rlc.tx.am"
sn = "*(u32*)(arg0+0x48)"
len = "arg1"
rnti = "(u16)arg2"
global = ["rnti"]
local = ["sn"]

[[point]]
function = "timer_*"
library = "libcore.so*"
)toml";

Map parsed(const std::string& text) {
  auto map = parse_map(text, "my.toml");
  if (!map) FAIL(map.error().text());
  return std::move(*map);
}

TEST_CASE("a map has its points, and the places of their values") {
  const Map map = parsed(kExample);
  CHECK(map.about == "an example");
  CHECK(map.programs == std::vector<std::string>{"gnb", "gnb-split"});
  REQUIRE(map.points.size() == 2);
  const MapPoint& first = map.points[0];
  CHECK(first.function == "rlc_tx_am_entity::handle_sdu");
  CHECK(first.direction == model::Direction::kDownlink);
  CHECK(first.src == "pdcp.tx");
  CHECK(first.dest == "rlc.tx.am");
  CHECK(map.at(first.place) == "my.toml:5:12");
  // Properties, global ids, local ids.
  REQUIRE(first.fields.size() == 3);
  CHECK(first.fields[0].name == "len");
  CHECK(first.fields[0].role == model::Role::kProperty);
  CHECK(first.fields[1].name == "rnti");
  CHECK(first.fields[1].role == model::Role::kGlobal);
  CHECK(first.fields[1].expression.bytes == 2);
  CHECK(first.fields[2].name == "sn");
  CHECK(first.fields[2].role == model::Role::kLocal);
  CHECK(first.fields[2].text == "*(u32*)(arg0+0x48)");
  const MapPoint& second = map.points[1];
  CHECK(second.direction == model::Direction::kScalar);
  CHECK(second.library == "libcore.so*");
  CHECK(second.src.empty());
}

TEST_CASE("a map has its optional points") {
  const Map map = parsed(R"toml(
[[point]]
function = "poll"
optional = true

[[point]]
function = "send"
optional = false

[[span]]
function = "loop"
name = "turn"
direction = "U"
optional = true
)toml");
  REQUIRE(map.points.size() == 4);
  CHECK(map.points[0].is_optional);
  CHECK_FALSE(map.points[1].is_optional);
  CHECK(map.points[2].is_optional);
  CHECK(map.points[3].is_optional);
  const auto wrong = parse_map("[[point]]\nfunction='f'\noptional='yes'\n", "my.toml");
  REQUIRE_FALSE(wrong);
  CHECK(wrong.error().text() ==
        "my.toml:3:10: optional: expected true or false\n  optional='yes'\n           ^");
}

TEST_CASE("fields stand in the file's order") {
  const Map map = parsed("[[point]]\nfunction='f'\nzz='arg0'\naa='arg1'\nmm='arg2'\n");
  REQUIRE(map.points[0].fields.size() == 3);
  CHECK(map.points[0].fields[0].name == "zz");
  CHECK(map.points[0].fields[1].name == "aa");
  CHECK(map.points[0].fields[2].name == "mm");
}

TEST_CASE("a point that no id leads to is linked to those that lead to its place") {
  const Map map = parsed(R"toml(
[[point]]
function = "a"
direction = "U"
src = "air"
dest = "rlc.rx"
bb = "arg0"
local = ["bb"]
begins = ["bb"]
[[point]]
function = "b"
direction = "U"
src = "rlc.rx.am"
dest = "pdcp"
link = "nesting"
inherit = ["slot"]
[[point]]
function = "c"
direction = "U"
src = "pdcp"
dest = "out"
link = "gather"
[[point]]
function = "s"
slot = "arg0"
)toml");
  CHECK(map.needs_calls);
  using model::Link;
  using model::LinkEnd;
  CHECK(map.points[0].links == std::vector<MapLink>{{Link::kCall, "rlc.rx", LinkEnd::kGives}});
  CHECK(map.points[1].links == std::vector<MapLink>{{Link::kCall, "rlc.rx", LinkEnd::kTakes},
                                                    {Link::kTurn, "pdcp", LinkEnd::kGives}});
  CHECK(map.points[2].links == std::vector<MapLink>{{Link::kTurn, "pdcp", LinkEnd::kTakes}});
  REQUIRE(map.points[1].fields.size() == 1);
  CHECK(map.points[1].fields[0].is_inherited);
  REQUIRE(map.points[0].lives.size() == 1);
  CHECK(map.points[0].lives[0].field == "bb");
  CHECK(map.points[0].lives[0].what == model::Life::kBegins);
  CHECK_FALSE(parsed("[[point]]\nfunction='f'\n").needs_calls);
}

void check_refused(const std::string& text, const std::string& place, const std::string& words) {
  const auto map = parse_map(text, "my.toml");
  CAPTURE(text);
  REQUIRE_FALSE(map);
  CAPTURE(map.error().text());
  CHECK(map.error().text().starts_with(place));
  CHECK(map.error().text().contains(words));
}

TEST_CASE("an error in a link is reported with its line and column") {
  const std::string two =
      "[[point]]\nfunction='f'\ndirection='D'\nsrc='a'\ndest='b'\nx='arg0'\nlocal=['x']\n"
      "[[point]]\nfunction='g'\ndirection='D'\nsrc='b'\ndest='c'\n";
  check_refused(two + "link='nest'\n", "my.toml:13:6", "expected \"nesting\"");
  check_refused(two + "link=3\n", "my.toml:13:6", "a text in quotes");
  check_refused(two + "inherit=['y']\n", "my.toml:13:10", "no point of the map has 'y' itself");
  check_refused(two + "inherit='x'\n", "my.toml:13:9", "names in brackets");
  check_refused(two + "x='arg1'\ninherit=['x']\n", "my.toml:14:10", "has 'x' itself");
  check_refused(two + "inherit=['x']\nwhen='x == 1'\n", "my.toml:14:6", "inherited");
  check_refused(two + "begins=['x']\n", "my.toml:13:9", "no field 'x'");
  check_refused(two + "z='arg0'\nbegins=['z']\n", "my.toml:14:9", "not among the point's ids");
  check_refused(two + "z='arg0'\nlocal=['z']\nbegins=['z']\nends=['z']\n", "my.toml:16:7", "twice");
  check_refused(two + "call-x='arg0'\n", "my.toml:13:1", "no name for a field");
  check_refused("[[point]]\nfunction='f'\ndirection='D'\nsrc='a'\ndest='b'\nlink='order'\n",
                "my.toml:6:6", "no other point of the map leads to 'a'");
  check_refused("[[point]]\nfunction='f'\nlink='order'\n", "my.toml:3:6", "direction");
}

TEST_CASE("errors have their line and column") {
  check_refused("", "my.toml:", "[[point]]");
  check_refused("x = ", "my.toml:1:", "");
  check_refused("points = 1", "my.toml:1:1", "did you mean point?");
  check_refused("point = 1", "my.toml:1:9", "[[point]]");
  check_refused("queue = 1", "my.toml:1:9", "[[queue]]");
  check_refused("about = 1\n[[point]]\nfunction='f'", "my.toml:1:9", "text in quotes");
  check_refused("[[point]]\nfunctoin = 'f'", "my.toml:1:1", "is 'functoin' meant");
  check_refused("[[point]]\nfunction = 1", "my.toml:2:12", "text in quotes");
  check_refused("[[point]]\nfunction = ''", "my.toml:2:12", "expected a name");
  check_refused("[[point]]\nfunction='f'\ndirection='X'\nsrc='a'", "my.toml:3:11",
                "expected \"D\"");
  check_refused("[[point]]\nfunction='f'\ndirection='K'\nsrc='a'", "my.toml:3:11",
                "expected \"D\"");
  check_refused("[[point]]\nfunction='f'\ndirection='D'", "my.toml:3:11", "no src");
  check_refused("[[point]]\nfunction='f'\ndirection='D'\nsrc='a'", "my.toml:4:5", "--");
  check_refused("[[point]]\nfunction='f'\nsrc='a'\ndest='b'", "my.toml:4:6", "which direction");
  check_refused("[[point]]\nfunction='f'\nsrc='a b'", "my.toml:3:5", "space");
  check_refused("[[point]]\nfunction='f'\nsn = 7", "my.toml:3:6", "expression in quotes");
  check_refused("[[point]]\nfunction='f'\nsn = 'arg0 + x'", "my.toml:3:14", "expected a number");
  check_refused("[[point]]\nfunction='f'\n'a b' = 'arg0'", "my.toml:3:1", "no name for a field");
  check_refused("[[point]]\nfunction='f'\nunread-fields = 'arg0'", "my.toml:3:1",
                "no name for a field");
  check_refused("[[point]]\nfunction='f'\nsn='arg0'\nlocal='sn'", "my.toml:4:7", "in brackets");
  check_refused("[[point]]\nfunction='f'\nsn='arg0'\nlocal=['sm']", "my.toml:4:8",
                "did you mean sn?");
  check_refused("[[point]]\nfunction='f'\nsn='arg0'\nlocal=['sn']\nglobal=['sn']", "my.toml:4:8",
                "twice");
}

TEST_CASE("the items of a queue may have another id, which other points share") {
  const Map map = parsed(
      "[[queue]]\nname = 'q'\nlocal = ['data']\n"
      "enqueue = 'put(arg0=queue, arg1 = item, *(u64*)(arg1 + 8) = data, arg2 = len)'\n"
      "dequeue = 'get(arg1 = data, arg0=queue, *(u64*)arg0=item)'\n");
  REQUIRE(map.points.size() == 2);
  REQUIRE(map.points[0].fields.size() == 4);
  CHECK(map.points[0].fields[0].name == "len");
  for (std::size_t at = 1; at < 4; ++at)
    CHECK(map.points[0].fields[at].role == model::Role::kLocal);
  // The condition still compares the same fields: item with queue.
  const MapPoint& got = map.points[1];
  REQUIRE(got.conditions.size() == 2);
  CHECK(got.fields[got.conditions[0].field].name == "item");
  REQUIRE(got.conditions[0].other);
  CHECK(got.fields[*got.conditions[0].other].name == "queue");
  CHECK(parse_map("[[queue]]\nname='q'\nlocal=['dta']\nenqueue='p(arg0=queue,arg1=item)'\n"
                  "dequeue='g(arg0=queue,arg1=item)'\n",
                  "m.toml")
            .error()
            .text()
            .contains("neither call has a value 'dta'"));
}

TEST_CASE("a queue is two points, which hand an item from one to the other") {
  const Map map = parsed(
      "[[queue]]\nname = 'msgb'\nlibrary = 'libosmocore.so*'\n"
      "enqueue = 'msgb_enqueue(arg0=queue, arg1 = item, (u16)arg2=len)'\n"
      "dequeue = 'N::get(int)(arg0=queue, *(u64*)(arg0)=item)'\n");
  REQUIRE(map.points.size() == 2);
  const MapPoint& put = map.points[0];
  const MapPoint& got = map.points[1];
  CHECK(put.function == "msgb_enqueue");
  CHECK(put.src == "put.msgb");
  CHECK(put.dest == "msgb");
  CHECK(put.library == "libosmocore.so*");
  REQUIRE(put.fields.size() == 3);
  CHECK(put.fields[0].name == "len");
  CHECK(put.fields[1].name == "queue");
  CHECK(put.fields[1].role == model::Role::kLocal);
  CHECK_FALSE(put.fields[0].is_address);
  CHECK(put.fields[1].is_address);
  CHECK(put.fields[2].is_address);
  CHECK(put.conditions.empty());
  CHECK(got.function == "N::get(int)");
  CHECK(got.src == "msgb");
  CHECK(got.dest == "got.msgb");
  REQUIRE(got.fields.size() == 2);
  CHECK(got.fields[1].name == "item");
  CHECK(got.fields[1].expression.steps.size() == 1);
  // An empty queue gives no item.
  REQUIRE(got.conditions.size() == 2);
  CHECK(got.conditions[0].field == 1);
  CHECK(got.conditions[0].other == 0);
  CHECK_FALSE(got.conditions[0].is_equal);
  CHECK(got.conditions[1].other == std::nullopt);
  CHECK(got.conditions[1].number == 0);

  const auto refused = [](const std::string& lines, const std::string& place,
                          const std::string& words) {
    check_refused("[[queue]]\nname='q'\n" + lines, place, words);
  };
  refused("enqueue='f(arg0=queue,arg1=item)'", "my.toml:1:1", "no dequeue");
  refused("enqueue='f'\ndequeue='g'", "my.toml:3:9", "expected a call");
  refused("enqueue=')'\ndequeue='g'", "my.toml:3:9", "expected a call");
  refused("enqueue='f(arg0)'\ndequeue='g'", "my.toml:3:12", "no value with a name");
  refused("enqueue='f( arg0=queue, *arg1=item)'\ndequeue='g'", "my.toml:3:25",
          "the width is missing");
  refused("enqueue='f(arg0=queue,arg0=queue,arg1=item)'\ndequeue='g'", "my.toml:3:28", "twice");
  refused("enqueue='f(arg0=queue)'\ndequeue='g'", "my.toml:3:9", "named 'item'");
  refused("enqueue='f(x=queue,arg=)'\ndequeue='g'", "my.toml:3:24", "no name for a field");
  refused("enqueue='f(arg0=queue,arg1=item)'\ndequeue='g'\ndequeeu=1", "my.toml:5:1",
          "did you mean dequeue?");
  check_refused("[[queue]]\nname='a--b'\nenqueue='f(arg0=queue,arg1=item)'\ndequeue='g'",
                "my.toml:2:6", "no name of a place");
  refused("direction='I'\nenqueue='f(arg0=queue,arg1=item)'\ndequeue='g()'", "my.toml:3:11",
          "expected \"D\" or \"U\"");
}

TEST_CASE("programs of a map are names of files") {
  check_refused("programs = ['gnb', 'bin/gnb']", "my.toml:1:20", "no name of an executable's file");
  check_refused("programs = ['']", "my.toml:1:13", "no name of an executable's file");
  check_refused("programs = 'gnb'", "my.toml:1:12", "expected names in brackets");
  check_refused("programs = [1]", "my.toml:1:13", "expected a text in quotes");
}

TEST_CASE("conditions compare fields with each other and with numbers") {
  const Map map = parsed(
      "[[point]]\nfunction='f'\na='arg0'\nb='arg1'\nwhen=['a != b', 'b==0x10', "
      "'a!=7']\nlocal=['a']");
  const MapPoint& point = map.points[0];
  REQUIRE(point.conditions.size() == 3);
  // b stands first: it is a property.
  CHECK(point.conditions[0].field == 1);
  CHECK(point.conditions[0].other == 0);
  CHECK(point.conditions[1].is_equal);
  CHECK(point.conditions[1].number == 16);
  CHECK(point.conditions[2].number == 7);
  const std::string begin = "[[point]]\nfunction='f'\na='arg0'\n";
  check_refused(begin + "when='a'", "my.toml:4:6", "expected '=='");
  check_refused(begin + "when='a<1'", "my.toml:4:6", "expected '=='");
  check_refused(begin + "when='a!=c'", "my.toml:4:6", "no field 'c'");
  check_refused(begin + "when='c!=a'", "my.toml:4:6", "no field 'c'");
  check_refused(begin + "when='a!=-1'", "my.toml:4:6", "no field '-1'");
  check_refused(begin + "when=['a!=1','a!=2','a!=3','a!=4','a!=5']",
                "my.toml:4:", "more than 4 conditions");
}

TEST_CASE("a point has no more fields than an event") {
  std::string text = "[[point]]\nfunction='f'\n";
  for (int field = 0; field < 15; ++field) text += fmt::format("f{} = 'arg0'\n", field);
  CHECK(parsed(text).points[0].fields.size() == 15);
  check_refused(text + "a = 'arg0'\n", "my.toml:18:1", "more than 15 fields");
}

TEST_CASE("a file that is no map, or a missing one, is an error") {
  CHECK_FALSE(read_map("/nonexistent/my.toml"));
  CHECK_FALSE(read_map("/"));
  CHECK_FALSE(read_map("/dev/zero"));
  CHECK_FALSE(read_map("/proc/self/exe"));
}

TEST_CASE("no damage to a map is more than an error") {
  std::mt19937 random(2);
  const std::string whole = kExample;
  int refused = 0;
  for (int round = 0; round < 3'000; ++round) {
    std::string text = whole;
    for (auto changes = 1 + random() % 4; changes-- > 0 && !text.empty();) {
      const auto at = random() % text.size();
      switch (random() % 3) {
        case 0:
          text[at] = static_cast<char>(random());
          break;
        case 1:
          text.erase(at, 1 + random() % 20);
          break;
        default:
          text.insert(at, text.substr(random() % text.size(), random() % 20));
      }
    }
    const auto map = parse_map(text, "my.toml");
    if (map) continue;
    ++refused;
    const std::string& error = map.error().text();
    CHECK(error.starts_with("my.toml"));
    // One line and, if the error has a place in the text, two that show it.
    const auto line_ends = std::ranges::count(error, '\n');
    CHECK((line_ends == 0 || line_ends == 2));
    const auto is_harmful = [](char c) { return c != '\n' && c >= 0 && c < ' '; };
    CHECK(std::ranges::none_of(error, is_harmful));
  }
  CHECK(refused > 500);
  CHECK_FALSE(parse_map(std::string(100'000, '['), "my.toml"));
  CHECK_FALSE(parse_map("a=" + std::string(100'000, '['), "my.toml"));
}

}  // namespace
}  // namespace sojourn::coarse
