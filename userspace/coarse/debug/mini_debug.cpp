#include "userspace/coarse/debug/mini_debug.h"

#include <cstddef>
#include <cstdint>
#include <vector>

#include <fmt/format.h>
#include <lzma.h>
#include <sys/mman.h>
#include <unistd.h>

#include "userspace/base/fd.h"

namespace sojourn::coarse {

namespace {

constexpr std::uint64_t kMaxPacked = std::uint64_t{64} << 20;
constexpr std::uint64_t kMaxUnpacked = std::uint64_t{512} << 20;
constexpr std::uint64_t kMaxDecoderMemory = std::uint64_t{256} << 20;

bool write_all(int fd, const std::uint8_t* from, std::size_t bytes) {
  while (bytes != 0) {
    const ssize_t written = write(fd, from, bytes);
    if (written <= 0) return false;
    from += written;
    bytes -= static_cast<std::size_t>(written);
  }
  return true;
}

class Decoder {
 public:
  Decoder() { is_good_ = lzma_stream_decoder(&stream_, kMaxDecoderMemory, 0) == LZMA_OK; }
  Decoder(const Decoder&) = delete;
  Decoder& operator=(const Decoder&) = delete;
  ~Decoder() { lzma_end(&stream_); }

  // Unpacks everything.
  bool unpack(const std::vector<std::byte>& packed, int into) {
    if (!is_good_) return false;
    stream_.next_in = reinterpret_cast<const std::uint8_t*>(packed.data());
    stream_.avail_in = packed.size();
    std::vector<std::uint8_t> out(1 << 16);
    for (std::uint64_t all = 0; all <= kMaxUnpacked;) {
      stream_.next_out = out.data();
      stream_.avail_out = out.size();
      const lzma_ret result = lzma_code(&stream_, LZMA_FINISH);
      if (result != LZMA_OK && result != LZMA_STREAM_END) return false;
      const std::size_t bytes = out.size() - stream_.avail_out;
      if (!write_all(into, out.data(), bytes)) return false;
      if (result == LZMA_STREAM_END) return true;
      all += bytes;
    }
    return false;
  }

 private:
  lzma_stream stream_ = LZMA_STREAM_INIT;
  bool is_good_ = false;
};

}  // namespace

std::optional<tracee::ElfFile> unpack_mini_debug(const tracee::ElfFile& file) {
  const tracee::Section* const section = file.section(".gnu_debugdata");
  if (section == nullptr || section->bytes > kMaxPacked) return std::nullopt;
  std::vector<std::byte> packed(section->bytes);
  if (!file.read(section->offset, packed)) return std::nullopt;
  const base::Fd memory(memfd_create("sojourn-mini-debug", MFD_CLOEXEC));
  if (!memory || !Decoder().unpack(packed, memory.get())) return std::nullopt;
  auto unpacked = tracee::ElfFile::open(fmt::format("/proc/self/fd/{}", memory.get()),
                                        file.name() + ", its .gnu_debugdata");
  return unpacked ? std::optional(std::move(*unpacked)) : std::nullopt;
}

}  // namespace sojourn::coarse
