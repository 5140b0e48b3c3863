#include "userspace/coarse/code/return_safety.h"

#include <algorithm>
#include <array>
#include <cstddef>
#include <optional>
#include <span>
#include <string_view>
#include <utility>

#include <fmt/format.h>

#include "userspace/tracee/elf_file.h"
#include "userspace/tracee/procfs.h"

namespace sojourn::coarse {

namespace {

using tracee::printable;

constexpr std::uint64_t kMaxNames = std::uint64_t{256} << 20;  // bytes of a table of names

// A name that a file defines or imports, and the danger that its use shows.
struct Danger {
  std::string_view name;
  std::string_view what;
};
constexpr std::string_view kThrows = "throws or passes on exceptions";
constexpr std::string_view kUnwinds = "unwinds stacks";
constexpr std::string_view kEndsThreads = "ends threads in the middle of their calls";
constexpr std::string_view kHasStacks = "has several stacks on one thread";
constexpr std::array kOfAll = {
    Danger{"__cxa_throw", kThrows},
    Danger{"__cxa_rethrow", kThrows},
    Danger{"__cxa_begin_catch", kThrows},
    Danger{"__gxx_personality_v0", kThrows},
    Danger{"__gcc_personality_v0", kUnwinds},
    Danger{"rust_eh_personality", kUnwinds},
    Danger{"_Unwind_RaiseException", kUnwinds},
    Danger{"_Unwind_ForcedUnwind", kUnwinds},
    Danger{"_Unwind_Resume", kUnwinds},
    Danger{"unw_step", kUnwinds},
};
// The C library defines these, but does not use them itself.
constexpr std::array kOfOthers = {
    Danger{"pthread_exit", kEndsThreads}, Danger{"pthread_cancel", kEndsThreads},
    Danger{"thrd_exit", kEndsThreads},    Danger{"sigaltstack", kHasStacks},
    Danger{"swapcontext", kHasStacks},    Danger{"makecontext", kHasStacks},
    Danger{"setcontext", kHasStacks},     Danger{"jump_fcontext", kHasStacks},
};

// A table of strings, each behind a NUL or at the end of a longer one.
bool holds(std::string_view names, std::string_view name) {
  return names.contains(fmt::format("{}{}", name, '\0'));
}

// All names that a file defines or imports; none if they cannot be read.
std::optional<std::string> names_of(const tracee::ElfFile& elf) {
  std::string names;
  for (const char* table : {".dynstr", ".strtab"}) {
    const tracee::Section* const section = elf.section(table);
    if (section == nullptr) continue;
    if (section->bytes > kMaxNames - names.size()) return std::nullopt;
    const std::size_t before = names.size();
    names.resize(before + section->bytes);
    const auto bytes = std::as_writable_bytes(std::span(names)).subspan(before);
    if (!elf.read(section->offset, bytes)) return std::nullopt;
    names += '\0';
  }
  return names;
}

// "throws exceptions (__cxa_throw)", or nothing.
template <typename Dangers>
std::string first_of(const Dangers& dangers, std::string_view names) {
  for (const Danger& danger : dangers)
    if (holds(names, danger.name)) return fmt::format("{} ({})", danger.what, danger.name);
  return {};
}

std::string danger_of(const tracee::ExecutedFile& one) {
  auto elf = tracee::ElfFile::open(one.file.path, one.file.name);
  if (!elf) return "cannot be read";
  const auto names = names_of(*elf);
  if (!names || names->empty()) return "has no symbols that would show what it does";
  if (elf->section(".gopclntab") != nullptr) return "is written in Go, which moves its stacks";
  if (std::string danger = first_of(kOfAll, *names); !danger.empty()) return danger;
  // This version name occurs in parts of the C library only.
  const bool is_of_c_library = holds(*names, "GLIBC_PRIVATE");
  if (is_of_c_library) return {};
  if (elf->section(".gcc_except_table") != nullptr)
    return "has code for exceptions that go through it (.gcc_except_table)";
  return first_of(kOfOthers, *names);
}

bool has_shadow_stack(pid_t pid) {
  const auto status = tracee::read_whole(fmt::format("/proc/{}/status", pid));
  if (!status) return false;
  const std::size_t line = status->find("x86_Thread_features:");
  return line != std::string::npos &&
         std::string_view(*status).substr(line, status->find('\n', line) - line).contains("shstk");
}

bool has_code_without_file(pid_t pid) {
  const auto text = tracee::read_whole(fmt::format("/proc/{}/maps", pid));
  const auto mappings = text ? tracee::parse_maps(*text) : fail("none");
  if (!mappings) return true;
  return std::ranges::any_of(*mappings, [](const tracee::Mapping& one) {
    return one.executable && one.inode == 0 && one.name != "[vdso]" && one.name != "[vsyscall]" &&
           one.name != "[uprobes]";
  });
}

}  // namespace

std::string why_no_return_probes(const tracee::Process& process,
                                 const tracee::ExecutedFiles& executed) {
  if (!executed.unusable.empty())
    return fmt::format("{} cannot be looked into", printable(executed.unusable.front().where));
  for (const tracee::ExecutedFile& one : executed.files)
    if (std::string danger = danger_of(one); !danger.empty())
      return fmt::format("{} {}", printable(one.file.name), danger);
  if (has_code_without_file(process.pid())) return "it executes code that is in no file";
  if (has_shadow_stack(process.pid())) return "it has a shadow stack, which knows where it returns";
  return {};
}

}  // namespace sojourn::coarse
