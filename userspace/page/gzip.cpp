#include "userspace/page/gzip.h"

#include <zlib.h>

namespace sojourn::page {

Result<std::vector<std::uint8_t>> gzipped(std::string_view text) {
  constexpr int kWithGzipHeader = MAX_WBITS + 16;
  z_stream stream = {};
  if (deflateInit2(&stream, Z_BEST_COMPRESSION, Z_DEFLATED, kWithGzipHeader, MAX_MEM_LEVEL,
                   Z_DEFAULT_STRATEGY) != Z_OK)
    return fail("no memory is left to pack the page");
  std::vector<std::uint8_t> packed(deflateBound(&stream, static_cast<uLong>(text.size())));
  if (packed.size() > UINT32_MAX || text.size() > UINT32_MAX) {
    deflateEnd(&stream);
    return fail("the page would have more than 4 GB");
  }
  stream.next_in = const_cast<Bytef*>(reinterpret_cast<const Bytef*>(text.data()));
  stream.avail_in = static_cast<uInt>(text.size());
  stream.next_out = packed.data();
  stream.avail_out = static_cast<uInt>(packed.size());
  const int ended = deflate(&stream, Z_FINISH);
  packed.resize(stream.total_out);
  deflateEnd(&stream);
  if (ended != Z_STREAM_END) return fail("the page's summary could not be packed");
  return packed;
}

}  // namespace sojourn::page
