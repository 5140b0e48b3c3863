// Looks at the points of an ELF file the way a suspicious tracer does.
// Usage: sj-note-check FILE [DEAD_POINT]
// Prints one line a site, sorted and without repetitions: point|fields|operand sizes|source file
// Fails with one line when a site has not exactly one USDT note or is no executable nop, when its
// operands, arguments and names differ in number, or when its semaphore is not writable, aligned
// and the same for all sites of a name. A site whose function the linker dropped is an error too,
// unless its point is DEAD_POINT.
#include <algorithm>
#include <cctype>
#include <cstdint>
#include <cstring>
#include <fstream>
#include <iostream>
#include <iterator>
#include <map>
#include <optional>
#include <regex>
#include <set>
#include <sstream>
#include <stdexcept>
#include <string>
#include <string_view>
#include <vector>

#include <gelf.h>
#include <libelf.h>

#include "sojourn/note_abi.h"

namespace {

using Bytes = std::string;

[[noreturn]] void fail(const std::string& what) {
  throw std::runtime_error(what);
}

struct Note {
  std::string name;
  std::uint32_t type = 0;
  Bytes descriptor;
};

struct UsdtNote {
  std::uint64_t semaphore = 0;
  std::string name;
  std::vector<std::string> operands;
};

class ElfImage {
 public:
  explicit ElfImage(const std::string& path) {
    std::ifstream file(path, std::ios::binary);
    if (!file) fail("cannot open");
    content_.assign(std::istreambuf_iterator<char>(file), {});
    elf_version(EV_CURRENT);
    elf_ = elf_memory(content_.data(), content_.size());
    if (elf_ == nullptr || elf_kind(elf_) != ELF_K_ELF) fail("not an ELF file");
    GElf_Ehdr header;
    gelf_getehdr(elf_, &header);
    machine_ = header.e_machine;
  }
  ElfImage(const ElfImage&) = delete;
  ElfImage& operator=(const ElfImage&) = delete;
  ~ElfImage() { elf_end(elf_); }

  // Of all sections of this name.
  std::vector<Note> notes(std::string_view section_name) const {
    std::vector<Note> notes;
    std::size_t names = 0;
    elf_getshdrstrndx(elf_, &names);
    for (Elf_Scn* section = elf_nextscn(elf_, nullptr); section != nullptr;
         section = elf_nextscn(elf_, section)) {
      GElf_Shdr header;
      gelf_getshdr(section, &header);
      if (elf_strptr(elf_, names, header.sh_name) != section_name) continue;
      if (header.sh_type != SHT_NOTE) fail("a note section of another type");
      Elf_Data* data = elf_getdata(section, nullptr);
      const auto* start = static_cast<const char*>(data->d_buf);
      GElf_Nhdr note;
      std::size_t name_at = 0, descriptor_at = 0;
      for (std::size_t at = 0; at < data->d_size;) {
        at = gelf_getnote(data, at, &note, &name_at, &descriptor_at);
        if (at == 0) fail("a broken note");
        notes.push_back({std::string(start + name_at), note.n_type,
                         Bytes(start + descriptor_at, note.n_descsz)});
      }
    }
    return notes;
  }

  bool is_nop(std::uint64_t address) const {
    const std::string_view nop = machine_ == EM_AARCH64 ? std::string_view("\x1f\x20\x03\xd5", 4)
                                                        : std::string_view("\x90", 1);
    const auto segment = segment_of(address, PF_X);
    if (!segment) return false;
    const std::uint64_t offset = address - segment->p_vaddr + segment->p_offset;
    return content_.substr(offset, nop.size()) == nop;
  }

  bool is_writable(std::uint64_t address) const { return segment_of(address, PF_W).has_value(); }

 private:
  std::optional<GElf_Phdr> segment_of(std::uint64_t address, std::uint32_t flag) const {
    std::size_t count = 0;
    elf_getphdrnum(elf_, &count);
    for (std::size_t i = 0; i < count; ++i) {
      GElf_Phdr segment;
      gelf_getphdr(elf_, static_cast<int>(i), &segment);
      if (segment.p_type == PT_LOAD && (segment.p_flags & flag) != 0 &&
          address >= segment.p_vaddr && address - segment.p_vaddr < segment.p_memsz) {
        return segment;
      }
    }
    return std::nullopt;
  }

  Bytes content_;
  Elf* elf_ = nullptr;
  unsigned machine_ = 0;
};

template <typename T>
T take(Bytes& bytes) {
  T value;
  if (bytes.size() < sizeof value) fail("a note is too short");
  std::memcpy(&value, bytes.data(), sizeof value);
  bytes.erase(0, sizeof value);
  return value;
}

std::string take_string(Bytes& bytes) {
  const auto end = bytes.find('\0');
  if (end == Bytes::npos) fail("a string in a note does not end");
  std::string text = bytes.substr(0, end);
  bytes.erase(0, end + 1);
  return text;
}

// An operand of arm64 holds a space: -4@[x0, 8]
std::vector<std::string> split_operands(const std::string& text) {
  static const std::regex form(R"(-?[1248]@(\[[^\]]+\]|[^ \[]+)( |$))");
  std::vector<std::string> operands;
  std::size_t length = 0;
  for (std::sregex_iterator match(text.begin(), text.end(), form), end; match != end; ++match) {
    operands.push_back(match->str());
    length += match->str().size();
  }
  if (length != text.size()) fail("operands " + text);
  return operands;
}

std::multimap<std::uint64_t, UsdtNote> usdt_notes(const ElfImage& elf) {
  std::multimap<std::uint64_t, UsdtNote> by_site;
  for (Note& note : elf.notes(".note.stapsdt")) {
    const auto site = take<std::uint64_t>(note.descriptor);
    take<std::uint64_t>(note.descriptor);  // the base, for prelinked files
    UsdtNote usdt;
    usdt.semaphore = take<std::uint64_t>(note.descriptor);
    if (take_string(note.descriptor) != "sojourn") continue;  // libc.a has probes of its own
    if (note.name != "stapsdt" || note.type != 3) fail("a USDT note of another kind");
    usdt.name = take_string(note.descriptor);
    usdt.operands = split_operands(take_string(note.descriptor));
    by_site.emplace(site, usdt);
  }
  return by_site;
}

int count_names(const std::string& fields) {
  std::string spaced = fields;
  std::replace_if(spaced.begin(), spaced.end(), [](char c) { return c == ':' || c == '.'; }, ' ');
  std::istringstream names(spaced);
  return static_cast<int>(std::distance(std::istream_iterator<std::string>(names),
                                        std::istream_iterator<std::string>()));
}

std::string expected_name(std::string point, std::uint32_t line) {
  std::replace_if(
      point.begin(), point.end(), [](unsigned char c) { return std::isalnum(c) == 0; }, '_');
  return point + "_L" + std::to_string(line);
}

std::string sizes_of(const UsdtNote& usdt) {
  std::string sizes;
  for (const auto& operand : usdt.operands) {
    if (!sizes.empty()) sizes += ',';
    sizes += operand.substr(0, operand.find('@'));
  }
  return sizes;
}

std::set<std::string> check(const ElfImage& elf, const std::string& dead_point) {
  auto by_site = usdt_notes(elf);
  std::set<std::string> lines;
  std::map<std::string, std::uint64_t> semaphores;
  for (Note& note : elf.notes(SJ_NOTE_SECTION)) {
    if (note.name == SJ_NOTE_NAME && note.type == SJ_NOTE_RING) continue;
    if (note.name != SJ_NOTE_NAME || note.type != SJ_NOTE_POINT) fail("a note of another kind");
    const auto head = take<sj_note_point>(note.descriptor);
    const std::string point = take_string(note.descriptor);
    const std::string fields = take_string(note.descriptor);
    const std::string file = take_string(note.descriptor);
    if (head.version != SJ_NOTE_VERSION) fail(point + ": another version");
    if (!elf.is_nop(head.site)) {
      if (point == dead_point) continue;
      fail(point + ": its site is no executable nop");
    }
    if (by_site.count(head.site) != 1) fail(point + ": not exactly one USDT note for its site");
    const UsdtNote usdt = by_site.find(head.site)->second;
    by_site.erase(head.site);
    if (usdt.operands.size() != head.arguments || count_names(fields) != head.arguments) {
      fail(point + ": operands, arguments and names differ in number");
    }
    if (usdt.name != expected_name(point, head.line)) fail(point + ": is named " + usdt.name);
    // bpftrace raises only the first semaphore that it finds under a name.
    if (semaphores.emplace(usdt.name, usdt.semaphore).first->second != usdt.semaphore) {
      fail(point + ": two sites of one name have two semaphores");
    }
    if (!elf.is_writable(usdt.semaphore) || usdt.semaphore % 2 != 0)
      fail(point + ": its semaphore");
    std::string line = point;
    for (const std::string& part : {fields, sizes_of(usdt), file}) line.append("|").append(part);
    lines.insert(line);
  }
  for (const auto& [site, usdt] : by_site) {
    if (elf.is_nop(site)) fail(usdt.name + ": a USDT note without a description");
  }
  return lines;
}

}  // namespace

int main(int argc, char** argv) {
  if (argc < 2) {
    std::cerr << "usage: sj-note-check FILE [DEAD_POINT]\n";
    return 2;
  }
  try {
    const ElfImage elf(argv[1]);
    const auto lines = check(elf, argc > 2 ? argv[2] : "");
    if (lines.empty()) fail("no points");
    for (const auto& line : lines) std::cout << line << '\n';
  } catch (const std::exception& error) {
    std::cerr << argv[1] << ": " << error.what() << '\n';
    return 1;
  }
}
