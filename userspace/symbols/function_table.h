// The functions of ELF files' symbol tables, read in one pass: names are never copied, but passed
// to a callback, so that a file with a million symbols takes megabytes and tenths of a second.
// Names are in a mapping of the file: if the file shrinks, this process ends, so it is for bounded
// children (bounded_child.h). One thread owns one.
#pragma once

#include <cstdint>
#include <functional>
#include <span>
#include <string_view>
#include <utility>
#include <vector>

#include "analysis/base/result.h"
#include "userspace/symbols/code_range.h"
#include "userspace/tracee/elf_file.h"

namespace sojourn::symbols {

struct TableFunction {
  std::uint64_t address = 0;
  std::uint32_t bytes = 0;   // 0: not in the table
  std::uint32_t name = 0;    // the begin of the name in its file's names
  std::uint32_t symbol = 0;  // its index among its file's symbols
  std::uint8_t file = 0;     // the index of the file
};

class FunctionTable {
 public:
  // Called for each function with its mangled name.
  using Look = std::function<void(const TableFunction&, std::string_view name)>;

  // Reads one or more files, and calls `look` for each function. Files without symbols add nothing.
  static Result<FunctionTable> read(std::span<const tracee::ElfFile* const> files,
                                    const Look& look);

  const std::vector<TableFunction>& functions() const { return functions_; }  // by address
  std::string_view name(const TableFunction& function) const;
  // The function's code; up to the next function if the table has no size.
  CodeRange code(const TableFunction& function) const;
  // The functions that begin at the address, or whose code contains it.
  std::span<const TableFunction> at(std::uint64_t address) const;
  std::vector<TableFunction> around(std::uint64_t address) const;
  // Returns whether a function begins in the range.
  bool has_function_in(CodeRange code) const;
  // Calls `look` again for all functions, in the order of their addresses.
  void look_at_all(const Look& look) const;

 private:
  // A file's string table, mapped; unmaps itself.
  class Names {
   public:
    Names() = default;
    Names(const tracee::ElfFile& file, const tracee::Section& section);
    Names(Names&& other) noexcept
        : base_(std::exchange(other.base_, nullptr)),
          mapped_(std::exchange(other.mapped_, 0)),
          text_(std::exchange(other.text_, {})) {}
    Names& operator=(Names&&) = delete;
    ~Names();

    std::string_view at(std::uint32_t offset) const;
    // Lets the kernel take the memory back; pages that are read again are loaded again.
    void forget() const;

   private:
    void* base_ = nullptr;
    std::size_t mapped_ = 0;
    std::string_view text_;
  };

  Result<void> add(const tracee::ElfFile& file, const Look& look);

  std::vector<TableFunction> functions_;
  std::vector<Names> names_;
};

// Returns whether the file's symbol `number` is this function.
bool is_symbol(const tracee::ElfFile& file, std::uint32_t number, std::uint64_t address,
               std::string_view name);

}  // namespace sojourn::symbols
