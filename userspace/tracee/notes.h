// The probes that an ELF file declares: USDT notes (.note.stapsdt, as SystemTap's sys/sdt.h writes
// them and bpftrace, perf and gdb read them) and self-descriptions (sojourn/note_abi.h).
// A note that is cut short or not valid is no error of the file: it is listed.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "analysis/base/result.h"
#include "userspace/tracee/elf_file.h"

namespace sojourn::tracee {

struct UsdtNote {
  std::uint64_t noted_site = 0;  // as in the note: self-descriptions are joined by it
  std::uint64_t site = 0;        // ELF addresses, corrected if the file was prelinked
  std::uint64_t semaphore = 0;   // 0: none
  std::string provider;
  std::string name;
  std::string arguments;

  std::string probe() const { return provider + ":" + name; }
};

// A point's self-description; for the ring engine `site` is the address of its id.
struct SelfDescription {
  std::uint64_t site = 0;
  std::uint32_t line = 0;
  std::size_t arguments = 0;
  std::string point_words;
  std::string field_words;
  std::string source_file;
};

struct RingNote {
  SelfDescription description;
  std::uint64_t flag = 0;
  std::vector<int> sizes;  // of each argument; negative: signed
};

struct ProbeNotes {
  std::vector<UsdtNote> usdt;
  std::vector<SelfDescription> descriptions;
  std::vector<RingNote> rings;
  std::vector<std::string> malformed;
};

Result<ProbeNotes> read_probe_notes(const ElfFile& file);

}  // namespace sojourn::tracee
