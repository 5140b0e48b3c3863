// The names behind the numbers in a trace's kernel context. Immutable once made.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <utility>

#include "analysis/model/context_info.h"

namespace sojourn::causes {

class ContextNameTable {
 public:
  explicit ContextNameTable(const model::Context& context);

  std::string thread(std::uint32_t tid) const;  // "mac", "thread 4243"; "the idle CPU" for 0
  // The name beside a second thread: "another mac (4243)" if both have the same name.
  std::string other(std::uint32_t tid, std::uint32_t than) const;
  std::string_view known(std::uint32_t tid) const;  // empty: it has none
  std::string syscall(std::int64_t number) const;
  std::string interrupt(std::int64_t number, bool is_softirq) const;

 private:
  std::string_view find(model::NameKind kind, std::uint64_t id) const;

  std::map<std::pair<model::NameKind, std::uint64_t>, std::string> names_;
};

}  // namespace sojourn::causes
