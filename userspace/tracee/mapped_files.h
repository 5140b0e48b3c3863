// Finds the files that a process executes, and a path by which this process can open each.
#pragma once

#include <optional>
#include <span>
#include <vector>

#include "analysis/base/result.h"
#include "userspace/tracee/elf_file.h"
#include "userspace/tracee/maps.h"
#include "userspace/tracee/process.h"
#include "userspace/tracee/program_points.h"

namespace sojourn::tracee {

struct ExecutedFile {
  MappedFile file;  // its load bias is not known before the ELF file is read
  std::vector<Mapping> mappings;
};

struct ExecutedFiles {
  std::vector<ExecutedFile> files;
  std::vector<Unusable> unusable;  // mapped, but no way was found to open them
};

Result<ExecutedFiles> executed_files(const Process& process);

// Finds a path by which a mapped file can be opened; `directory` is the process's, such as
// /proc/4242.
Result<MappedFile> locate(const std::string& directory, const Mapping& mapping);

// The run-time addresses of ELF address 0, by mappings of segments of code. There are several if
// the file is loaded more than once.
std::vector<std::uint64_t> load_biases(const ElfFile& file, std::span<const Mapping> mappings);

}  // namespace sojourn::tracee
