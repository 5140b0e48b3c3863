// Streams of files for importers: all bytes, their progress, and the reason of an early end.
#include "userspace/files/file_stream.h"

#include <chrono>
#include <filesystem>
#include <string>
#include <vector>

#include <catch2/catch_test_macros.hpp>
#include <zlib.h>

#include "tests/support/child.h"

namespace sojourn::files {
namespace {

std::string all_of(imports::ByteStream& stream) {
  std::string text;
  std::vector<char> piece(1000);
  while (const auto got = stream.read(piece)) text.append(piece.data(), got);
  return text;
}

std::string numbers() {
  std::string text;
  for (int number = 0; number < 100'000; ++number) text += std::to_string(number) + "\n";
  return text;
}

void write_gzipped(const std::string& path, const std::string& text) {
  const gzFile file = gzopen(path.c_str(), "wb");
  REQUIRE(file != nullptr);
  CHECK(gzwrite(file, text.data(), static_cast<unsigned>(text.size())) ==
        static_cast<int>(text.size()));
  CHECK(gzclose(file) == Z_OK);
}

TEST_CASE("a plain file is read as it is, by both ways of reading") {
  const test::TemporaryDirectory directory;
  const auto path = directory.path("x");
  const auto text = numbers();
  test::write_contents(path, text);
  for (const auto open : {open_stream, open_gzip_stream}) {
    const auto stream = *open(path);
    CHECK(stream->size_bytes() == text.size());
    CHECK(all_of(*stream) == text);
    CHECK(stream->done_bytes() == text.size());
    CHECK(stream->failure().empty());
  }
}

TEST_CASE("a gzipped file is unpacked, and progress counts its stored bytes") {
  const test::TemporaryDirectory directory;
  const auto path = directory.path("x.gz");
  const auto text = numbers();
  write_gzipped(path, text);
  const auto stream = *open_gzip_stream(path);
  CHECK(stream->size_bytes() == std::filesystem::file_size(path));
  CHECK(all_of(*stream) == text);
  CHECK(stream->done_bytes() == stream->size_bytes());
  CHECK(stream->failure().empty());
}

TEST_CASE("a gzipped file that was cut gives its beginning, and an error") {
  const test::TemporaryDirectory directory;
  const auto path = directory.path("x.gz");
  const auto text = numbers();
  write_gzipped(path, text);
  std::filesystem::resize_file(path, std::filesystem::file_size(path) / 2);
  const auto stream = *open_gzip_stream(path);
  const auto got = all_of(*stream);
  CHECK(got.size() > 1000);
  CHECK(text.starts_with(got));
  CHECK(stream->failure() == "compressed data is cut");
}

TEST_CASE("a file that cannot be opened or read is reported") {
  const test::TemporaryDirectory directory;
  for (const auto open : {open_stream, open_gzip_stream}) {
    CHECK(open("/absent/x").error().text() == "open /absent/x: No such file or directory");
    CHECK(open(directory.path()).error().text() == "open " + directory.path() + ": is a directory");
    const auto unreadable = *open("/proc/self/mem");
    CHECK(all_of(*unreadable).empty());
    CHECK(unreadable->failure() == "Input/output error");
  }
}

TEST_CASE("only a file has a time of its last change") {
  const test::TemporaryDirectory directory;
  const auto path = directory.path("x");
  test::write_contents(path, "x");
  const std::chrono::sys_seconds changed(std::chrono::seconds(1'700'000'000));
  std::filesystem::last_write_time(path, std::chrono::file_clock::from_sys(changed));
  CHECK((*open_stream(path))->changed_ns() == 1'700'000'000'000'000'000);
  const auto device = *open_stream("/dev/zero");
  CHECK_FALSE(device->changed_ns());
  CHECK(device->size_bytes() == 0);
}

}  // namespace
}  // namespace sojourn::files
