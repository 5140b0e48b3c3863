// The processor's description of itself (x86 CPUID), of this machine or from a recording by `cpuid
// -1 -r`. Other architectures have no leaves. Immutable.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

#include "analysis/base/result.h"

namespace sojourn::host {

struct CpuidRegisters {
  std::uint32_t eax = 0;
  std::uint32_t ebx = 0;
  std::uint32_t ecx = 0;
  std::uint32_t edx = 0;
};

class Cpuid {
 public:
  static Cpuid of_this_machine();
  // Reads lines such as "0x00000001 0x00: eax=0x00000f61 ebx=... ecx=... edx=..."; skips other
  // lines.
  static Result<Cpuid> recorded(std::string_view text);

  // Nothing if the processor has no such leaf.
  std::optional<CpuidRegisters> leaf(std::uint32_t number, std::uint32_t subleaf = 0) const;

  std::string brand() const;       // "AMD EPYC"; empty: not known
  std::string hypervisor() const;  // "KVMKVMKVM"; empty: none, or it hides
  bool is_virtual() const;
  bool has_rdtscp() const;
  bool has_invariant_counter() const;

 private:
  explicit Cpuid(bool is_live) : is_live_(is_live) {}
  bool has(std::uint32_t number) const;

  bool is_live_;
  std::map<std::pair<std::uint32_t, std::uint32_t>, CpuidRegisters> recorded_;
};

}  // namespace sojourn::host
