#include "userspace/symbols/function_table.h"

#include <algorithm>
#include <array>
#include <cstring>
#include <limits>
#include <optional>
#include <tuple>

#include <elf.h>
#include <sys/mman.h>
#include <unistd.h>

#include "userspace/tracee/procfs.h"

namespace sojourn::symbols {

namespace {

constexpr std::uint64_t kMaxSymbolBytes = std::uint64_t{512} << 20;
constexpr std::uint64_t kMaxNameBytes = std::uint64_t{2} << 30;
constexpr std::size_t kAtOnce = 8192;  // symbols
constexpr std::uint64_t kForget = std::uint64_t{24}
                                  << 20;  // the memory of names is given back after so many bytes
constexpr std::size_t kMaxFiles = 8;
constexpr std::uint64_t kUnknown = 0;

// A .symtab holds the dynamic symbols too.
const tracee::Section* symbols_of(const tracee::ElfFile& file) {
  for (const std::uint32_t type : std::array<std::uint32_t, 2>{SHT_SYMTAB, SHT_DYNSYM}) {
    const auto found = std::ranges::find(file.sections(), type, &tracee::Section::type);
    if (found != file.sections().end()) return &*found;
  }
  return nullptr;
}

const tracee::Section* names_of(const tracee::ElfFile& file, const tracee::Section& symbols) {
  if (symbols.link >= file.sections().size() + 1 || symbols.link == 0) return nullptr;
  // The list lacks the null section, which is number 0.
  const tracee::Section& names = file.sections()[symbols.link - 1];
  return names.type == SHT_STRTAB && names.bytes <= kMaxNameBytes ? &names : nullptr;
}

bool is_function(const Elf64_Sym& symbol) {
  const auto kind = ELF64_ST_TYPE(symbol.st_info);
  return symbol.st_shndx != SHN_UNDEF && (kind == STT_FUNC || kind == STT_GNU_IFUNC) &&
         symbol.st_name != 0;
}

std::uint32_t clamped(std::uint64_t bytes) {
  return bytes > std::numeric_limits<std::uint32_t>::max() ? 0 : static_cast<std::uint32_t>(bytes);
}

}  // namespace

FunctionTable::Names::Names(const tracee::ElfFile& file, const tracee::Section& section) {
  const auto page = static_cast<std::uint64_t>(sysconf(_SC_PAGESIZE));
  const std::uint64_t before = section.offset % page;
  if (section.bytes == 0) return;
  mapped_ = section.bytes + before;
  void* const at = mmap(nullptr, mapped_, PROT_READ, MAP_PRIVATE, file.fd(),
                        static_cast<off_t>(section.offset - before));
  if (at == MAP_FAILED) {
    mapped_ = 0;
    return;
  }
  base_ = at;
  text_ = {static_cast<const char*>(at) + before, section.bytes};
}

FunctionTable::Names::~Names() {
  if (base_ != nullptr) munmap(base_, mapped_);
}

std::string_view FunctionTable::Names::at(std::uint32_t offset) const {
  if (offset >= text_.size()) return {};
  const std::string_view rest = text_.substr(offset);
  const void* const end = std::memchr(rest.data(), '\0', rest.size());
  if (end == nullptr) return {};
  return rest.substr(0, static_cast<std::size_t>(static_cast<const char*>(end) - rest.data()));
}

void FunctionTable::Names::forget() const {
  if (base_ != nullptr) madvise(base_, mapped_, MADV_DONTNEED);
}

Result<void> FunctionTable::add(const tracee::ElfFile& file, const Look& look) {
  const tracee::Section* const symbols = symbols_of(file);
  if (symbols == nullptr) return {};
  if (symbols->bytes > kMaxSymbolBytes)
    return fail("{}: section {} is absurdly long", file.name(), tracee::printable(symbols->name));
  const tracee::Section* const strings = names_of(file, *symbols);
  if (strings == nullptr)
    return fail("{}: section {} has no names", file.name(), tracee::printable(symbols->name));
  if (std::byte last{}; strings->bytes != 0)
    SJ_CHECK(file.read(strings->offset + strings->bytes - 1, std::span(&last, 1)));
  const auto number = static_cast<std::uint8_t>(names_.size());
  const Names& names = names_.emplace_back(file, *strings);
  std::vector<Elf64_Sym> some(kAtOnce);
  const std::uint64_t count = symbols->bytes / sizeof(Elf64_Sym);
  functions_.reserve(functions_.size() + count);
  std::uint64_t looked_at = 0;  // bytes of names
  for (std::uint64_t first = 0; first < count; first += some.size()) {
    some.resize(std::min<std::uint64_t>(kAtOnce, count - first));
    SJ_CHECK(file.read(symbols->offset + first * sizeof(Elf64_Sym),
                       std::as_writable_bytes(std::span(some))));
    for (std::size_t at = 0; at < some.size(); ++at) {
      const Elf64_Sym& symbol = some[at];
      if (!is_function(symbol)) continue;
      const std::string_view name = names.at(symbol.st_name);
      if (name.empty()) continue;
      functions_.push_back({.address = symbol.st_value,
                            .bytes = clamped(symbol.st_size),
                            .name = symbol.st_name,
                            .symbol = static_cast<std::uint32_t>(first + at),
                            .file = number});
      look(functions_.back(), name);
      looked_at += name.size();
    }
    if (looked_at >= kForget) {
      names.forget();
      looked_at = 0;
    }
  }
  return {};
}

Result<FunctionTable> FunctionTable::read(std::span<const tracee::ElfFile* const> files,
                                          const Look& look) {
  FunctionTable table;
  if (files.size() > kMaxFiles) return fail("symbols of more than {} files", kMaxFiles);
  for (const tracee::ElfFile* const file : files) SJ_CHECK(table.add(*file, look));
  // Functions at one address are in the order of the table. The sort needs no memory of its own.
  std::ranges::sort(table.functions_, {}, [](const TableFunction& one) {
    return std::tuple(one.address, one.file, one.symbol);
  });
  return table;
}

std::string_view FunctionTable::name(const TableFunction& function) const {
  return names_[function.file].at(function.name);
}

CodeRange FunctionTable::code(const TableFunction& function) const {
  if (function.bytes != kUnknown) return {function.address, function.bytes};
  const auto next =
      std::ranges::upper_bound(functions_, function.address, {}, &TableFunction::address);
  return {function.address, next == functions_.end() ? 0 : next->address - function.address};
}

std::span<const TableFunction> FunctionTable::at(std::uint64_t address) const {
  const auto same = std::ranges::equal_range(functions_, address, {}, &TableFunction::address);
  return {same.begin(), same.end()};
}

std::vector<TableFunction> FunctionTable::around(std::uint64_t address) const {
  std::vector<TableFunction> found;
  for (const TableFunction& one : functions_)
    if (one.bytes != kUnknown && CodeRange{one.address, one.bytes}.holds(address))
      found.push_back(one);
  return found;
}

bool FunctionTable::has_function_in(CodeRange code) const {
  const auto first =
      std::ranges::lower_bound(functions_, code.address, {}, &TableFunction::address);
  return first != functions_.end() && code.holds(first->address);
}

void FunctionTable::look_at_all(const Look& look) const {
  std::uint64_t looked_at = 0;
  for (const TableFunction& function : functions_) {
    const std::string_view text = name(function);
    look(function, text);
    looked_at += text.size();
    if (looked_at < kForget) continue;
    for (const Names& names : names_) names.forget();
    looked_at = 0;
  }
}

bool is_symbol(const tracee::ElfFile& file, std::uint32_t number, std::uint64_t address,
               std::string_view name) {
  const tracee::Section* const symbols = symbols_of(file);
  const tracee::Section* const strings = symbols == nullptr ? nullptr : names_of(file, *symbols);
  if (strings == nullptr || number >= symbols->bytes / sizeof(Elf64_Sym)) return false;
  Elf64_Sym symbol{};
  if (!file.read(symbols->offset + number * sizeof(Elf64_Sym),
                 std::as_writable_bytes(std::span(&symbol, 1))) ||
      !is_function(symbol) || symbol.st_value != address ||
      symbol.st_name + name.size() >= strings->bytes)
    return false;
  std::string text(name.size() + 1, '\1');
  return file.read(strings->offset + symbol.st_name, std::as_writable_bytes(std::span(text))) &&
         text.back() == '\0' && std::string_view(text).substr(0, name.size()) == name;
}

}  // namespace sojourn::symbols
