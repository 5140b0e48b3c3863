#include "userspace/capture/records/under_way.h"

#include <array>
#include <cstring>
#include <vector>

#include <catch2/catch_test_macros.hpp>

namespace sojourn::capture {
namespace {

constexpr std::uint32_t kShort = 0x11;  // 16 bytes
constexpr std::uint32_t kLong = 0x22;   // 24 bytes
constexpr std::uint64_t kCapacity = 4096;

// A ring whose memory still has the records of an earlier lap.
class Ring {
 public:
  Ring() {
    model::Field narrow;
    narrow.bytes = 4;
    model::Field wide;
    wide.bytes = 8;
    sites_.add(kShort, 1, {narrow});
    sites_.add(kLong, 2, {wide});
    for (std::uint64_t at = 0; at < kCapacity; at += 16) put(at, 500, kShort);
  }
  void add(std::uint32_t id, model::PointId point, std::uint8_t bytes) {
    model::Field field;
    field.bytes = bytes;
    sites_.add(id, point, {field});
  }
  void put(std::uint64_t at, std::uint64_t stamp, std::uint32_t id) {
    const sj_ring_record record{.stamp_low = static_cast<std::uint32_t>(stamp),
                                .stamp_high = static_cast<std::uint32_t>(stamp >> 32),
                                .id = id};
    std::memcpy(reinterpret_cast<char*>(data_.data()) + (at & (kCapacity - 1)), &record,
                sizeof record);
  }

  // The points of the unfinished hits behind `from`; 0 if a hit does not say its point.
  std::vector<model::PointId> under_way(std::int64_t from, std::optional<std::int64_t> reserved,
                                        std::uint64_t instruction = 0) const {
    std::vector<model::PointId> points;
    for (const HitUnderWay& hit :
         hits_under_way({.data = reinterpret_cast<const std::byte*>(data_.data()),
                         .capacity = kCapacity,
                         .from = from,
                         .reserved = reserved,
                         .not_before = 1000,
                         .not_after = 2000,
                         .stands = find_hit(sites_, instruction)},
                        sites_))
      points.push_back(hit.site == nullptr ? model::PointId{0} : hit.site->point);
    return points;
  }

 private:
  std::array<std::uint64_t, (kCapacity + SJ_RECORD_MAX_BYTES) / 8> data_{};
  RingSites sites_;
};

using Points = std::vector<model::PointId>;

TEST_CASE("behind the last record nothing is under way, despite records of an earlier lap") {
  const Ring ring;
  CHECK(ring.under_way(64, 64).empty());
  CHECK(ring.under_way(64, std::nullopt).empty());
}

TEST_CASE("a hit under way is known by its place alone, and by its record once that says which") {
  Ring ring;
  CHECK(ring.under_way(64, 88) == Points{0});
  CHECK(ring.under_way(64, std::nullopt).empty());
  ring.put(64, 1500, 0x99);  // the id is not written yet
  CHECK(ring.under_way(64, 88) == Points{0});
  ring.put(64, 1500, kLong);
  CHECK(ring.under_way(64, 88) == Points{2});
  CHECK(ring.under_way(64, std::nullopt) == Points{2});
}

TEST_CASE("hits that handlers made inside of one are under way as well, up to the ring's end") {
  Ring ring;
  const std::int64_t from = kCapacity - 16;
  ring.put(kCapacity - 16, 1500, kShort);
  ring.put(kCapacity, 1500, kLong);
  ring.put(kCapacity + 24, 1501, kShort);
  CHECK(ring.under_way(from, from + 56) == Points{1, 2, 1});
  CHECK(ring.under_way(from, std::nullopt) == Points{1, 2, 1});
  CHECK(ring.under_way(from, from + 80) == Points{1, 2, 1, 0});
}

// The extent of a hit's code: its id is the address of an instruction in the middle.
constexpr std::uint32_t kFarShort = 0x10000;
constexpr std::uint32_t kFarLong = 0x20000;

TEST_CASE("the thread's instruction identifies a hit that has a place and no id yet") {
  Ring ring;
  ring.add(kFarShort, 3, 4);
  ring.add(kFarLong, 4, 8);
  for (const std::uint32_t at : {kFarLong - 27, kFarLong, kFarLong + 4})
    CHECK(ring.under_way(64, 88, at) == Points{4});
  ring.put(64, 1500, kShort);  // its stamp, and the id of an earlier lap
  CHECK(ring.under_way(64, 88, kFarLong) == Points{4});
  CHECK(ring.under_way(64, 88, kFarLong + 8) == Points{1, 0});
  ring.put(64, 1500, kLong);
  CHECK(ring.under_way(64, 104, kFarShort) == Points{2, 3});
}

#if defined(__x86_64__)
TEST_CASE("a hit that has its stamp and no place yet is under way as well") {
  Ring ring;
  ring.add(kFarShort, 3, 4);
  CHECK(ring.under_way(64, 64, kFarShort - 46) == Points{3});
  CHECK(ring.under_way(64, 64, kFarShort - 35) == Points{3});
  CHECK(ring.under_way(64, 64, kFarShort - 47).empty());
  ring.put(64, 1500, kLong);  // made by a handler's, in the middle of another
  CHECK(ring.under_way(64, 88, kFarShort - 40) == Points{2, 3});
}
#endif

TEST_CASE("stamps that fall, or lie in the future, are leftovers") {
  Ring ring;
  ring.put(0, 1500, kShort);
  ring.put(16, 1499, kShort);
  CHECK(ring.under_way(0, std::nullopt) == Points{1});
  ring.put(0, 2001, kShort);
  CHECK(ring.under_way(0, std::nullopt).empty());
}

TEST_CASE("places that cannot be are not followed out of the ring") {
  const Ring ring;
  CHECK(ring.under_way(64, 0).empty());
  CHECK(ring.under_way(64, 67).empty());
  CHECK(ring.under_way(64, INT64_MAX).size() <= 1);
  CHECK(ring.under_way(INT64_MAX - 7, INT64_MIN).empty());
}

}  // namespace
}  // namespace sojourn::capture
