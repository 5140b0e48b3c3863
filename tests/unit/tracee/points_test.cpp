#include "userspace/tracee/points.h"

#include <algorithm>
#include <cstring>
#include <filesystem>
#include <map>
#include <set>

#include <catch2/catch_test_macros.hpp>
#include <catch2/generators/catch_generators_all.hpp>
#include <catch2/matchers/catch_matchers_string.hpp>
#include <dlfcn.h>
#include <elf.h>
#include <sojourn/point.h>
#include <unistd.h>

#include "subject.h"
#include "userspace/tracee/elf_file.h"

using namespace sojourn;
using namespace std::string_literals;
using Catch::Matchers::ContainsSubstring;
using tracee::Points;

namespace {

Points points_in(const std::string& path) {
  auto points = tracee::find_points_in_file(path);
  if (!points) FAIL(points.error().text());
  return std::move(*points);
}

Points points_of(pid_t pid) {
  const auto process = tracee::Process::open(pid);
  if (!process) FAIL(process.error().text());
  auto points = tracee::find_points(*process);
  if (!points) FAIL(points.error().text());
  return std::move(*points);
}

const model::Point* find(const Points& points, const std::string& name) {
  const auto found = std::ranges::find(points.schema.points, name, &model::Point::name);
  return found == points.schema.points.end() ? nullptr : &*found;
}

std::vector<tracee::Site> sites_of(const Points& points, const std::string& name) {
  const model::Point* point = find(points, name);
  REQUIRE(point != nullptr);
  const auto id = static_cast<model::PointId>(point - points.schema.points.data());
  std::vector<tracee::Site> sites;
  std::ranges::copy_if(points.sites, std::back_inserter(sites),
                       [&](const tracee::Site& site) { return site.point == id; });
  return sites;
}

// "len:2:+ rnti:4:-", name, width and sign of each field
std::string describe_fields(const model::Point& point) {
  std::string text;
  for (const model::Field& field : point.fields)
    text += fmt::format("{}{}:{}:{}", text.empty() ? "" : " ", field.name, field.bytes,
                        field.is_signed ? '-' : '+');
  return text;
}

void check_program(const Points& points, const std::string& file) {
  for (const tracee::Unusable& one : points.unusable) FAIL_CHECK(one.where << ": " << one.why);
  REQUIRE(points.schema.points.size() == 3);
  const model::Point* forked = find(points, "pdcp.tx--rlc.tx.am");
  REQUIRE(forked != nullptr);
  CHECK(forked->direction == model::Direction::kDownlink);
  CHECK(forked->file == file);
  CHECK(describe_fields(*forked) == "len:2:+ rnti:4:- psn:4:-");
  CHECK(forked->fields[0].role == model::Role::kProperty);
  CHECK(forked->fields[1].role == model::Role::kGlobal);
  CHECK(forked->fields[2].role == model::Role::kLocal);
  CHECK(sites_of(points, "pdcp.tx--rlc.tx.am").size() == 2);  // inlined twice, one point

  const model::Point* many = find(points, "mac.in--rlc.in");
  REQUIRE(many != nullptr);
  CHECK(many->direction == model::Direction::kUplink);
  CHECK(describe_fields(*many) ==
        "a:8:- b:8:- c:8:- d:8:- e:8:- rnti:1:+ f:8:- g:8:- h:8:- i:8:- j:8:-");
  CHECK(find(points, "mac.tick--mac.slot")->fields.empty());
}

// The conditions that the kernel has for every site.
void check_sites(const Points& points) {
  std::set<std::pair<std::size_t, std::uint64_t>> places;
  for (const tracee::Site& site : points.sites) {
    REQUIRE(site.file < points.files.size());
    REQUIRE(site.point < points.schema.points.size());
    const std::string content = test::contents(points.files[site.file].path);
    const auto elf = tracee::ElfFile::open(points.files[site.file].path, "subject");
    REQUIRE(elf);
    const std::string nop =
        elf->machine() == tracee::Machine::kX86_64 ? "\x90" : "\x1f\x20\x03\xd5";
    CHECK(content.substr(site.offset, nop.size()) == nop);
    REQUIRE(site.semaphore_offset != 0);
    CHECK(content.substr(site.semaphore_offset, 2) == std::string(2, '\0'));
    CHECK(site.semaphore_offset % 2 == 0);
    CHECK(site.args.size() == points.schema.points[site.point].fields.size());
    CHECK_THAT(site.probe, Catch::Matchers::StartsWith("sojourn:"));
    CHECK(places.insert({site.file, site.offset}).second);
  }
}

template <typename T>
void add_at(std::string& content, std::size_t offset, T delta) {
  T value;
  REQUIRE(offset + sizeof value <= content.size());
  std::memcpy(&value, content.data() + offset, sizeof value);
  value = static_cast<T>(value + delta);
  std::memcpy(content.data() + offset, &value, sizeof value);
}

template <typename T>
void set_at(std::string& content, std::size_t offset, T value) {
  REQUIRE(offset + sizeof value <= content.size());
  std::memcpy(content.data() + offset, &value, sizeof value);
}

// The offsets of the descriptors of all notes with this owner and type.
std::vector<std::size_t> descriptors(const std::string& content, const std::string& owner,
                                     std::uint32_t type) {
  std::vector<std::size_t> found;
  const std::string name = owner + '\0';
  for (std::size_t at = content.find(name); at != std::string::npos;
       at = content.find(name, at + 1)) {
    std::uint32_t size = 0;
    std::uint32_t kind = 0;
    std::memcpy(&size, content.data() + at - 12, 4);
    std::memcpy(&kind, content.data() + at - 4, 4);
    if (size == name.size() && kind == type) found.push_back(at + name.size());
  }
  return found;
}

constexpr std::uint32_t kUsdt = 3;
constexpr std::uint32_t kSelf = 1;

void drop_section_headers(std::string& content) {
  set_at<Elf64_Off>(content, offsetof(Elf64_Ehdr, e_shoff), 0);
  set_at<Elf64_Half>(content, offsetof(Elf64_Ehdr, e_shnum), 0);
  set_at<Elf64_Half>(content, offsetof(Elf64_Ehdr, e_shstrndx), 0);
}

[[gnu::noinline]] void own_point(int rnti) {
  SJ_POINT("D test.in--test.out", ":rnti:", rnti);
}

}  // namespace

TEST_CASE("all points are found however a program was built") {
  const std::string name =
      GENERATE("program-O0", "program-O2", "program-O2-no-pie", "program-O2-stripped",
               "program-O2-static", "program-O2-static-pie", "program-O2-gc", "program-clang-O0",
               "program-clang-O2", "program-arm64-O0", "program-arm64-O2");
  if (!subject::exists(name)) SKIP(name << " was not built: its compiler is not installed");
  CAPTURE(name);
  const std::string path = subject::path(name);
  const Points points = points_in(path);
  check_program(points, path);
  check_sites(points);
}

TEST_CASE("all points are found however a library was built") {
  const std::string name =
      GENERATE("library-O0.so", "library-O2.so", "library-O2-stripped.so", "library-arm64-O2.so");
  if (!subject::exists(name)) SKIP(name << " was not built: its compiler is not installed");
  CAPTURE(name);
  const Points points = points_in(subject::path(name));
  CHECK(points.unusable.empty());
  REQUIRE(find(points, "lib.in--lib.out") != nullptr);
  CHECK(describe_fields(*find(points, "lib.in--lib.out")) == "level:1:- rnti:4:-");
  check_sites(points);
}

TEST_CASE("a running program's points include those of a library that it loaded late") {
  const std::string program = GENERATE("program-O2", "program-O2-no-pie", "program-O2-stripped");
  CAPTURE(program);
  const subject::Running running({subject::path(program), subject::path("library-O2.so")});
  const Points points = points_of(running.pid());
  CHECK(points.files.size() == 2);
  CHECK(points.schema.points.size() == 4);
  if (program == "program-O2-no-pie") CHECK(points.files[0].load_bias == 0);
  const model::Point* late = find(points, "lib.in--lib.out");
  REQUIRE(late != nullptr);
  CHECK(late->file == std::filesystem::canonical(subject::path("library-O2.so")));
  check_sites(points);
}

TEST_CASE("a load bias converts an ELF address to the run-time address") {
  own_point(1);
  const Points points = points_of(getpid());
  const auto sites = sites_of(points, "test.in--test.out");
  REQUIRE(sites.size() == 1);
  const tracee::MappedFile& file = points.files[sites[0].file];
  CHECK(file.name == std::filesystem::canonical("/proc/self/exe"));
  Dl_info info;
  REQUIRE(dladdr(reinterpret_cast<void*>(&own_point), &info) != 0);
  const auto elf = tracee::ElfFile::open(file.path, file.name);
  REQUIRE(elf);
  // A program that runs where it was linked to is loaded at its first segment's address.
  const auto loaded_at = reinterpret_cast<std::uintptr_t>(info.dli_fbase);
  CHECK(file.load_bias == (elf->fixed_address() ? 0 : loaded_at));
}

TEST_CASE("a program that was deleted while it runs keeps its points") {
  const subject::TemporaryDirectory directory;
  const std::string path = directory.path("gnb");
  std::filesystem::copy_file(subject::path("program-O2"), path);
  const subject::Running running({path});
  std::filesystem::remove(path);
  const Points points = points_of(running.pid());
  check_program(points, path);
  check_sites(points);
  CHECK(points.files[0].deleted);
}

TEST_CASE("a program without points has none, and that is no error") {
  const Points points = points_in("/bin/true");
  CHECK(points.sites.empty());
  CHECK(points.schema.points.empty());
  CHECK(points.unusable.empty());
}

TEST_CASE("probes that do not describe themselves are foreign") {
  const subject::TemporaryDirectory directory;
  std::string content = test::contents(subject::path("tiny"));
  const auto selves = descriptors(content, "sojourn", kSelf);
  REQUIRE(selves.size() == 2);
  set_at<std::uint64_t>(content, selves[0] + 8, 0);  // its site: as if the linker had dropped it
  test::write_contents(directory.path("gnb"), content);
  const Points points = points_in(directory.path("gnb"));
  CHECK(points.sites.size() == 1);
  CHECK(points.unusable.empty());
  REQUIRE(points.foreign.size() == 1);
  CHECK_THAT(points.foreign[0].probe, Catch::Matchers::StartsWith("sojourn:"));
}

TEST_CASE("a site whose nop is gone is unusable, and the other one is not") {
  const subject::TemporaryDirectory directory;
  const std::string tiny = subject::path("tiny");
  const Points whole = points_in(tiny);
  REQUIRE(whole.sites.size() == 2);
  std::string content = test::contents(tiny);
  content[whole.sites[0].offset] = '\xcc';
  test::write_contents(directory.path("gnb"), content);
  const Points points = points_in(directory.path("gnb"));
  REQUIRE(points.sites.size() == 1);
  CHECK(points.sites[0].offset == whole.sites[1].offset);
  REQUIRE(points.unusable.size() == 1);
  CHECK_THAT(points.unusable[0].where, ContainsSubstring(directory.path("gnb")));
  CHECK_THAT(points.unusable[0].why, ContainsSubstring("no nop at its site"));
  CHECK_THAT(points.unusable[0].why, ContainsSubstring("tiny.c:"));
}

TEST_CASE("notes that a linker left behind near address 0 are dropped silently") {
  const subject::TemporaryDirectory directory;
  std::string content = test::contents(subject::path("tiny"));
  set_at<std::uint64_t>(content, descriptors(content, "stapsdt", kUsdt)[0], 0);
  set_at<std::uint64_t>(content, descriptors(content, "sojourn", kSelf)[0] + 8, 0);
  test::write_contents(directory.path("gnb"), content);
  const Points points = points_in(directory.path("gnb"));
  CHECK(points.sites.size() == 1);
  CHECK(points.unusable.empty());
  CHECK(points.foreign.empty());
}

TEST_CASE("a self-description of another version is refused, not guessed") {
  const subject::TemporaryDirectory directory;
  std::string content = test::contents(subject::path("tiny"));
  add_at<std::uint16_t>(content, descriptors(content, "sojourn", kSelf)[0], 1);
  test::write_contents(directory.path("gnb"), content);
  const Points points = points_in(directory.path("gnb"));
  CHECK(points.sites.size() == 1);
  REQUIRE(points.unusable.size() == 1);
  CHECK_THAT(points.unusable[0].why, ContainsSubstring("version 2"));
}

TEST_CASE("a point whose names and operands differ in number is unusable") {
  const subject::TemporaryDirectory directory;
  std::string content = test::contents(subject::path("tiny"));
  const std::size_t words = content.find("len:rnti:");
  REQUIRE(words != std::string::npos);
  content.replace(words, 9, "a.b:rnti:", 9);
  test::write_contents(directory.path("gnb"), content);
  const Points points = points_in(directory.path("gnb"));
  CHECK(points.sites.size() == 1);
  REQUIRE(points.unusable.size() == 1);
  CHECK_THAT(points.unusable[0].why, ContainsSubstring("it names 3 fields but has 2 operands"));
}

TEST_CASE("a semaphore outside of the file's writable data makes a point unusable") {
  const subject::TemporaryDirectory directory;
  std::string content = test::contents(subject::path("tiny"));
  const std::size_t note = descriptors(content, "stapsdt", kUsdt)[0];
  const std::uint64_t semaphore = GENERATE(0x10U, 0x400001U, 0xffff'ffff'ffff'fff0U);
  set_at<std::uint64_t>(content, note + 16, semaphore);
  test::write_contents(directory.path("gnb"), content);
  const Points points = points_in(directory.path("gnb"));
  CHECK(points.sites.size() == 1);
  REQUIRE(points.unusable.size() == 1);
  CHECK_THAT(points.unusable[0].why, ContainsSubstring("semaphore"));
}

TEST_CASE("a semaphore at an odd place, which the kernel refuses, makes a point unusable") {
  const subject::TemporaryDirectory directory;
  std::string content = test::contents(subject::path("tiny"));
  // One of the two points lies first in the writable data; a byte further still is inside of it.
  const auto notes = descriptors(content, "stapsdt", kUsdt);
  std::uint64_t first = UINT64_MAX;
  std::size_t lowest = 0;
  for (const std::size_t note : notes) {
    std::uint64_t semaphore = 0;
    std::memcpy(&semaphore, content.data() + note + 16, sizeof semaphore);
    if (semaphore < first) lowest = note;
    first = std::min(first, semaphore);
  }
  add_at<std::uint64_t>(content, lowest + 16, 1);
  test::write_contents(directory.path("gnb"), content);
  const Points points = points_in(directory.path("gnb"));
  CHECK(points.sites.size() == 1);
  REQUIRE(points.unusable.size() == 1);
  CHECK_THAT(points.unusable[0].why, ContainsSubstring("semaphore"));
}

TEST_CASE("a prelinked file's notes move along with its sections") {
  const subject::TemporaryDirectory directory;
  const Points original = points_in(subject::path("tiny"));
  std::string content = test::contents(subject::path("tiny"));
  // The notes' addresses from before prelink moved everything up by 0x10000.
  constexpr auto kBack = static_cast<std::uint64_t>(-0x10000);
  for (const std::size_t note : descriptors(content, "stapsdt", kUsdt)) {
    for (const std::size_t address : {0, 8, 16})
      add_at<std::uint64_t>(content, note + address, kBack);
  }
  for (const std::size_t note : descriptors(content, "sojourn", kSelf))
    add_at<std::uint64_t>(content, note + 8, kBack);
  test::write_contents(directory.path("gnb"), content);
  const Points moved = points_in(directory.path("gnb"));
  CHECK(moved.unusable.empty());
  REQUIRE(moved.sites.size() == original.sites.size());
  for (std::size_t index = 0; index < moved.sites.size(); ++index) {
    CHECK(moved.sites[index].offset == original.sites[index].offset);
    CHECK(moved.sites[index].semaphore_offset == original.sites[index].semaphore_offset);
  }
}

TEST_CASE("a file without section headers says why its points cannot be found") {
  const subject::TemporaryDirectory directory;
  std::string content = test::contents(subject::path("tiny"));
  drop_section_headers(content);
  test::write_contents(directory.path("gnb"), content);
  const Points points = points_in(directory.path("gnb"));
  CHECK(points.sites.empty());
  REQUIRE(points.unusable.size() == 1);
  CHECK_THAT(points.unusable[0].why, ContainsSubstring("section headers"));
}

TEST_CASE("in a file without section headers the notes of a loaded note segment count") {
  const subject::TemporaryDirectory directory;
  const std::string tiny = subject::path("tiny");
  std::string content = test::contents(tiny);
  const auto elf = tracee::ElfFile::open(tiny, "tiny");
  REQUIRE(elf);
  const tracee::Section* usdt = elf->section(".note.stapsdt");
  const tracee::Section* self = elf->section(".note.sojourn");
  REQUIRE(usdt != nullptr);
  REQUIRE(self != nullptr);
  const std::uint64_t begin = std::min(usdt->offset, self->offset);
  const std::uint64_t end = std::max(usdt->offset + usdt->bytes, self->offset + self->bytes);
  REQUIRE(end - begin == usdt->bytes + self->bytes);  // no gap between the two
  const auto stack =
      std::ranges::find(elf->segments(), std::uint32_t{PT_GNU_STACK}, &tracee::Segment::type);
  REQUIRE(stack != elf->segments().end());
  const auto index = static_cast<std::size_t>(stack - elf->segments().begin());
  const Elf64_Phdr notes{.p_type = PT_NOTE,
                         .p_flags = PF_R,
                         .p_offset = begin,
                         .p_vaddr = 0,
                         .p_paddr = 0,
                         .p_filesz = end - begin,
                         .p_memsz = end - begin,
                         .p_align = 4};
  Elf64_Ehdr header;
  std::memcpy(&header, content.data(), sizeof header);
  set_at(content, header.e_phoff + index * sizeof notes, notes);
  drop_section_headers(content);
  test::write_contents(directory.path("gnb"), content);

  const Points points = points_in(directory.path("gnb"));
  CHECK(points.unusable.empty());
  CHECK(points.sites.size() == 2);
}

TEST_CASE(
    "a program instrumented for LatSeq has its points, and LatSeq's unusable ones have the "
    "reason") {
  const auto build = GENERATE("latseq", "latseq-static-stripped", "latseq-dropped");
  INFO(build);
  if (!subject::exists(build)) SKIP("ld.lld is not installed");
  const Points points = points_in(subject::path(build));
  const auto check_point = [&](const char* name, char direction, const char* words,
                               const char* fields) {
    const model::Point* point = find(points, name);
    INFO(name);
    REQUIRE(point != nullptr);
    CHECK(model::letter(point->direction) == direction);
    CHECK(model::format_fields(*point) == words);
    CHECK(describe_fields(*point) == fields);
  };
  check_point("pdcp.tx--rlc.tx.am", 'D', "len:rnti:drb.psn", "len:4:- rnti:2:+ drb:1:+ psn:4:+");
  check_point("mac.demux--rlc.rx.am", 'U', "len::drb", "len:4:- drb:1:+");
  check_point("rlc.am.txbuf", 'I', "occ:drb:", "occ:8:- drb:1:+");
  check_point("mac.harq.down--", 'D', "rnti::", "rnti:2:+");
  check_point("rlc.rx.am--pdcp.rx", 'U', "len:rnti:drb.psn.psn",
              "len:4:- rnti:2:+ drb:1:+ psn:4:+ psn:4:+");
  check_point("conversions--wide", 'U', "zu:llx.llu.u64.p:pad",
              "zu:8:+ llx:8:+ llu:8:+ u64:8:+ p:8:+ pad:2:+");
  CHECK(find(points, "counts--sixteen")->fields.size() == 16);
  CHECK((find(points, "dropped--never") != nullptr) == (build != "latseq-dropped"s));

  REQUIRE(points.unusable.size() == 2);
  const auto why = [&](const char* where) {
    return std::ranges::find_if(points.unusable,
                                [&](const auto& one) { return one.where.contains(where); })
        ->why;
  };
  CHECK_THAT(why("S_rdtsc"), ContainsSubstring("fields \"%lu\": a field has no name"));
  CHECK_THAT(why("full2_D"), ContainsSubstring("point \"full2 D\": does not begin with"));
}

TEST_CASE("a file that is not there, or no program, is an error that names it") {
  const auto missing = tracee::find_points_in_file("/no/such/program");
  REQUIRE_FALSE(missing);
  CHECK_THAT(missing.error().text(),
             ContainsSubstring("/no/such/program: No such file or directory"));
  const auto text = tracee::find_points_in_file("/proc/self/status");
  REQUIRE_FALSE(text);
  CHECK_THAT(text.error().text(), ContainsSubstring("/proc/self/status"));
}
