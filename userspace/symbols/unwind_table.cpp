#include "userspace/symbols/unwind_table.h"

#include <algorithm>
#include <cstddef>
#include <cstdlib>
#include <cstring>
#include <span>
#include <string_view>
#include <unordered_map>

#include <dwarf.h>
#include <elfutils/libdw.h>
#include <gelf.h>

namespace sojourn::symbols {

namespace {

constexpr std::size_t kMaxRanges = 4'000'000;
constexpr std::uint64_t kStackPointer = 7;   // DWARF's number of rsp
constexpr std::uint64_t kReturnAddress = 8;  // bytes, all that is on the stack at the entry
constexpr unsigned kFormat = 0x0f;           // of a pointer's encoding; DW_EH_PE_
constexpr unsigned kApplication = 0x70;

using Bytes = std::span<const unsigned char>;

// The section, and its address after loading.
struct Table {
  Elf_Data* data = nullptr;
  std::uint64_t address = 0;

  Bytes bytes() const { return {static_cast<const unsigned char*>(data->d_buf), data->d_size}; }
};

Table table_of(Elf* elf) {
  std::size_t names = 0;
  if (elf_getshdrstrndx(elf, &names) != 0) return {};
  for (Elf_Scn* section = nullptr; (section = elf_nextscn(elf, section)) != nullptr;) {
    GElf_Shdr header;
    if (gelf_getshdr(section, &header) == nullptr || header.sh_type == SHT_NOBITS) continue;
    const char* const name = elf_strptr(elf, names, header.sh_name);
    if (name != nullptr && std::string_view(name) == ".eh_frame")
      return {.data = elf_getdata(section, nullptr), .address = header.sh_addr};
  }
  return {};
}

std::size_t width_of(unsigned encoding) {
  switch (encoding & kFormat) {
    case DW_EH_PE_udata2:
    case DW_EH_PE_sdata2:
      return 2;
    case DW_EH_PE_udata4:
    case DW_EH_PE_sdata4:
      return 4;
    case DW_EH_PE_absptr:
    case DW_EH_PE_udata8:
    case DW_EH_PE_sdata8:
      return 8;
    default:
      return 0;
  }
}

// The encoding of addresses by a common entry; none: not known.
std::optional<unsigned> encoding_of(const Dwarf_CIE& common) {
  const std::string_view words =
      common.augmentation == nullptr ? std::string_view() : std::string_view(common.augmentation);
  if (!words.starts_with('z')) return words.empty() ? std::optional(0U) : std::nullopt;
  Bytes data(common.augmentation_data, common.augmentation_data_size);
  for (const char word : words.substr(1)) {
    if (word == 'S' || word == 'B') continue;
    if (data.empty()) return std::nullopt;
    const unsigned encoding = data.front();
    if (word == 'R') return encoding;
    const std::size_t taken = word == 'P' ? 1 + width_of(encoding) : 1;
    if ((word != 'P' && word != 'L') || taken > data.size()) return std::nullopt;
    data = data.subspan(taken);
  }
  return 0U;
}

// `at`: where in the table it is.
std::optional<std::uint64_t> number_at(const Table& table, std::size_t at, unsigned encoding) {
  const std::size_t width = width_of(encoding);
  const Bytes bytes = table.bytes();
  if (width < 4 || at > bytes.size() || width > bytes.size() - at) return std::nullopt;
  std::uint64_t value = 0;
  std::memcpy(&value, bytes.subspan(at, width).data(), width);
  if (width == 4 && (encoding & kFormat) == DW_EH_PE_sdata4)
    value = static_cast<std::uint64_t>(
        static_cast<std::int64_t>(static_cast<std::int32_t>(static_cast<std::uint32_t>(value))));
  return value;
}

std::optional<CodeRange> range_of(const Table& table, const Dwarf_FDE& entry, unsigned encoding) {
  const unsigned application = encoding & kApplication;
  if (application != DW_EH_PE_pcrel && application != DW_EH_PE_absptr) return std::nullopt;
  const auto at = static_cast<std::size_t>(entry.start - table.bytes().data());
  const auto begin = number_at(table, at, encoding);
  // The length is unsigned.
  const auto bytes =
      number_at(table, at + width_of(encoding),
                width_of(encoding) == 4 ? unsigned{DW_EH_PE_udata4} : unsigned{DW_EH_PE_udata8});
  if (!begin || !bytes || *bytes == 0) return std::nullopt;
  const std::uint64_t base = application == DW_EH_PE_pcrel ? table.address + at : 0;
  return CodeRange{base + *begin, *bytes};
}

std::vector<CodeRange> ranges_of(Elf* elf) {
  std::vector<CodeRange> ranges;
  const Table table = table_of(elf);
  const char* const ident = elf_getident(elf, nullptr);
  if (table.data == nullptr || table.data->d_buf == nullptr || ident == nullptr) return ranges;
  std::unordered_map<Dwarf_Off, std::optional<unsigned>> encodings;  // by common entry
  Dwarf_Off next = 0;
  for (Dwarf_Off at = 0; ranges.size() < kMaxRanges; at = next) {
    Dwarf_CFI_Entry entry;
    const int done = dwarf_next_cfi(reinterpret_cast<const unsigned char*>(ident), table.data, true,
                                    at, &next, &entry);
    if (done > 0 || next <= at) break;
    if (done < 0) continue;
    if (dwarf_cfi_cie_p(&entry)) {
      encodings[at] = encoding_of(entry.cie);
      continue;
    }
    const auto known = encodings.find(entry.fde.CIE_pointer);
    if (known == encodings.end() || !known->second) continue;
    if (const auto range = range_of(table, entry.fde, *known->second)) ranges.push_back(*range);
  }
  std::ranges::sort(ranges, {}, &CodeRange::address);
  return ranges;
}

struct FreeFrame {
  void operator()(Dwarf_Frame* frame) const { std::free(frame); }
};

}  // namespace

struct UnwindTable::State {
  struct EndElf {
    void operator()(Elf* open) const { elf_end(open); }
  };
  struct EndRows {
    void operator()(Dwarf_CFI* open) const { dwarf_cfi_end(open); }
  };
  std::unique_ptr<Elf, EndElf> elf;
  std::unique_ptr<Dwarf_CFI, EndRows> rows;
};

UnwindTable::UnwindTable(int fd) : state_(std::make_unique<State>()) {
  elf_version(EV_CURRENT);
  state_->elf.reset(elf_begin(fd, ELF_C_READ, nullptr));
  if (!state_->elf) return;
  state_->rows.reset(dwarf_getcfi_elf(state_->elf.get()));
  ranges_ = ranges_of(state_->elf.get());
}
UnwindTable::UnwindTable(UnwindTable&&) noexcept = default;
UnwindTable& UnwindTable::operator=(UnwindTable&&) noexcept = default;
UnwindTable::~UnwindTable() = default;

std::optional<CodeRange> UnwindTable::range_at(std::uint64_t address) const {
  const auto behind = std::ranges::upper_bound(ranges_, address, {}, &CodeRange::address);
  if (behind == ranges_.begin() || !std::prev(behind)->holds(address)) return std::nullopt;
  return *std::prev(behind);
}

bool UnwindTable::has_frame_at(std::uint64_t address) const {
  if (!state_->rows) return false;
  Dwarf_Frame* found = nullptr;
  if (dwarf_cfi_addrframe(state_->rows.get(), address, &found) != 0) return false;
  const std::unique_ptr<Dwarf_Frame, FreeFrame> frame(found);
  Dwarf_Op* steps = nullptr;
  std::size_t count = 0;
  if (dwarf_frame_cfa(frame.get(), &steps, &count) != 0 || count != 1 ||
      steps[0].atom != DW_OP_bregx)
    return false;
  return steps[0].number != kStackPointer || steps[0].number2 != kReturnAddress;
}

}  // namespace sojourn::symbols
