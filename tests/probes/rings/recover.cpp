// Reads the newest events of sj-subject-last-events from the file that it left: a named ring file
// or a core file. Prints "kept N last M", and fails if they do not follow one another. Usage:
// sj-recover FILE
#include <algorithm>
#include <cstdint>
#include <cstdio>
#include <cstring>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include <elf.h>
#include <fcntl.h>
#include <sojourn/ring_abi.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

namespace {

using Bytes = std::span<const char>;

// Mapped, not read: an arena's file is gigabytes of holes.
Bytes map_file(const char* path) {
  const int fd = open(path, O_RDONLY | O_CLOEXEC);
  struct stat status{};
  if (fd < 0 || fstat(fd, &status) != 0 || status.st_size == 0) return {};
  const auto size = static_cast<std::size_t>(status.st_size);
  void* const bytes = mmap(nullptr, size, PROT_READ, MAP_PRIVATE, fd, 0);
  close(fd);
  return bytes == MAP_FAILED ? Bytes{} : Bytes(static_cast<const char*>(bytes), size);
}

template <typename T>
std::optional<T> take(std::span<const char> bytes, std::uint64_t offset) {
  if (offset > bytes.size() || bytes.size() - offset < sizeof(T)) return std::nullopt;
  T value;
  std::memcpy(&value, bytes.data() + offset, sizeof value);
  return value;
}

// A file's bytes by position in the arena: in a ring file the offset, in a core an address.
class Memory {
 public:
  explicit Memory(Bytes bytes) : bytes_(bytes) {
    const auto header = take<Elf64_Ehdr>(bytes_, 0);
    if (!header || std::memcmp(header->e_ident, ELFMAG, SELFMAG) != 0) {
      segments_.push_back({.p_offset = 0, .p_vaddr = 0, .p_filesz = bytes_.size()});
      return;
    }
    for (int i = 0; i < header->e_phnum; ++i) {
      const auto segment =
          take<Elf64_Phdr>(bytes_, header->e_phoff + sizeof(Elf64_Phdr) * static_cast<unsigned>(i));
      if (segment && segment->p_type == PT_LOAD)
        segments_.push_back({segment->p_offset, segment->p_vaddr, segment->p_filesz});
    }
  }

  std::optional<std::uint64_t> find_arena() const {
    for (const Segment& segment : segments_)
      if (take<std::uint64_t>(bytes_, segment.p_offset) == SJ_ARENA_MAGIC && segment.p_filesz != 0)
        return segment.p_vaddr;
    return std::nullopt;
  }

  template <typename T>
  std::optional<T> read(std::uint64_t address) const {
    for (const Segment& segment : segments_)
      if (address >= segment.p_vaddr && address - segment.p_vaddr < segment.p_filesz)
        return take<T>(bytes_, segment.p_offset + (address - segment.p_vaddr));
    return std::nullopt;
  }

 private:
  struct Segment {
    std::uint64_t p_offset, p_vaddr, p_filesz;
  };
  Bytes bytes_;
  std::vector<Segment> segments_;
};

std::optional<std::vector<std::uint64_t>> newest_numbers(const Memory& memory,
                                                         std::uint64_t ring_address) {
  const auto ring = memory.read<sj_ring>(ring_address);
  if (!ring || ring->owner == 0) return std::nullopt;
  constexpr std::int64_t kRecord = 24;
  const auto capacity = static_cast<std::int64_t>(ring->mask + 1);
  std::int64_t from = std::max<std::int64_t>(0, ring->limit - capacity);
  if (ring->mode == SJ_RING_FLIGHT) {
    from = ring->cursor;
    for (const std::int64_t chunk : ring->chunk)
      if (chunk >= ring->cursor + SJ_RECORD_MAX_BYTES - capacity) from = std::min(from, chunk);
  }
  std::vector<std::uint64_t> numbers;
  for (; from < ring->cursor; from += kRecord) {
    const std::uint64_t place = static_cast<std::uint64_t>(from) & ring->mask;
    const auto number =
        memory.read<std::uint64_t>(ring_address + SJ_RING_DATA + place + SJ_RECORD_HEADER_BYTES);
    if (!number) return std::nullopt;
    numbers.push_back(*number);
  }
  return numbers;
}

}  // namespace

int main(int argc, char** argv) {
  if (argc != 2) return 2;
  const Memory memory(map_file(argv[1]));
  const auto base = memory.find_arena();
  const auto arena = base ? memory.read<sj_arena>(*base) : std::nullopt;
  if (!arena) return std::fprintf(stderr, "%s: no arena\n", argv[1]), 1;
  const auto numbers = newest_numbers(memory, *base + arena->rings_offset);
  if (!numbers || numbers->empty()) return std::fprintf(stderr, "%s: no events\n", argv[1]), 1;
  for (std::size_t i = 1; i < numbers->size(); ++i)
    if ((*numbers)[i] != (*numbers)[i - 1] + 1)
      return std::fprintf(stderr, "%s: events do not follow one another\n", argv[1]), 1;
  std::printf("kept %zu last %llu\n", numbers->size(),
              static_cast<unsigned long long>(numbers->back()));
}
