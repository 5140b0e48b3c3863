// A trace's record of its kernel context: the families of events that were asked for, and the names
// behind the numbers in them. Plain data, no behaviour.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace sojourn::model {

struct ContextFamily {
  std::string name;     // "sched", "irq", ...
  std::string missing;  // why it is not in the trace; empty: it is

  bool operator==(const ContextFamily&) const = default;
};

// Stored in traces by their words.
enum class NameKind : std::uint8_t { kThread, kIrq, kSoftirq, kSyscall, kSocket, kDescriptor };
std::string_view name(NameKind kind);  // thread irq softirq syscall socket descriptor
std::optional<NameKind> name_kind_from(std::string_view name);

// The name of a number in events. Thread ids are reused: then there is another entry, and the
// newest counts from there on.
struct ContextName {
  NameKind kind = NameKind::kThread;
  std::uint64_t id = 0;
  std::string name;
  std::uint64_t pid = 0;  // for threads and descriptors: the process
  std::string state;  // for the target's threads, once: /proc's letter just before the open mark

  bool operator==(const ContextName&) const = default;
};

// A trace has several of these, each with the names since the one before.
struct Context {
  std::vector<ContextFamily> families;
  std::vector<ContextName> names;

  bool empty() const { return families.empty() && names.empty(); }
};

}  // namespace sojourn::model
