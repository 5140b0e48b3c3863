#include "analysis/page/trace_identity.h"

#include <cstdint>
#include <string_view>

#include <fmt/format.h>

#include "analysis/trace/meta.h"

namespace sojourn::page {
namespace {

// FNV-1a. It does not protect from somebody who makes two traces alike on purpose.
class Hash {
 public:
  void add(std::string_view bytes) {
    for (const char c : bytes) value_ = (value_ ^ static_cast<unsigned char>(c)) * 0x100000001b3;
  }
  std::uint64_t value() const { return value_; }

 private:
  std::uint64_t value_ = 0xcbf29ce484222325;
};

}  // namespace

std::string identity_of(const trace::Reader& reader) {
  Hash hash;
  hash.add(trace::to_json(reader.schema()));
  for (const model::Target& target : reader.targets()) hash.add(trace::to_json(target));
  hash.add(trace::to_json(reader.capture()));
  for (const trace::BlockInfo& block : reader.blocks())
    for (const std::uint64_t number :
         {block.offset, std::uint64_t{block.bytes}, std::uint64_t{block.stream},
          std::uint64_t{block.events}, block.first_seq, block.min_ts_ns, block.max_ts_ns})
      hash.add({reinterpret_cast<const char*>(&number), sizeof(number)});
  return fmt::format("{}-{:016x}", reader.bytes(), hash.value());
}

}  // namespace sojourn::page
