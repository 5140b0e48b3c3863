#include "tests/live/subject_recording.h"

#include <csignal>
#include <sstream>

#include <catch2/catch_test_macros.hpp>

namespace sojourn::live {

SubjectRecording::SubjectRecording(const std::vector<std::string>& subject,
                                   const std::vector<std::string>& options,
                                   const std::string& began) {
  test::Child worker(subject);
  REQUIRE(worker.wait_for_ready_line() == "ready\n");
  std::vector<std::string> argv = {SJ_SOJOURN, "record", "-p", std::to_string(worker.pid()),
                                   "-o",       path()};
  argv.insert(argv.end(), options.begin(), options.end());
  test::Child tracer(argv);
  if (!tracer.wait_for_output(began)) FAIL("record did not begin: " << tracer.wait().err);
  worker.signal(SIGUSR1);
  const test::Ended done = worker.wait();
  INFO(done.err);
  REQUIRE(done.exit_code == 0);
  const test::Ended traced = tracer.wait();
  INFO(traced.err);
  REQUIRE(traced.exit_code == 0);
  said_ = traced.err;
  std::istringstream words(done.out);
  std::string name;
  for (std::uint64_t number = 0; words >> name >> number;) counted_[name] = number;
}

std::uint64_t SubjectRecording::counted(const std::string& name) const {
  CAPTURE(name);
  REQUIRE(counted_.contains(name));
  return counted_.at(name);
}

}  // namespace sojourn::live
