#include "userspace/tracee/points.h"

#include <array>
#include <cstring>
#include <map>
#include <optional>
#include <tuple>
#include <unordered_map>
#include <utility>

#include <elf.h>
#include <sys/stat.h>

#include "userspace/base/fail_errno.h"
#include "userspace/tracee/elf_file.h"
#include "userspace/tracee/mapped_files.h"
#include "userspace/tracee/notes.h"
#include "userspace/tracee/operands.h"
#include "userspace/tracee/procfs.h"

namespace sojourn::tracee {

namespace {

// Removes the file from "FILE: reason", because it is a member of Unusable.
std::string without_prefix(std::string text, const std::string& file) {
  const std::string prefix = file + ": ";
  if (text.starts_with(prefix)) text.erase(0, prefix.size());
  return text;
}

// Returns whether the instruction at a site is the nop of a probe. It is read from the file,
// because another tracer may have put a breakpoint there in memory.
Result<bool> is_nop(const ElfFile& elf, std::uint64_t offset) {
  std::array<std::byte, 4> bytes{};
  const bool arm64 = elf.machine() == Machine::kArm64;
  SJ_CHECK(elf.read(offset, std::span(bytes).first(arm64 ? 4 : 1)));
  constexpr std::array<std::uint8_t, 4> kArm64Nop = {0x1f, 0x20, 0x03, 0xd5};
  constexpr std::uint8_t kX86Nop = 0x90;
  return arm64 ? std::memcmp(bytes.data(), kArm64Nop.data(), 4) == 0
               : std::to_integer<int>(bytes[0]) == kX86Nop;
}

class Collector {
 public:
  void unusable(std::string where, std::string why) {
    points_.unusable.push_back({std::move(where), std::move(why)});
  }

  void add_file(MappedFile file, std::span<const Mapping> mappings);

  Points take() && { return std::move(points_); }

 private:
  // One file while it is read.
  struct Context {
    const ElfFile& elf;
    const MappedFile& file;
    std::vector<std::uint64_t> biases;
  };

  void add_note(const Context& context, const UsdtNote& note, const SelfDescription& description,
                std::vector<Site>& sites);
  Result<Site> make_site(const Context& context, const UsdtNote& note,
                         const SelfDescription& description);
  void add_ring_note(const Context& context, const RingNote& note, std::vector<RingSite>& sites);
  Result<RingSite> make_ring_site(const Context& context, const RingNote& note);
  std::optional<RingSite> pass_over(const RingNote& note);
  Result<std::vector<sj_arg>> make_arguments(const Context& context, const UsdtNote& note) const;
  Result<model::PointId> intern(model::Point point);

  Points points_;
  std::map<std::tuple<std::string, std::string, std::string, std::string>,
           std::vector<model::PointId>>
      ids_;
};

Result<std::vector<sj_arg>> Collector::make_arguments(const Context& context,
                                                      const UsdtNote& note) const {
  const SymbolLookup symbols = [&](std::string_view name) -> Result<std::uint64_t> {
    SJ_TRY(address, context.elf.symbol(name));
    if (context.elf.fixed_address()) return address;
    if (context.biases.empty())
      return fail("the address of '{}' is known only while the program runs", name);
    if (context.biases.size() > 1)
      return fail("the file is loaded more than once, and so is '{}'", name);
    return address + context.biases.front();
  };
  return parse_operands(note.arguments, context.elf.machine(), symbols);
}

// Returns the id of an equal point, or a new one. One point may have many sites.
Result<model::PointId> Collector::intern(model::Point point) {
  auto& same_words = ids_[{std::string(1, model::letter(point.direction)) + point.src, point.dest,
                           model::format_fields(point), point.file}];
  for (const model::PointId id : same_words) {
    if (points_.schema.points[id] == point) return id;
  }
  if (points_.schema.points.size() == model::kMaxPoints)
    return fail("more than {} points", model::kMaxPoints);
  const auto id = static_cast<model::PointId>(points_.schema.points.size());
  points_.schema.points.push_back(std::move(point));
  same_words.push_back(id);
  return id;
}

Result<Site> Collector::make_site(const Context& context, const UsdtNote& note,
                                  const SelfDescription& description) {
  Site site;
  site.probe = note.probe();
  const auto offset = context.elf.file_offset(note.site, 1, PF_X);
  if (!offset) return fail("its site {:#x} is not in the file", note.site);
  site.offset = *offset;
  SJ_TRY(nop, is_nop(context.elf, site.offset));
  if (!nop)
    return fail("no nop at its site {:#x}: was the file changed after it was linked?", note.site);

  if (note.semaphore != 0) {
    const auto semaphore = context.elf.file_offset(note.semaphore, sizeof(std::uint16_t), PF_W);
    // The kernel's conditions for a reference counter.
    if (!semaphore || *semaphore % sizeof(std::uint16_t) != 0)
      return fail("its semaphore {:#x} is not in the file's writable data", note.semaphore);
    site.semaphore_offset = *semaphore;
  }

  SJ_TRY(args, make_arguments(context, note));
  site.args = std::move(args);
  SJ_TRY(point, model::parse_point(description.point_words, description.field_words));
  if (point.fields.size() != site.args.size() || description.arguments != site.args.size())
    return fail("it names {} fields but has {} operands", point.fields.size(), site.args.size());
  for (std::size_t index = 0; index < point.fields.size(); ++index) {
    point.fields[index].bytes = site.args[index].bytes;
    point.fields[index].is_signed = site.args[index].is_signed != 0;
  }
  point.file = context.file.name;
  if (points_.sites.size() == SJ_MAX_SITES) return fail("more than {} sites", SJ_MAX_SITES);
  SJ_TRY(id, intern(std::move(point)));
  site.point = id;
  return site;
}

void Collector::add_note(const Context& context, const UsdtNote& note,
                         const SelfDescription& description, std::vector<Site>& sites) {
  auto site = make_site(context, note, description);
  if (site) {
    sites.push_back(std::move(*site));
    return;
  }
  unusable(fmt::format("{} {}", context.file.name, note.probe()),
           fmt::format("{} ({}:{}): {}", printable(description.point_words),
                       printable(description.source_file), description.line,
                       without_prefix(site.error().text(), context.elf.name())));
}

Result<RingSite> Collector::make_ring_site(const Context& context, const RingNote& note) {
  const SelfDescription& description = note.description;
  SJ_TRY(point, model::parse_point(description.point_words, description.field_words));
  if (point.fields.size() != note.sizes.size())
    return fail("it names {} fields but has {} values", point.fields.size(), note.sizes.size());
  for (std::size_t index = 0; index < point.fields.size(); ++index) {
    const int size = note.sizes[index];
    point.fields[index].bytes = static_cast<std::uint8_t>(size < 0 ? -size : size);
    point.fields[index].is_signed = size < 0;
  }
  SJ_CHECK(model::check(point));
  point.file = context.file.name;
  if (points_.ring_sites.size() == SJ_MAX_SITES) return fail("more than {} sites", SJ_MAX_SITES);
  SJ_TRY(id, intern(std::move(point)));
  return RingSite{.id = description.site, .flag = note.flag, .point = id};
}

// The site of a point that is not valid: a program that records from its beginning on hits it as
// well, and skipping its records takes their length.
std::optional<RingSite> Collector::pass_over(const RingNote& note) {
  if (points_.left_out.size() == model::kMaxPoints) return std::nullopt;
  model::Point point;
  for (const int size : note.sizes) {
    const int bytes = size < 0 ? -size : size;
    if (bytes < 1 || bytes > 8) return std::nullopt;
    point.fields.push_back({.name = {}, .bytes = static_cast<std::uint8_t>(bytes)});
  }
  points_.left_out.push_back(std::move(point));
  return RingSite{.id = note.description.site,
                  .flag = note.flag,
                  .point = static_cast<model::PointId>(points_.left_out.size() - 1),
                  .is_wanted = false};
}

void Collector::add_ring_note(const Context& context, const RingNote& note,
                              std::vector<RingSite>& sites) {
  auto site = make_ring_site(context, note);
  if (site) {
    sites.push_back(*site);
    return;
  }
  if (const auto passed = pass_over(note)) sites.push_back(*passed);
  const SelfDescription& description = note.description;
  unusable(context.file.name,
           fmt::format("{} ({}:{}), in rings: {}", printable(description.point_words),
                       printable(description.source_file), description.line, site.error().text()));
}

void Collector::add_file(MappedFile file, std::span<const Mapping> mappings) {
  if (!ElfFile::has_magic(file.path)) return;
  const auto elf = ElfFile::open(file.path, file.name);
  if (!elf) return unusable(file.name, without_prefix(elf.error().text(), printable(file.name)));
  const auto notes = read_probe_notes(*elf);
  if (!notes) return unusable(file.name, without_prefix(notes.error().text(), elf->name()));
  for (const std::string& why : notes->malformed) unusable(file.name, why);
  if (elf->sections().empty() && notes->usdt.empty())
    unusable(file.name,
             "its section headers were stripped, without them no probes are found: use strip, not "
             "sstrip");

  const Context context{*elf, file, load_biases(*elf, mappings)};
  std::unordered_map<std::uint64_t, std::vector<const SelfDescription*>> descriptions;
  // Backwards, because entries are taken from the end, which so come in the file's order: if a
  // linker folded equal functions, several probes share a site.
  for (auto description = notes->descriptions.rbegin(); description != notes->descriptions.rend();
       ++description)
    descriptions[description->site].push_back(&*description);

  std::vector<Site> sites;
  for (const UsdtNote& note : notes->usdt) {
    auto& candidates = descriptions[note.noted_site];
    const SelfDescription* description = candidates.empty() ? nullptr : candidates.back();
    if (description != nullptr) candidates.pop_back();
    // Linkers drop functions but leave their notes behind, at addresses near 0.
    if (!elf->in_code(note.site)) continue;
    if (description != nullptr)
      add_note(context, note, *description, sites);
    else
      points_.foreign.push_back({file.name, note.probe(), note.arguments});
  }
  for (const SelfDescription& description : notes->descriptions) {
    auto& left = descriptions[description.site];
    if (left.empty() || !elf->in_code(description.site)) continue;
    left.clear();
    unusable(file.name,
             fmt::format("{}: no USDT note belongs to it", printable(description.point_words)));
  }
  std::vector<RingSite> ring_sites;
  for (const RingNote& note : notes->rings)
    if (elf->in_code(note.description.site)) add_ring_note(context, note, ring_sites);

  if (sites.empty() && ring_sites.empty()) return;
  if (!context.biases.empty()) file.load_bias = context.biases.front();
  for (RingSite& site : ring_sites) {
    site.file = points_.files.size();
    points_.ring_sites.push_back(site);
  }
  for (Site& site : sites) {
    site.file = points_.files.size();
    points_.sites.push_back(std::move(site));
  }
  points_.files.push_back(std::move(file));
}

}  // namespace

Result<Points> find_points(const Process& process) {
  SJ_TRY(executed, executed_files(process));
  Collector collector;
  for (Unusable& unusable : executed.unusable)
    collector.unusable(std::move(unusable.where), std::move(unusable.why));
  for (ExecutedFile& executed_file : executed.files)
    collector.add_file(std::move(executed_file.file), executed_file.mappings);
  if (!process.alive()) return fail("process {} has exited", process.title());
  return std::move(collector).take();
}

Result<Points> find_points_in_files(std::span<const std::string> paths) {
  Collector collector;
  for (const std::string& path : paths) {
    struct stat status{};
    if (stat(path.c_str(), &status) != 0) return fail_errno("open {}", path);
    // Among the files of a process an unreadable one is only listed; here the user named it, so it
    // is an error.
    if (auto elf = ElfFile::open(path, path); !elf) return std::unexpected(std::move(elf).error());
    collector.add_file(
        {.name = path, .path = path, .inode = status.st_ino, .device = status.st_dev}, {});
  }
  return std::move(collector).take();
}

Result<Points> find_points_in_file(const std::string& path) {
  return find_points_in_files(std::span(&path, 1));
}

}  // namespace sojourn::tracee
