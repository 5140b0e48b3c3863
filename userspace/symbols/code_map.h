// Finds the file that an address in a process belongs to, and the ELF address in it. Files are
// opened when the first address in them is looked up, and stay open, so that they can be read after
// the process has ended. One thread owns a CodeMap.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "analysis/base/result.h"
#include "userspace/tracee/elf_file.h"
#include "userspace/tracee/maps.h"
#include "userspace/tracee/process.h"

namespace sojourn::symbols {

// The origin of code. Without a file: anonymous memory, or a file that cannot be read.
struct Module {
  std::string name;  // as the process's maps name it; "[vdso]", "[memory]"
  std::string build_id;
  std::shared_ptr<const tracee::ElfFile> file;  // shared, as it may be read later on another thread
};

struct CodeLocation {
  std::uint32_t module = 0;   // index into modules()
  std::uint64_t address = 0;  // the ELF address; without a file the offset in its mapping
};

class CodeMap {
 public:
  explicit CodeMap(const tracee::Process& process) : process_(&process) {}

  // Nothing if no code is mapped at the address. For an unknown address the maps are read again,
  // once a second at most.
  std::optional<CodeLocation> find(std::uint64_t address);

  // Code was mapped since: the known mappings may be wrong.
  void forget_mappings() { next_read_ns_ = 0, is_stale_ = true; }

  const std::vector<Module>& modules() const { return modules_; }

 private:
  using FileId = std::pair<std::uint64_t, std::uint64_t>;  // device and inode
  void read_mappings();
  const tracee::Mapping* mapping_of(std::uint64_t address) const;
  std::uint32_t module_of(const tracee::Mapping& mapping);
  void open_file(const tracee::Mapping& mapping, Module& module) const;

  const tracee::Process* process_;
  std::vector<tracee::Mapping> mappings_;  // of code, by address
  std::uint64_t next_read_ns_ = 0;
  bool is_stale_ = true;
  std::vector<Module> modules_;
  std::map<FileId, std::uint32_t> by_file_;
  std::map<std::string, std::uint32_t> by_name_;  // of modules without a file
};

}  // namespace sojourn::symbols
