#include "tests/live/recorder.h"

#include <map>

#include <catch2/catch_test_macros.hpp>

namespace sojourn::live {

Recorder::Recorder(std::vector<std::string> options, const std::string& first_word)
    : subject({SJ_SUBJECT_LINKED, "1000000"}) {
  REQUIRE(subject.wait_for_output("ready"));
  std::vector<std::string> words = {
      SJ_SOJOURN, "record", "-p", std::to_string(subject.pid()), "-o", directory.path("run.sjt")};
  words.insert(words.end(), options.begin(), options.end());
  words = [&] {  // its messages come on stderr
    std::string line = "exec";
    for (const std::string& word : words) line += " '" + word + "'";
    return std::vector<std::string>{"sh", "-c", line + " 2>&1"};
  }();
  capture.emplace(words);
  REQUIRE(capture->wait_for_output(first_word));
}

test::Ended Recorder::ctl(const std::string& action) {
  return sojourn({"ctl", "-p", std::to_string(subject.pid()), action});
}

void check_whole(const std::string& path) {
  trace::Reader reader = open_trace(path);
  std::map<model::PointId, std::uint64_t> next;
  std::uint64_t events = 0;
  REQUIRE(reader.merge([&](const model::EventBatch& batch) {
    for (std::size_t row = 0; row < batch.size(); ++row) {
      const model::EventView event = batch[row];
      if (next.contains(event.point)) CHECK(event.values[0] == next[event.point]);
      next[event.point] = event.values[0] + 1;
      ++events;
    }
    return true;
  }));
  CHECK(next.size() == 2);
  CHECK(events > 100);
  CHECK(reader.gaps().empty());
  CHECK(reader.damage().empty());
  CHECK(sojourn({"check", path}).exit_code == 0);
  CHECK(sojourn({"report", path}).exit_code == 0);
}

std::vector<std::uint64_t> numbers(const std::string& path, const std::string& point) {
  trace::Reader reader = open_trace(path);
  std::vector<std::uint64_t> found;
  REQUIRE(reader.merge([&](const model::EventBatch& batch) {
    for (std::size_t row = 0; row < batch.size(); ++row)
      if (reader.schema().points[batch.point()[row]].name() == point)
        found.push_back(batch[row].values[0]);
    return true;
  }));
  return found;
}

}  // namespace sojourn::live
