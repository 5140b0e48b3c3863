#include "userspace/capture/rings/mapped_arena.h"

#include <functional>

#include <catch2/catch_test_macros.hpp>
#include <fcntl.h>
#include <linux/memfd.h>
#include <sys/mman.h>
#include <unistd.h>

namespace sojourn::capture {
namespace {

constexpr std::uint64_t kStride = SJ_RING_DATA + 65536 + SJ_RING_PAGE;

sj_arena sound_header() {
  sj_arena header{};
  header.magic = SJ_ARENA_MAGIC;
  header.version = SJ_ARENA_VERSION;
  header.page_bytes = SJ_RING_PAGE;
  header.flags_offset = SJ_RING_PAGE;
  header.flags_bytes = SJ_RING_PAGE;
  header.slots_offset = 2 * SJ_RING_PAGE;
  header.rings_offset = 3 * SJ_RING_PAGE;
  header.ring_slots = 4;
  header.ring_stride = kStride;
  header.total_bytes = 3 * SJ_RING_PAGE + 4 * kStride;
  return header;
}

base::Fd memfd_with(const sj_arena& header, std::uint64_t bytes, int seals) {
  base::Fd file(memfd_create("sojourn-rings", MFD_CLOEXEC | MFD_ALLOW_SEALING));
  REQUIRE(ftruncate(file.get(), static_cast<off_t>(bytes)) == 0);
  REQUIRE(pwrite(file.get(), &header, sizeof(header), 0) == sizeof(header));
  REQUIRE(fcntl(file.get(), F_ADD_SEALS, seals) == 0);
  return file;
}

TEST_CASE("a sound arena is mapped, and its parts are where its header says") {
  const sj_arena header = sound_header();
  auto arena = Arena::open(memfd_with(header, header.total_bytes, F_SEAL_SHRINK), "rings");
  REQUIRE(arena);
  CHECK(arena->layout().flags == SJ_RING_PAGE / 2);
  CHECK(arena->slots().size() == 4);
  CHECK(arena->layout().max_ring_bytes() == 65536);
  const auto* base =
      reinterpret_cast<const std::byte*>(&arena->control()) - offsetof(sj_arena, control);
  CHECK(reinterpret_cast<const std::byte*>(&arena->ring(3)) ==
        base + header.rings_offset + 3 * kStride);
  CHECK(arena->ring_data(0) == base + header.rings_offset + SJ_RING_DATA);
  CHECK(arena->slots_used() == 0);
}

TEST_CASE("a header that does not fit its file is refused") {
  using Change = std::function<void(sj_arena&)>;
  const std::uint64_t bytes = sound_header().total_bytes;
  REQUIRE(check_arena(sound_header(), bytes));
  const std::vector<Change> changes = {
      [](sj_arena& h) { h.magic ^= 1; },
      [](sj_arena& h) { h.version = 77; },
      [](sj_arena& h) { h.page_bytes = 512; },
      [](sj_arena& h) { h.total_bytes += SJ_RING_PAGE; },
      [](sj_arena& h) { h.flags_offset = 0; },
      [](sj_arena& h) { h.flags_offset += 2; },
      [](sj_arena& h) { h.flags_bytes = UINT64_MAX - 1; },
      [](sj_arena& h) { h.flags_bytes = 2 * SJ_RING_PAGE; },
      [](sj_arena& h) { h.flags_bytes = 3; },
      [](sj_arena& h) { h.slots_offset = UINT64_MAX - SJ_RING_PAGE + 1; },
      [](sj_arena& h) { h.slots_offset = h.rings_offset; },
      [](sj_arena& h) { h.rings_offset = h.total_bytes; },
      [](sj_arena& h) { h.ring_slots = 5; },
      [](sj_arena& h) { h.ring_slots = UINT64_MAX; },
      [](sj_arena& h) { h.ring_stride = 0; },
      [](sj_arena& h) { h.ring_stride = SJ_RING_DATA; },
      [](sj_arena& h) { h.ring_stride = UINT64_MAX - SJ_RING_PAGE + 1; },
      [](sj_arena& h) { h.ring_stride += 8; },
  };
  for (std::size_t index = 0; index < changes.size(); ++index) {
    CAPTURE(index);
    sj_arena header = sound_header();
    changes[index](header);
    CHECK_FALSE(check_arena(header, bytes));
  }
}

TEST_CASE("an arena of a later version asks for a tracer of that version") {
  sj_arena header = sound_header();
  header.version = SJ_ARENA_VERSION + 1;
  const auto refused = check_arena(header, header.total_bytes);
  REQUIRE_FALSE(refused);
  CHECK(refused.error().text().contains("use a sojourn of the version"));
}

TEST_CASE("an arena that is cut short while it is mapped reads as zeros, and reports that") {
  sj_arena header = sound_header();
  header.slots_used = 2;
  base::Fd file = memfd_with(header, header.total_bytes, F_SEAL_GROW);
  const base::Fd cutter(dup(file.get()));
  auto arena = Arena::open(std::move(file), "rings");
  REQUIRE(arena);
  arena->ring(1).lost = 77;
  CHECK(arena->slots_used() == 2);
  CHECK_FALSE(arena->was_cut());
  REQUIRE(ftruncate(cutter.get(), static_cast<off_t>(header.rings_offset)) == 0);
  CHECK(arena->slots_used() == 2);
  CHECK_FALSE(arena->was_cut());
  CHECK(arena->ring(1).lost == 0);
  CHECK(arena->was_cut());
  REQUIRE(ftruncate(cutter.get(), 0) == 0);
  CHECK(arena->slots_used() == 0);
  // The memory is still the test's own, so writing to it is harmless.
  arena->control().session = 5;
  CHECK(arena->control().session == 5);
}

TEST_CASE("a moved arena is looked after as before, and one that is closed no more") {
  const sj_arena header = sound_header();
  base::Fd file = memfd_with(header, header.total_bytes, F_SEAL_GROW);
  const base::Fd cutter(dup(file.get()));
  auto opened = Arena::open(std::move(file), "rings");
  REQUIRE(opened);
  {
    const Arena arena = std::move(*opened);
    REQUIRE(ftruncate(cutter.get(), 0) == 0);
    CHECK(arena.ring(0).cursor == 0);
    CHECK(arena.was_cut());
  }
  auto again = Arena::open(memfd_with(header, header.total_bytes, F_SEAL_SHRINK), "rings");
  REQUIRE(again);
  CHECK_FALSE(again->was_cut());
}

TEST_CASE("a file that is shorter than a header is refused") {
  base::Fd file(memfd_create("sojourn-rings", MFD_CLOEXEC | MFD_ALLOW_SEALING));
  REQUIRE(ftruncate(file.get(), 100) == 0);
  REQUIRE(fcntl(file.get(), F_ADD_SEALS, F_SEAL_SHRINK) == 0);
  CHECK_FALSE(Arena::open(std::move(file), "rings"));
}

TEST_CASE("the number of used slots is never more than there are") {
  sj_arena header = sound_header();
  header.slots_used = 1'000'000;
  auto arena = Arena::open(memfd_with(header, header.total_bytes, F_SEAL_SHRINK), "rings");
  REQUIRE(arena);
  CHECK(arena->slots_used() == 4);
}

TEST_CASE("an arena has one collector at a time") {
  const sj_arena header = sound_header();
  base::Fd file = memfd_with(header, header.total_bytes, F_SEAL_SHRINK);
  const std::string again = "/proc/self/fd/" + std::to_string(file.get());
  base::Fd other(open(again.c_str(), O_RDWR | O_CLOEXEC));
  REQUIRE(other);
  auto second = Arena::open(std::move(other), "rings");
  REQUIRE(second);
  {
    auto first = Arena::open(std::move(file), "rings");
    REQUIRE(first);
    REQUIRE(first->lock());
    const auto refused = second->lock();
    REQUIRE_FALSE(refused);
    CHECK(refused.error().text().contains("another collector is attached"));
  }
  CHECK(second->lock());
}

}  // namespace
}  // namespace sojourn::capture
