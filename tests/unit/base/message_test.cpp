#include "userspace/base/message.h"

#include <cstring>

#include <catch2/catch_test_macros.hpp>
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

namespace sojourn::base {
namespace {

struct Pair {
  int number = 0;
  bool yes = false;
  bool operator==(const Pair&) const = default;
};

TEST_CASE("values come out in the order in which they were put in") {
  Packer packer;
  packer.put(42).put_text("rlc.tx").put_all(std::vector<Pair>{{1, true}, {2, false}}).put_text("");
  const auto bytes = packer.take();
  Unpacker unpacker(bytes);
  CHECK(unpacker.take<int>() == 42);
  CHECK(unpacker.take_text() == "rlc.tx");
  CHECK(unpacker.take_all<Pair>() == std::vector<Pair>{{1, true}, {2, false}});
  CHECK(unpacker.take_text().empty());
  CHECK(unpacker.is_sound());
}

TEST_CASE("a message that is cut short gives zeros, and says so") {
  const auto bytes = Packer().put(std::uint32_t{7}).take();
  Unpacker unpacker(bytes);
  CHECK(unpacker.take<std::uint64_t>() == 0);
  CHECK_FALSE(unpacker.is_sound());
  CHECK(unpacker.take_text().empty());
}

TEST_CASE("a forged length is an error, and no memory") {
  for (const std::size_t length : {SIZE_MAX, SIZE_MAX / 8, std::size_t{1} << 40U}) {
    const auto bytes = Packer().put(length).put(1).take();
    Unpacker texts(bytes);
    CHECK(texts.take_text().empty());
    CHECK_FALSE(texts.is_sound());
    Unpacker numbers(bytes);
    CHECK(numbers.take_all<std::uint64_t>().empty());
    CHECK_FALSE(numbers.is_sound());
  }
}

TEST_CASE("descriptors are handed over with a message, however long it is") {
  auto ends = make_connection();
  REQUIRE(ends);
  Message message{.kind = 3, .bytes = std::vector<std::byte>(1000, std::byte{5}), .fds = {}};
  message.fds.emplace_back(open("/dev/null", O_RDONLY));
  message.fds.emplace_back(open("/dev/zero", O_RDONLY));
  REQUIRE(send_message(ends->first.get(), message));
  const auto received = receive_message(ends->second.get());
  REQUIRE(received);
  CHECK(received->kind == 3);
  CHECK(received->bytes == message.bytes);
  REQUIRE(received->fds.size() == 2);
  char byte = 1;
  CHECK(read(received->fds[0].get(), &byte, 1) == 0);
  CHECK(read(received->fds[1].get(), &byte, 1) == 1);
  CHECK(byte == 0);
}

TEST_CASE("a peer that closes in the middle of a message is gone") {
  auto ends = make_connection();
  REQUIRE(ends);
  const std::uint32_t header[] = {1, 100};
  REQUIRE(write(ends->first.get(), header, sizeof(header)) == sizeof(header));
  ends->first = Fd();
  CHECK_FALSE(receive_message(ends->second.get()));
}

TEST_CASE("a message with an impossible length is refused before it is read") {
  auto ends = make_connection();
  REQUIRE(ends);
  const std::uint32_t header[] = {1, UINT32_MAX};
  REQUIRE(write(ends->first.get(), header, sizeof(header)) == sizeof(header));
  CHECK_FALSE(receive_message(ends->second.get()));
}

}  // namespace
}  // namespace sojourn::base
