#include "userspace/redaction/name_redaction.h"

#include <string>

#include <catch2/catch_test_macros.hpp>
#include <fmt/format.h>

namespace sojourn::redaction {
namespace {

constexpr ValueCipher::Key kKey = {7};

model::Schema schema() {
  auto point = model::parse_point("D rlc2.tx--mac.mux", "len:rnti");
  REQUIRE(point);
  return {.points = {*point}};
}

std::string context_name(model::NameKind kind, const std::string& name, std::uint64_t pid = 0) {
  ValueCipher cipher(kKey);
  return NameRedaction(cipher, schema(), {42})
      .context_name({.kind = kind, .id = 24, .name = name, .pid = pid, .state = {}});
}

TEST_CASE("numbers in a name are replaced like ids of that value") {
  ValueCipher cipher(kKey);
  NameRedaction names(cipher, schema(), {});
  const std::string seventeen = std::to_string(cipher(17));
  CHECK(names.words("ue 17: rlc") == "ue " + seventeen + ": rlc");
  CHECK(names.words("ue17rx017") == "ue" + seventeen + "rx" + seventeen);
  CHECK(names.words("rnti 0x4601") == fmt::format("rnti 0x{:x}", cipher(0x4601)));
  CHECK(names.words("pdcp-worker") == "pdcp-worker");
  CHECK(!names.words("host 7f3a-00ff").contains("7f3a"));
  CHECK(!names.words("n 99999999999999999999999").contains("999"));
}

TEST_CASE("a queue stays that of its place") {
  ValueCipher cipher(kKey);
  NameRedaction names(cipher, schema(), {});
  CHECK(names.queue("rlc2.tx") == "rlc2.tx");
  CHECK(names.queue("rlc2.tx ue 17") == "rlc2.tx ue " + std::to_string(cipher(17)));
  CHECK(names.queue("pool 17") == "pool " + std::to_string(cipher(17)));
}

TEST_CASE("a directory is replaced, a file's name stays") {
  ValueCipher cipher(kKey);
  const NameRedaction names(cipher, schema(), {});
  const std::string file = names.file("/home/alice/build/gnb");
  CHECK(file.ends_with("/gnb"));
  CHECK(!file.contains("alice"));
  CHECK(names.file("/home/alice/build/gnb") == file);
  CHECK(names.file("/home/bob/build/gnb") != file);
  CHECK(names.file("[vdso]") == "[vdso]");
}

TEST_CASE("threads of the target and the kernel keep their words, others do not") {
  using enum model::NameKind;
  CHECK(context_name(kThread, "rlc.dl", 42) == "rlc.dl");
  CHECK(context_name(kThread, "kworker/3:1-mlx5e", 9) == "kworker/3:1");
  CHECK(context_name(kThread, "irq/24-eth0", 9) == "irq/24");
  const std::string other = context_name(kThread, "alice-backup", 9);
  CHECK(other.starts_with("other "));
  CHECK(!other.contains("alice"));
  CHECK(context_name(kIrq, "enp3s0f0") == "irq 24");
  CHECK(context_name(kSoftirq, "NET_RX") == "NET_RX");
  CHECK(context_name(kSyscall, "recvfrom") == "recvfrom");
}

TEST_CASE("of sockets and descriptors only the kind is kept") {
  using enum model::NameKind;
  CHECK(context_name(kDescriptor, "anon_inode:[timerfd]") == "anon_inode:[timerfd]");
  CHECK(context_name(kSocket, "udp 10.0.0.1:2152").starts_with("udp "));
  CHECK(!context_name(kSocket, "udp 10.0.0.1:2152").contains("10.0"));
  CHECK(context_name(kDescriptor, "/home/alice/log").starts_with("file "));
  CHECK(!context_name(kDescriptor, "/home/alice/log").contains("alice"));
}

}  // namespace
}  // namespace sojourn::redaction
