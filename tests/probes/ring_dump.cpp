// Reads the rings that a program left in $SJ_RING_DIR, with the program's own notes and nothing
// else. Usage: sj-ring-dump PROGRAM ARENA [--count] Prints one line a record,
// "point|value,value...", ring by ring, oldest first; with --count one line a point, "point
// recorded=N", and last "lost=N rings=N". Fails with one line when a record's id is no site's, when
// stamps do not rise or when the arena is not as it should be.
#include <cstddef>
#include <iostream>
#include <map>

#include <fcntl.h>
#include <unistd.h>

#include "elf_image.h"
#include "sojourn/ring_abi.h"

namespace {

using namespace sojourn::test;

class ArenaFile {
 public:
  explicit ArenaFile(const char* path) : fd_(open(path, O_RDONLY | O_CLOEXEC)) {
    if (fd_ < 0) fail("cannot open the arena");
    read(0, &header, sizeof header);
    if (header.magic != SJ_ARENA_MAGIC || header.version != SJ_ARENA_VERSION) fail("no arena");
  }
  ArenaFile(const ArenaFile&) = delete;
  ArenaFile& operator=(const ArenaFile&) = delete;
  ~ArenaFile() { close(fd_); }

  void read(std::uint64_t offset, void* to, std::size_t bytes) const {
    if (pread(fd_, to, bytes, static_cast<off_t>(offset)) != static_cast<ssize_t>(bytes))
      fail("the arena is cut short");
  }

  std::uint64_t ring_offset(std::uint64_t slot) const {
    return header.rings_offset + slot * header.ring_stride;
  }
  // SJ_RING_DATA, on the machine that made the arena.
  std::uint64_t data_offset(std::uint64_t slot) const {
    return ring_offset(slot) + std::uint64_t{2} * header.page_bytes;
  }

  struct sj_arena header{};

 private:
  int fd_;
};

using Site = OwnNote<sj_note_ring>;
using Sites = std::map<std::uint32_t, Site>;

// By id, at the addresses where the program was loaded.
Sites sites_of(const ElfImage& elf, const struct sj_arena& arena) {
  const auto flags = elf.section("sj_flags");
  if (!flags) fail("no ring points");
  const std::uint64_t bias = arena.flags_address - flags->sh_addr;
  Sites sites;
  for (const Site& site : own_notes(elf, SJ_NOTE_RING, &sj_note_ring::id))
    sites.emplace(static_cast<std::uint32_t>(site.fixed.id + bias), site);
  return sites;
}

std::size_t width(std::int8_t size) {
  return static_cast<std::size_t>(size < 0 ? -size : size);
}

std::size_t record_bytes(const Site& site) {
  std::size_t bytes = SJ_RECORD_HEADER_BYTES;
  for (int i = 0; i < site.fixed.arguments; ++i) bytes += width(site.fixed.size[i]);
  return (bytes + SJ_RECORD_ALIGN - 1) / SJ_RECORD_ALIGN * SJ_RECORD_ALIGN;
}

std::string value_text(const char* at, std::int8_t size) {
  std::uint64_t value = 0;
  std::memcpy(&value, at, width(size));
  if (size > 0) return std::to_string(value);
  const unsigned unused = 64 - 8 * static_cast<unsigned>(width(size));
  return std::to_string(static_cast<std::int64_t>(value << unused) >> unused);
}

struct Reader {
  const ArenaFile& arena;
  const Sites& sites;
  bool count_only;
  std::map<std::string, std::uint64_t> recorded = {};
  std::uint64_t lost = 0;
  std::uint64_t rings = 0;

  // One ring's record at a position that never wraps; its size.
  std::size_t read_record(std::uint64_t data, std::uint64_t mask, std::int64_t position,
                          std::uint64_t& last_stamp) {
    char bytes[SJ_RECORD_MAX_BYTES];
    arena.read(data + (static_cast<std::uint64_t>(position) & mask), bytes, sizeof bytes);
    struct sj_ring_record head;
    std::memcpy(&head, bytes, sizeof head);
    const auto found = sites.find(head.id);
    if (found == sites.end()) fail("a record of no site at " + std::to_string(position));
    const Site& site = found->second;
    const std::uint64_t stamp = std::uint64_t{head.stamp_high} << 32 | head.stamp_low;
    if (stamp < last_stamp) fail(site.point + ": is earlier than the record before it");
    last_stamp = stamp;
    ++recorded[site.point];
    if (!count_only) {
      std::string line = site.point + "|";
      const char* at = bytes + sizeof head;
      for (int i = 0; i < site.fixed.arguments; at += width(site.fixed.size[i++]))
        line.append(i == 0 ? "" : ",").append(value_text(at, site.fixed.size[i]));
      std::cout << line << '\n';
    }
    return record_bytes(site);
  }

  void read_ring(std::uint64_t slot) {
    struct sj_ring ring;
    arena.read(arena.ring_offset(slot), &ring, sizeof ring);
    if (ring.cursor == 0) return;
    ++rings;
    lost += ring.lost;
    const auto capacity = static_cast<std::int64_t>(ring.mask + 1);
    const std::int64_t chunk = capacity / SJ_RING_CHUNKS;
    std::int64_t position = 0;
    if (ring.cursor > capacity) {
      if (ring.mode != SJ_RING_FLIGHT) fail("a ring that nobody reads went beyond its end");
      // The newest chunk is written to, and the one behind it may be half overwritten.
      const std::int64_t oldest = (ring.cursor - 1) / chunk - SJ_RING_CHUNKS + 2;
      position = ring.chunk[oldest % SJ_RING_CHUNKS];
    }
    std::uint64_t last_stamp = 0;
    while (position < ring.cursor)
      position += static_cast<std::int64_t>(
          read_record(arena.data_offset(slot), ring.mask, position, last_stamp));
    if (position != ring.cursor) fail("the last record ends behind the cursor");
  }

  void read_all() {
    for (const struct sj_ring_loss& refused : arena.header.refused) lost += refused.count;
    lost += arena.header.refused_elsewhere;
    for (std::uint64_t slot = 0; slot < arena.header.slots_used; ++slot) read_ring(slot);
    if (!count_only) return;
    for (const auto& [point, count] : recorded) std::cout << point << " recorded=" << count << '\n';
    std::cout << "lost=" << lost << " rings=" << rings << '\n';
  }
};

}  // namespace

int main(int argc, char** argv) {
  const bool count_only = argc == 4 && std::string(argv[3]) == "--count";
  if (argc != 3 && !count_only) {
    std::cerr << "usage: sj-ring-dump PROGRAM ARENA [--count]\n";
    return 2;
  }
  try {
    const ElfImage elf(argv[1]);
    const ArenaFile arena(argv[2]);
    const Sites sites = sites_of(elf, arena.header);
    Reader{.arena = arena, .sites = sites, .count_only = count_only}.read_all();
  } catch (const std::exception& error) {
    std::cerr << argv[2] << ": " << error.what() << '\n';
    return 1;
  }
}
