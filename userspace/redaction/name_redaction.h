// Replaces the names in a trace: of threads, processes, queues, files. Numbers in a name become the
// replacements of ids of that value, so that "ue 0x4601" still goes with its packets. The target's
// own words stay, as its code has them; other processes, addresses and directories are replaced as
// a whole. One thread owns a NameRedaction; its cipher must outlive it.
#pragma once

#include <cstdint>
#include <set>
#include <string>
#include <string_view>

#include "analysis/model/context_info.h"
#include "analysis/model/queue_info.h"
#include "analysis/model/schema.h"
#include "userspace/redaction/value_cipher.h"

namespace sojourn::redaction {

class NameRedaction {
 public:
  // Threads of `pids` are the target's.
  NameRedaction(ValueCipher& cipher, const model::Schema& schema, std::set<std::uint64_t> pids);

  // Replaces the numbers in a name.
  std::string words(std::string_view name);
  // Replaces the directory and keeps the file name. "[vdso]" and plain names stay.
  std::string file(std::string_view path) const;
  // Replaces the name of a queue. The name of a place between points, alone or with a group, keeps
  // the place.
  std::string queue(std::string_view name);
  std::string context_name(const model::ContextName& about);

 private:
  std::string thread(const model::ContextName& about);

  ValueCipher& cipher_;
  std::set<std::string, std::less<>> places_;
  std::set<std::uint64_t> pids_;
};

}  // namespace sojourn::redaction
