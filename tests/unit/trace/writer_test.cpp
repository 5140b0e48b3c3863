// The files that the writer leaves on disk, also if it cannot go on.
#include <csignal>
#include <cstdint>
#include <filesystem>

#include <catch2/catch_test_macros.hpp>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include "tests/unit/trace/support.h"
#include "userspace/files/trace_file.h"

namespace sojourn::trace {
namespace {

using namespace test;

// While it lives, files end at this size as if the disk were full.
class FullDisk {
 public:
  explicit FullDisk(rlim_t bytes) {
    std::signal(SIGXFSZ, SIG_IGN);
    REQUIRE(getrlimit(RLIMIT_FSIZE, &before_) == 0);
    const rlimit limited{.rlim_cur = bytes, .rlim_max = before_.rlim_max};
    REQUIRE(setrlimit(RLIMIT_FSIZE, &limited) == 0);
  }
  FullDisk(const FullDisk&) = delete;
  FullDisk& operator=(const FullDisk&) = delete;
  ~FullDisk() {
    setrlimit(RLIMIT_FSIZE, &before_);
    std::signal(SIGXFSZ, SIG_DFL);
  }

 private:
  rlimit before_{};
};

TEST_CASE(
    "an unfinished trace is called partial, and neither an older one nor a left one is lost") {
  const TemporaryDirectory folder;
  const std::string path = folder.path("run.sjt");
  const model::Schema schema = some_schema();
  const Events old_events = some_events(1, 0, 5, schema);
  const Events new_events = some_events(2, 0, 50, schema);
  write_trace(path, schema, std::span(&old_events, 1));
  CHECK_FALSE(exists(path + ".partial"));
  const Bytes old_bytes = read_bytes(path);
  {
    auto writer = files::create_trace(path);
    REQUIRE(error_of(writer) == "");
    REQUIRE(error_of(writer->write(schema)) == "");
    REQUIRE(error_of(writer->write(to_batch(new_events))) == "");
    CHECK(exists(path + ".partial"));
    // It dies here: a capture that never finished.
  }
  CHECK(read_bytes(path) == old_bytes);
  auto partial = files::open_trace(path + ".partial");
  REQUIRE(error_of(partial) == "");
  CHECK_FALSE(partial->had_index());
  CHECK(partial->damage().empty());
  CHECK(merged(*partial) == sorted(new_events));

  write_trace(path, schema, std::span(&old_events, 1));
  CHECK_FALSE(exists(path + ".partial"));
  auto kept = files::open_trace(path + ".partial~");
  REQUIRE(error_of(kept) == "");
  CHECK(merged(*kept) == sorted(new_events));
  auto finished = files::open_trace(path);
  REQUIRE(error_of(finished) == "");
  CHECK(merged(*finished) == sorted(old_events));
}

TEST_CASE("while one capture writes a trace another cannot take its name, and later it can") {
  const TemporaryDirectory folder;
  const std::string path = folder.path("run.sjt");
  {
    const auto writer = files::create_trace(path);
    REQUIRE(error_of(writer) == "");
    CHECK(error_of(files::create_trace(path)) ==
          fmt::format("write {}.partial: another capture is writing it", path));
  }
  CHECK(error_of(files::create_trace(path)) == "");
}

TEST_CASE("an abandoned trace leaves nothing but the older one of its name") {
  const TemporaryDirectory folder;
  const std::string path = folder.path("run.sjt");
  write_trace(path, some_schema(), {});
  const Bytes older = read_bytes(path);
  {
    auto writer = files::create_trace(path);
    REQUIRE(error_of(writer) == "");
    writer->abandon();
  }
  CHECK(read_bytes(path) == older);
  CHECK_FALSE(exists(path + ".partial"));
}

TEST_CASE("every block is on disk before the next is begun") {
  const TemporaryDirectory folder;
  const std::string path = folder.path("run.sjt");
  const model::Schema schema = some_schema();
  auto writer = files::create_trace(path);
  REQUIRE(error_of(writer) == "");
  REQUIRE(error_of(writer->write(schema)) == "");
  for (std::uint32_t stream = 0; stream < 4; ++stream) {
    REQUIRE(error_of(writer->write(to_batch(some_events(stream, stream, 30, schema)))) == "");
    const auto reader = files::open_trace(path + ".partial");
    REQUIRE(error_of(reader) == "");
    CHECK(reader->events() == 30 * (stream + 1));
    CHECK(reader->damage().empty());
    CHECK(writer->bytes() == std::filesystem::file_size(path + ".partial"));
  }
  CHECK(writer->events() == 120);
}

TEST_CASE("a disk that fills up costs the block that did not fit and names the file") {
  const model::Schema schema = some_schema();
  const Events events = some_events(1, 0, 200, schema);
  for (const rlim_t limit : {20'000, 20'001, 23'456, 30'000}) {
    const TemporaryDirectory folder;
    const std::string path = folder.path("run.sjt");
    auto writer = files::create_trace(path);
    REQUIRE(error_of(writer) == "");
    REQUIRE(error_of(writer->write(schema)) == "");
    Events written;
    std::string error;
    {
      const FullDisk disk(limit);
      while (error.empty()) {
        error = error_of(writer->write(to_batch(events)));
        if (error.empty()) written.insert(written.end(), events.begin(), events.end());
      }
    }
    CHECK(error ==
          fmt::format("write {}.partial, which keeps what came before: File too large", path));
    CHECK_FALSE(exists(path));
    REQUIRE_FALSE(written.empty());
    auto reader = files::open_trace(path + ".partial");
    REQUIRE(error_of(reader) == "");
    CHECK(reader->damage().empty());
    CHECK(merged(*reader) == sorted(written));
  }
}

TEST_CASE("a disk too full for the header or the index is an error that names the file") {
  const TemporaryDirectory folder;
  const std::string path = folder.path("run.sjt");
  {
    const FullDisk disk(8);
    CHECK(error_of(files::create_trace(path)) ==
          fmt::format("write {}.partial: File too large", path));
  }
  const model::Schema schema = some_schema();
  auto writer = files::create_trace(path);
  REQUIRE(error_of(writer) == "");
  REQUIRE(error_of(writer->write(schema)) == "");
  {
    const FullDisk disk(writer->bytes());
    CHECK(error_of(writer->finish()) ==
          fmt::format("write {}.partial, which keeps what came before: File too large", path));
  }
  CHECK_FALSE(exists(path));
  CHECK(files::open_trace(path + ".partial"));
}

TEST_CASE("a symbolic link or a FIFO at the output path is refused and left alone") {
  const TemporaryDirectory folder;
  write_bytes(folder.path("precious"), bytes_of("precious"));
  std::filesystem::create_symlink(folder.path("precious"), folder.path("link.sjt"));
  REQUIRE(mkfifo(folder.path("fifo.sjt").c_str(), 0600) == 0);
  std::filesystem::create_directory(folder.path("folder.sjt"));
  std::filesystem::create_symlink(folder.path("nowhere"), folder.path("dangling.sjt"));
  for (const char* name : {"fifo.sjt", "folder.sjt"}) {
    CHECK(error_of(files::create_trace(folder.path(name))) ==
          fmt::format("write {}: exists and is not a regular file", folder.path(name)));
    CHECK(exists(folder.path(name)));
  }
  for (const char* name : {"link.sjt", "dangling.sjt"}) {
    CHECK(error_of(files::create_trace(folder.path(name)))
              .starts_with(fmt::format("write {}: is a symbolic link", folder.path(name))));
    CHECK(exists(folder.path(name)));
  }
  CHECK_FALSE(exists(folder.path("nowhere")));
  CHECK(read_bytes(folder.path("precious")) == bytes_of("precious"));
}

TEST_CASE("a trap at the partial file's name is replaced, never followed") {
  const TemporaryDirectory folder;
  write_bytes(folder.path("precious"), bytes_of("precious"));
  std::filesystem::create_symlink(folder.path("precious"), folder.path("run.sjt.partial"));
  const model::Schema schema = some_schema();
  write_trace(folder.path("run.sjt"), schema, {});
  CHECK(read_bytes(folder.path("precious")) == bytes_of("precious"));
  CHECK(files::open_trace(folder.path("run.sjt")));

  REQUIRE(mkfifo(folder.path("run.sjt.partial").c_str(), 0600) == 0);
  write_trace(folder.path("run.sjt"), schema, {});
  CHECK(std::filesystem::is_regular_file(folder.path("run.sjt")));
}

TEST_CASE("a trace is for its owner's eyes") {
  const TemporaryDirectory folder;
  write_trace(folder.path("run.sjt"), some_schema(), {});
  const auto permissions = std::filesystem::status(folder.path("run.sjt")).permissions();
  CHECK((permissions & std::filesystem::perms::others_all) == std::filesystem::perms::none);
}

TEST_CASE("a folder that is not there is an error that names the file") {
  const TemporaryDirectory folder;
  CHECK(error_of(files::create_trace(folder.path("none/run.sjt"))) ==
        fmt::format("write {}.partial: No such file or directory", folder.path("none/run.sjt")));
}

TEST_CASE("events that do not fit their schema are refused before anything is written") {
  const TemporaryDirectory folder;
  auto writer = files::create_trace(folder.path("run.sjt"));
  REQUIRE(error_of(writer) == "");
  const model::Schema schema = some_schema();
  CHECK(error_of(writer->write(to_batch(some_events(1, 0, 3, schema)))) != "");
  REQUIRE(error_of(writer->write(schema)) == "");
  const std::uint64_t before = writer->bytes();

  Events events = some_events(1, 0, 10, schema);
  events[5].values.push_back(1);
  CHECK(error_of(writer->write(to_batch(events))) ==
        fmt::format("write an event of {} with {} values: it has {} fields",
                    schema.points[events[5].point].name(), events[5].values.size(),
                    events[5].values.size() - 1));
  events = some_events(1, 0, 10, schema);
  events[5].point = 4;
  CHECK(error_of(writer->write(to_batch(events))) ==
        "write an event of point 4: not in the schema");
  events = some_events(1, 0, 10, schema);
  events[5].stream = 1;
  CHECK(error_of(writer->write(to_batch(events))) ==
        "write events of streams 0 and 1 in one block");
  CHECK(writer->bytes() == before);
}

TEST_CASE("a schema may grow but not change") {
  const TemporaryDirectory folder;
  auto writer = files::create_trace(folder.path("run.sjt"));
  REQUIRE(error_of(writer) == "");
  model::Schema schema = some_schema();
  const model::Point last = schema.points.back();
  schema.points.pop_back();
  REQUIRE(error_of(writer->write(schema)) == "");
  schema.points.push_back(last);
  CHECK(error_of(writer->write(schema)) == "");
  schema.points[0].dest = "elsewhere";
  CHECK(error_of(writer->write(schema)) == "write a schema that changes points already written");
  schema = some_schema();
  schema.points.pop_back();
  CHECK(error_of(writer->write(schema)) == "write a schema that changes points already written");
}

}  // namespace
}  // namespace sojourn::trace
