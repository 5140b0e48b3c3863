// Lines and tables that are too long for a terminal.
#include "analysis/present/words/table.h"

#include <sstream>
#include <string>
#include <string_view>

#include <catch2/catch_test_macros.hpp>

#include "analysis/present/words/text_format.h"

namespace sojourn::present {
namespace {

TEST_CASE("a long line goes on further in, and a number stays with its noun") {
  const std::string_view line = "  46.2 ms in rlc.tx.am behind 56 others of its flow";
  CHECK(wrapped(line, 6, 100) == line);
  CHECK(wrapped(line, 6, line.size()) == line);
  CHECK(wrapped(line, 6, 33) ==
        "  46.2 ms in rlc.tx.am behind\n"
        "      56 others of its flow");
  CHECK(wrapped(line, 6, 20) ==
        "  46.2 ms in\n"
        "      rlc.tx.am\n"
        "      behind\n"
        "      56 others of\n"
        "      its flow");
  CHECK(wrapped("  supercalifragilistic is long", 4, 10) ==
        "  supercalifragilistic\n"
        "    is\n"
        "    long");
  CHECK(wrapped("", 6, 10).empty());
}

TEST_CASE("columns line up and lines have no trailing blanks") {
  Table table({"name", "n", ""});
  CHECK(table.empty());
  table.left(2);
  table.row({"a", "1,000", ""});
  table.row({"long", "2", "#"});
  CHECK(table.text() ==
        "name      n\n"
        "a     1,000\n"
        "long      2  #\n");
}

Table queues() {
  Table table({"queue", "kind", "depth", "p50", "wait", "p50"});
  table.left(1);
  table.spare(1);
  table.spare(3, "p50 of depth");
  table.row({"rlc.tx", "stage", "12.5", "3", "4.21 ms", "1.00 ms"});
  table.row({"buffers", "pool", "1.0", "1"});
  return table;
}

TEST_CASE("a table that has room is whole, and so is one that goes to no terminal") {
  const std::string whole =
      "queue    kind   depth  p50     wait      p50\n"
      "rlc.tx   stage   12.5    3  4.21 ms  1.00 ms\n"
      "buffers  pool     1.0    1\n";
  CHECK(queues().text() == whole);
  CHECK(queues().text(44) == whole);
}

TEST_CASE("on a narrow terminal, columns that can be spared go one by one, and are named") {
  CHECK(queues().text(43) ==
        "queue    depth  p50     wait      p50\n"
        "rlc.tx    12.5    3  4.21 ms  1.00 ms\n"
        "buffers    1.0    1\n"
        "`| less -S` also shows: kind\n");
  CHECK(queues().text(34) ==
        "queue    depth     wait      p50\n"
        "rlc.tx    12.5  4.21 ms  1.00 ms\n"
        "buffers    1.0\n"
        "`| less -S` also shows: kind,\n"
        "  p50 of depth\n");
  std::istringstream lines(queues().text(10));
  std::string first;
  std::getline(lines, first);
  CHECK(first == "queue    depth     wait      p50");
}

TEST_CASE("a column that is folded goes on in further lines, under itself") {
  Table table({"why", "packets", "inside"});
  table.fold(0);
  table.left(2);
  table.row({"  slot or grant for D rlc.tx.am", "12", "a"});
  table.row({"  queue", "7", "b"});
  CHECK(table.text(36) ==
        "why                  packets  inside\n"
        "  slot or grant for       12  a\n"
        "    D rlc.tx.am\n"
        "  queue                    7  b\n");
  CHECK(table.text(60).contains("  slot or grant for D rlc.tx.am       12  a\n"));
  Table last({"at", "inside"});
  last.left(1);
  last.fold(1);
  last.row({"1.5 s", "101, 102, 103, 104, 105"});
  CHECK(last.text(24) ==
        "at     inside\n"
        "1.5 s  101, 102, 103,\n"
        "       104, 105\n");
}

TEST_CASE("a list goes on after its commas, and a name that has no room at its parts") {
  Table table({"thread", "hottest functions"});
  table.left(1);
  table.fold(1, Table::At::kCommas);
  table.row({"mac", "futex_wait [k] 40.7 %, now 7.1 %, sojourn::Mac::plan(int) 3.3 %"});
  CHECK(table.text(32) ==
        "thread  hottest functions\n"
        "mac     futex_wait [k] 40.7 %,\n"
        "        now 7.1 %,\n"
        "        sojourn::Mac::plan(\n"
        "        int) 3.3 %\n");
  Table names({"function", "n"});
  names.fold(0);
  names.row({"  an_endless_name_without_parts", "1"});
  CHECK(names.text(20) ==
        "function           n\n"
        "  an_endless_name  1\n"
        "    _without_part\n"
        "    s\n");
}

TEST_CASE("a column that can be folded and spared is spared only if there is no room to fold it") {
  Table table({"thread", "hottest functions"});
  table.left(1);
  table.fold(1);
  table.spare(1);
  table.row({"mac", "futex_wait futex_wake"});
  CHECK(table.text(24) ==
        "thread  hottest\n"
        "        functions\n"
        "mac     futex_wait\n"
        "        futex_wake\n");
  CHECK(table.text(23) ==
        "thread\n"
        "mac\n"
        "`| less -S` also shows:\n"
        "  hottest functions\n");
}

}  // namespace
}  // namespace sojourn::present
