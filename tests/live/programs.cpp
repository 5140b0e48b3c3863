#include "tests/live/programs.h"

#include <csignal>
#include <filesystem>
#include <fstream>

#include <catch2/catch_test_macros.hpp>
#include <unistd.h>

#include "userspace/files/trace_file.h"
#include "userspace/tracee/maps.h"
#include "userspace/tracee/points.h"
#include "userspace/tracee/process.h"

namespace sojourn::live {

void need_root() {
  if (geteuid() != 0) SKIP("attaching probes needs root; run as root to have this tested");
}

Station::Station(std::vector<std::string> options) {
  // A program of its own: a tracer of another test that runs beside may put its breakpoints into
  // all processes of a program.
  const std::string program = directory_.path("sj-basestation");
  std::filesystem::copy_file(SJ_BASESTATION, program);
  std::vector<std::string> argv = {program, "--truth", directory_.path("truth"), "--ready-fd", "3"};
  argv.insert(argv.end(), options.begin(), options.end());
  child_ = std::make_unique<test::Child>(std::move(argv));
  REQUIRE(child_->wait_for_ready_line() == "ready\n");
}

truth::Truth Station::finish() {
  child_->signal(SIGTERM);
  const test::Ended ended = child_->wait();
  INFO(ended.err);
  REQUIRE(ended.exit_code == 0);
  auto truth = truth::read_truth(directory_.path("truth"));
  if (!truth) FAIL(truth.error().text());
  return std::move(*truth);
}

test::Ended sojourn(std::vector<std::string> arguments) {
  arguments.insert(arguments.begin(), SJ_SOJOURN);
  return test::run(std::move(arguments));
}

std::string sojourn_done(std::vector<std::string> arguments) {
  test::Ended ended = sojourn(std::move(arguments));
  INFO(ended.err);
  REQUIRE(ended.exit_code == 0);
  return std::move(ended.out);
}

trace::Reader open_trace(const std::string& path) {
  auto reader = files::open_trace(path);
  if (!reader) FAIL(reader.error().text());
  return std::move(*reader);
}

tracee::Points points_of(pid_t pid) {
  const auto process = tracee::Process::open(pid);
  if (!process) FAIL(process.error().text());
  auto points = tracee::find_points(*process);
  if (!points) FAIL(points.error().text());
  return std::move(*points);
}

std::vector<unsigned char> site_bytes(pid_t pid, const tracee::Points& points) {
  auto mappings = tracee::parse_maps(test::contents("/proc/" + std::to_string(pid) + "/maps"));
  if (!mappings) FAIL(mappings.error().text());
  std::ifstream memory("/proc/" + std::to_string(pid) + "/mem", std::ios::binary);
  std::vector<unsigned char> bytes;
  for (const tracee::Site& site : points.sites) {
    for (const tracee::Mapping& mapping : *mappings) {
      const bool holds = mapping.executable && mapping.inode == points.files[site.file].inode &&
                         site.offset >= mapping.offset &&
                         site.offset < mapping.offset + (mapping.end - mapping.start);
      if (!holds) continue;
      memory.seekg(static_cast<std::streamoff>(mapping.start + site.offset - mapping.offset));
      bytes.push_back(static_cast<unsigned char>(memory.get()));
    }
  }
  REQUIRE(bytes.size() == points.sites.size());
  return bytes;
}

}  // namespace sojourn::live
