#include "userspace/host/cpuid.h"

#include <algorithm>
#include <array>
#include <cstring>

#include "userspace/tracee/procfs.h"

#if defined(__x86_64__)
#include <cpuid.h>
#endif

namespace sojourn::host {

namespace {

constexpr std::uint32_t kExtended = 0x80000000;
constexpr std::uint32_t kHypervisor = 0x40000000;

CpuidRegisters ask(std::uint32_t number, std::uint32_t subleaf) {
  CpuidRegisters answer;
#if defined(__x86_64__)
  __cpuid_count(number, subleaf, answer.eax, answer.ebx, answer.ecx, answer.edx);
#else
  (void)number;
  (void)subleaf;
#endif
  return answer;
}

// The text in the registers, without unprintable characters.
std::string text_of(std::initializer_list<std::uint32_t> words) {
  std::string text;
  for (const std::uint32_t word : words) {
    std::array<char, sizeof(word)> letters{};
    std::memcpy(letters.data(), &word, sizeof(word));
    for (const char letter : letters)
      if (letter >= ' ' && letter <= '~') text += letter;
  }
  const auto from = text.find_first_not_of(' ');
  if (from == std::string::npos) return {};
  return text.substr(from, text.find_last_not_of(' ') - from + 1);
}

// The number that follows `name` in the line.
std::optional<std::uint32_t> value_in(std::string_view line, std::string_view name) {
  const auto at = line.find(name);
  if (at == std::string_view::npos) return std::nullopt;
  std::string_view rest = line.substr(at + name.size());
  rest = rest.substr(0, rest.find(' '));
  const auto number = tracee::parse_number(rest, 16);
  if (!number || *number > UINT32_MAX) return std::nullopt;
  return static_cast<std::uint32_t>(*number);
}

}  // namespace

Cpuid Cpuid::of_this_machine() {
  return Cpuid(true);
}

Result<Cpuid> Cpuid::recorded(std::string_view text) {
  Cpuid cpuid(false);
  for (std::string_view line : tracee::split(text, '\n')) {
    line.remove_prefix(std::min(line.find_first_not_of(' '), line.size()));
    const auto colon = line.find(':');
    const auto blank = line.find(' ');
    if (!line.starts_with("0x") || colon == std::string_view::npos || blank > colon) continue;
    const auto number = tracee::parse_number(line.substr(2, blank - 2), 16);
    const std::string_view second = line.substr(blank + 1, colon - blank - 1);
    if (!number || *number > UINT32_MAX || !second.starts_with("0x")) continue;
    const auto subleaf = tracee::parse_number(second.substr(2), 16);
    const auto eax = value_in(line, "eax=0x");
    const auto ebx = value_in(line, "ebx=0x");
    const auto ecx = value_in(line, "ecx=0x");
    const auto edx = value_in(line, "edx=0x");
    if (!subleaf || *subleaf > UINT32_MAX || !eax || !ebx || !ecx || !edx) continue;
    cpuid.recorded_[{static_cast<std::uint32_t>(*number), static_cast<std::uint32_t>(*subleaf)}] = {
        *eax, *ebx, *ecx, *edx};
  }
  if (cpuid.recorded_.empty()) return fail("no line of it is one of `cpuid -1 -r`");
  return cpuid;
}

bool Cpuid::has(std::uint32_t number) const {
#if !defined(__x86_64__)
  if (is_live_) return false;
#endif
  if (number >= kHypervisor && number < kHypervisor + 0x10000000) return true;
  const std::uint32_t first = number >= kExtended ? kExtended : 0;
  const CpuidRegisters most = [&] {
    if (is_live_) return ask(first, 0);
    const auto found = recorded_.find({first, 0});
    return found == recorded_.end() ? CpuidRegisters{} : found->second;
  }();
  return number <= most.eax;
}

std::optional<CpuidRegisters> Cpuid::leaf(std::uint32_t number, std::uint32_t subleaf) const {
  if (!has(number)) return std::nullopt;
  if (is_live_) return ask(number, subleaf);
  const auto found = recorded_.find({number, subleaf});
  if (found == recorded_.end()) return std::nullopt;
  return found->second;
}

std::string Cpuid::brand() const {
  std::string text;
  for (std::uint32_t number = 0x80000002; number <= 0x80000004; ++number)
    if (const auto words = leaf(number))
      text += text_of({words->eax, words->ebx, words->ecx, words->edx});
  return text;
}

bool Cpuid::is_virtual() const {
  const auto features = leaf(1);
  return features && (features->ecx >> 31 & 1) != 0;
}

std::string Cpuid::hypervisor() const {
  if (!is_virtual()) return {};
  const auto words = leaf(kHypervisor);
  return words ? text_of({words->ebx, words->ecx, words->edx}) : std::string();
}

bool Cpuid::has_rdtscp() const {
  const auto features = leaf(0x80000001);
  return features && (features->edx >> 27 & 1) != 0;
}

bool Cpuid::has_invariant_counter() const {
  const auto power = leaf(0x80000007);
  return power && (power->edx >> 8 & 1) != 0;
}

}  // namespace sojourn::host
