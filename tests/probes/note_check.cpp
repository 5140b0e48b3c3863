// Reads the points of an ELF file as a suspicious tracer does.
// Usage: sj-note-check usdt|rings|both FILE [DEAD_POINT]
// Prints one line a site, sorted and without repetitions: point|fields|sizes|source file
// Fails with one line if an engine's notes are missing or differ from the other's; if a site has
// not exactly one USDT note or is no executable nop; if operands, arguments and names differ in
// number; if a semaphore is not writable, not aligned or not the same for all sites of a name; if a
// ring note's id is no code, or its flag shares its pages with other data or takes space in the
// file. A site whose function the linker dropped is an error too, unless its point is DEAD_POINT.
#include <algorithm>
#include <cctype>
#include <iostream>
#include <map>
#include <regex>
#include <set>
#include <sstream>
#include <utility>

#include "elf_image.h"

namespace {

using namespace sojourn::test;

struct UsdtNote {
  std::uint64_t semaphore = 0;
  std::string name;
  std::vector<std::string> operands;
};

using Lines = std::set<std::string>;

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

// Counts the names of fields, with or without conversions; a name contains neither of the
// separators.
int count_names(std::string fields) {
  std::ranges::replace_if(fields, [](char c) { return c == ':' || c == '.'; }, ' ');
  std::istringstream names(fields);
  return static_cast<int>(std::distance(std::istream_iterator<std::string>(names),
                                        std::istream_iterator<std::string>()));
}

template <typename Fixed>
std::string line_of(const OwnNote<Fixed>& note, const std::string& sizes) {
  std::string line = note.point;
  for (const std::string& part : {note.fields, sizes, note.file}) line.append("|").append(part);
  return line;
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

Lines check_usdt(const ElfImage& elf, const std::string& dead_point) {
  auto by_site = usdt_notes(elf);
  Lines lines;
  std::map<std::string, std::uint64_t> semaphores;
  for (const auto& note : own_notes(elf, SJ_NOTE_POINT, &sj_note_point::site)) {
    if (!elf.is_nop(note.fixed.site)) {
      if (note.point == dead_point) continue;
      fail(note.point + ": its site is no executable nop");
    }
    if (by_site.count(note.fixed.site) != 1)
      fail(note.point + ": not exactly one USDT note for its site");
    const UsdtNote usdt = by_site.find(note.fixed.site)->second;
    by_site.erase(note.fixed.site);
    if (usdt.operands.size() != note.fixed.arguments ||
        count_names(note.fields) != note.fixed.arguments)
      fail(note.point + ": operands, arguments and names differ in number");
    if (usdt.name != expected_name(note.point, note.fixed.line))
      fail(note.point + ": is named " + usdt.name);
    // bpftrace raises only the first semaphore that it finds under a name.
    if (semaphores.emplace(usdt.name, usdt.semaphore).first->second != usdt.semaphore)
      fail(note.point + ": two sites of one name have two semaphores");
    if (!elf.is_writable(usdt.semaphore) || usdt.semaphore % 2 != 0)
      fail(note.point + ": its semaphore");
    lines.insert(line_of(note, sizes_of(usdt)));
  }
  for (const auto& [site, usdt] : by_site)
    if (elf.is_nop(site)) fail(usdt.name + ": a USDT note without a description");
  return lines;
}

void check_flags(const ElfImage& elf, const GElf_Shdr& flags) {
  if (flags.sh_type != SHT_NOBITS) fail("sj_flags takes space in the file");
  if (flags.sh_addr % elf.page_bytes() != 0 || flags.sh_size % elf.page_bytes() != 0)
    fail("sj_flags is not whole pages: what lies beside it would be shared too");
}

Lines check_rings(const ElfImage& elf, const std::string& dead_point) {
  const auto flags = elf.section("sj_flags");
  if (flags) check_flags(elf, *flags);
  Lines lines;
  std::set<std::uint32_t> ids;
  std::map<std::uint64_t, std::pair<std::string, std::uint32_t>> points_of_flags;
  for (const auto& note : own_notes(elf, SJ_NOTE_RING, &sj_note_ring::id)) {
    if (!elf.is_code(note.fixed.id)) {
      if (note.point == dead_point) continue;
      fail(note.point + ": its id is no address of code");
    }
    if (!ids.insert(static_cast<std::uint32_t>(note.fixed.id)).second)
      fail(note.point + ": two ring sites of one id");
    if (count_names(note.fields) != note.fixed.arguments)
      fail(note.point + ": arguments and names differ in number");
    const std::uint64_t flag = note.fixed.flag;
    if (!flags || flag % 2 != 0 || flag < flags->sh_addr || flag >= flags->sh_addr + flags->sh_size)
      fail(note.point + ": its flag is not in sj_flags");
    const std::pair point(note.point, note.fixed.line);
    if (points_of_flags.emplace(flag, point).first->second != point)
      fail(note.point + ": its flag is another point's too");
    std::string sizes;
    for (int i = 0; i < note.fixed.arguments; ++i)
      sizes.append(i == 0 ? "" : ",").append(std::to_string(note.fixed.size[i]));
    for (int i = note.fixed.arguments; i < SJ_POINT_MAX_ARGUMENTS; ++i)
      if (note.fixed.size[i] != 0) fail(note.point + ": the size of a value that it does not have");
    lines.insert(line_of(note, sizes));
  }
  return lines;
}

Lines check(const std::string& engines, const ElfImage& elf, const std::string& dead_point) {
  const Lines usdt = check_usdt(elf, dead_point);
  const Lines rings = check_rings(elf, dead_point);
  if (engines == "usdt" && !rings.empty()) fail("rings without having been asked for");
  if (engines == "rings" && !usdt.empty()) fail("USDT notes without having been asked for");
  if (engines == "both") {
    for (const auto& line : usdt)
      if (!rings.contains(line)) fail("only as USDT: " + line);
    for (const auto& line : rings)
      if (!usdt.contains(line)) fail("only in rings: " + line);
  }
  if (usdt.empty() && rings.empty()) fail("no points");
  return usdt.empty() ? rings : usdt;
}

}  // namespace

int main(int argc, char** argv) {
  if (argc < 3 || !std::set<std::string>{"usdt", "rings", "both"}.contains(argv[1])) {
    std::cerr << "usage: sj-note-check usdt|rings|both FILE [DEAD_POINT]\n";
    return 2;
  }
  try {
    const ElfImage elf(argv[2]);
    for (const auto& line : check(argv[1], elf, argc > 3 ? argv[3] : "")) std::cout << line << '\n';
  } catch (const std::exception& error) {
    std::cerr << argv[2] << ": " << error.what() << '\n';
    return 1;
  }
}
