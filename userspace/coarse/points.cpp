#include "userspace/coarse/points.h"

#include <algorithm>
#include <optional>
#include <utility>

#include <elf.h>
#include <fmt/ranges.h>
#include <fnmatch.h>
#include <sys/stat.h>

#include "analysis/model/links.h"
#include "analysis/model/unread.h"
#include "userspace/base/words.h"
#include "userspace/coarse/data_path.h"
#include "userspace/coarse/debug_file.h"
#include "userspace/coarse/function_names.h"
#include "userspace/coarse/function_search.h"
#include "userspace/coarse/prologue.h"
#include "userspace/coarse/suggest.h"
#include "userspace/target/elf_file.h"
#include "userspace/target/mapped_files.h"
#include "userspace/target/points.h"
#include "userspace/target/procfs.h"

namespace sojourn::coarse {

namespace {

using target::printable;

// Longer code is decoded only in its beginning.
constexpr std::uint64_t kMostCode = 1 << 20;
constexpr std::uint64_t kBeginning = 4096;
constexpr std::size_t kLongestName = 200;

// "libmac.so:0x1f40"
struct AddressName {
  std::string library;
  std::uint64_t address = 0;
};

std::optional<AddressName> address_name(std::string_view function) {
  const std::size_t colon = function.rfind(":0x");
  if (colon == std::string_view::npos || colon == 0) return std::nullopt;
  const auto address = target::parse_number(function.substr(colon + 3), 16);
  if (!address) return std::nullopt;
  return AddressName{std::string(function.substr(0, colon)), *address};
}

bool is_named(const std::string& file, const std::string& glob) {
  const std::string base = file.substr(file.rfind('/') + 1);
  return fnmatch(glob.c_str(), file.c_str(), 0) == 0 || fnmatch(glob.c_str(), base.c_str(), 0) == 0;
}

bool reads_memory(const Lowered& lowered) {
  const auto reads = [](const sj_step& step) { return step.bytes != 0; };
  return lowered.arg.kind == SJ_ARG_MEMORY ||
         std::ranges::any_of(lowered.chains, [&](const sj_chain& chain) {
           return std::ranges::any_of(chain.step, reads);
         });
}

// A function's name as the name of a point's place.
std::string place_name(const std::string& shown) {
  std::string name = printable(without_parameters(shown)).substr(0, kLongestName);
  std::ranges::replace(name, ' ', '_');
  for (auto at = name.find("--"); at != std::string::npos; at = name.find("--"))
    name.replace(at, 2, "__");
  return name;
}

// One point of a map, and what the files have told of it so far.
struct Wanted {
  const Map* map = nullptr;
  const MapPoint* point = nullptr;
  std::optional<AddressName> address;
  std::size_t places = 0;  // functions that were found, with or without room for a probe
  std::size_t files = 0;   // that it may be in
  std::vector<std::string> near = {};
  bool needs_calls = false;
  std::size_t guesses = 0;  // instead of a name: so many that look like a data path
};

// The variables of the point's expressions, in the order of its fields.
std::vector<std::string> variables_of(const MapPoint& point) {
  std::vector<std::string> variables;
  for (const MapField& field : point.fields)
    if (!field.expression.variable.empty()) variables.push_back(field.expression.variable);
  return variables;
}

class Collector {
 public:
  Collector(Found& found, std::span<const Map> maps, const Options& options)
      : found_(found), options_(options) {
    const bool needs_calls = std::ranges::any_of(maps, &Map::needs_calls);
    for (const Map& map : maps)
      for (const MapPoint& point : map.points)
        wanted_.push_back({.map = &map,
                           .point = &point,
                           .address = address_name(point.function),
                           .needs_calls = needs_calls});
  }

  void add_file(target::MappedFile file, std::span<const target::Mapping> mappings);
  void tell_missing();
  // Instead of what the maps say: so many functions of each file.
  void guess(std::size_t most) {
    for (Wanted& one : wanted_) one.guesses = most;
  }

 private:
  // One file while it is read.
  struct Context {
    const target::ElfFile& elf;
    const target::MappedFile& file;
  };

  void unusable(const Wanted& wanted, std::string why) {
    found_.points.unusable.push_back(
        {printable(wanted.map->at(wanted.point->place)), std::move(why)});
  }

  void take_result(const Context& context, Wanted& wanted, SearchResult& result);
  void tell_inlined(const Context& context, const Wanted& wanted, const SearchResult& result);
  void take_function(const Context& context, Wanted& wanted, const FoundFunction& function);
  Result<void> make_site(const Context& context, const Wanted& wanted,
                         const FoundFunction& function);
  static Result<ProbeSite> choose_place(const Context& context, const FoundFunction& function,
                                        std::span<const Start> starts);
  Result<model::PointId> intern(model::Point point);
  std::size_t file_index(const target::MappedFile& file);

  Found& found_;
  const Options& options_;
  std::vector<Wanted> wanted_;
};

Result<model::PointId> Collector::intern(model::Point point) {
  auto& points = found_.points.schema.points;
  const auto known = std::ranges::find(points, point);
  const auto id = static_cast<std::size_t>(known - points.begin());
  if (id == model::kMaxPoints) return fail("more than {} points", model::kMaxPoints);
  if (known == points.end()) points.push_back(std::move(point));
  return static_cast<model::PointId>(id);
}

// Among the points' files.
std::size_t Collector::file_index(const target::MappedFile& file) {
  auto& files = found_.points.files;
  const auto known = std::ranges::find_if(files, [&](const target::MappedFile& one) {
    return one.inode == file.inode && one.device == file.device;
  });
  const auto index = static_cast<std::size_t>(known - files.begin());
  if (known == files.end()) files.push_back(file);
  return index;
}

Result<std::vector<std::byte>> read_code(const target::ElfFile& elf, CodeRange code) {
  const auto offset = elf.file_offset(code.address, code.bytes, PF_X);
  if (!offset) return fail("its code at {:#x} is not in the file", code.address);
  std::vector<std::byte> bytes(code.bytes);
  SJ_CHECK(elf.read(*offset, bytes));
  return bytes;
}

// Of each field that is read at the hit.
Result<std::vector<Start>> starts_of(const MapPoint& point, const FoundFunction& function) {
  std::vector<Start> starts;
  std::size_t variable = 0;
  for (const MapField& field : point.fields) {
    if (field.is_inherited) continue;
    if (field.expression.variable.empty()) {
      starts.push_back(start_of_argument(field.expression.argument));
      continue;
    }
    const FoundVariable& found = function.variables.at(variable++);
    if (!found.why_not.empty()) return fail("{}: {}", field.name, printable(found.why_not));
    starts.push_back(found.start);
  }
  return starts;
}

Result<ProbeSite> Collector::choose_place(const Context& context, const FoundFunction& function,
                                          std::span<const Start> starts) {
  CodeRange range = function.code;
  const bool is_whole = range.bytes != 0 && range.bytes <= kMostCode;
  // Up to the end of the segment, which may be nearer.
  if (!is_whole) range.bytes = kBeginning;
  while (!is_whole && range.bytes > 1 && !context.elf.file_offset(range.address, range.bytes, PF_X))
    range.bytes /= 2;
  SJ_TRY(bytes, read_code(context.elf, range));
  FunctionCode code{.address = range.address, .bytes = bytes, .is_whole = is_whole};
  for (const CodeRange& piece : function.pieces) {
    bool is_complete = false;
    const auto of_piece =
        piece.bytes <= kMostCode ? read_code(context.elf, piece) : fail("it is too long");
    if (of_piece) code.entered_at = jump_targets(*of_piece, piece.address, is_complete);
    if (!is_complete) code.is_whole = false;
  }
  std::uint32_t registers = 0;
  bool wants_stack = false;
  for (const Start& start : starts) {
    registers |= 1U << start.base;
    wants_stack = wants_stack || start.base == kStackPointer;
  }
  return find_site(code, registers, wants_stack);
}

sj_arg constant(std::int64_t value, std::uint8_t bytes) {
  return {.displacement = value,
          .kind = SJ_ARG_CONST,
          .base = SJ_NO_REG,
          .index = SJ_NO_REG,
          .shift = 0,
          .bytes = bytes,
          .is_signed = 0,
          .low_bit = 0,
          .number = 0};
}

void add_value(Lowered value, std::string name, model::Role role, model::Point& point,
               target::Site& site) {
  point.fields.push_back({.name = std::move(name),
                          .role = role,
                          .bytes = value.arg.bytes,
                          .is_signed = value.arg.is_signed != 0});
  if (value.arg.kind == SJ_ARG_CHAIN)
    value.arg.displacement = static_cast<std::int64_t>(site.chains.size());
  site.args.push_back(value.arg);
  site.chains.insert(site.chains.end(), value.chains.begin(), value.chains.end());
}

void add_tests(const MapPoint& mapped, target::Site& site) {
  for (const MapCondition& condition : mapped.conditions)
    site.tests.push_back({.low = condition.number,
                          .width = 0,
                          .arg = static_cast<std::uint8_t>(condition.field),
                          .is_negated = condition.is_equal ? std::uint8_t{0} : std::uint8_t{1},
                          .other = condition.other ? static_cast<std::uint8_t>(*condition.other)
                                                   : std::uint8_t{SJ_NO_ARG},
                          .pad = {}});
}

// What links::Resolver is to know of a hit.
Result<void> add_helpers(const Wanted& wanted, const ProbeSite& place, model::Point& point,
                         target::Site& site) {
  const auto add_constant = [&](std::string name, model::Role role, auto value) {
    const auto number = static_cast<std::int64_t>(value);
    point.fields.push_back({.name = std::move(name), .role = role});
    site.args.push_back(constant(number, 8));
  };
  for (const MapLink& link : wanted.point->links)
    add_constant(model::link_field(link.how, link.place), model::Role::kLocal, link.end);
  for (const MapLife& life : wanted.point->lives)
    add_constant(std::string(model::kLifePrefix) + life.field, model::Role::kProperty, life.what);
  for (const MapField& field : wanted.point->fields)
    if (field.is_inherited)
      add_constant(std::string(model::kInheritedPrefix) + field.name, model::Role::kProperty, 1);
  if (!wanted.needs_calls) return {};
  const Start start{.base = kStackPointer, .steps = {only_add(0)}};
  SJ_TRY(stack, lower({}, start, place.stack_bytes));
  add_value(std::move(stack), std::string(model::kStackPointerField), model::Role::kProperty, point,
            site);
  return {};
}

Result<void> Collector::make_site(const Context& context, const Wanted& wanted,
                                  const FoundFunction& function) {
  const MapPoint& mapped = *wanted.point;
  const bool counts_arguments = std::ranges::any_of(mapped.fields, [](const MapField& field) {
    return !field.is_inherited && field.expression.variable.empty();
  });
  if (function.is_changed_clone && counts_arguments && mapped.function != function.linked)
    return fail(
        "a clone whose arguments the compiler may have changed: name it as '{}' if they "
        "are right",
        printable(function.linked));
  SJ_TRY(starts, starts_of(mapped, function));
  SJ_TRY(place, choose_place(context, function, starts));
  if (place.is_stepped && !options_.takes_slow_sites)
    return fail(
        "its best place for a probe, '{}' at +{:#x}, costs the target a single step at each "
        "hit, 10 us and more in a virtual machine: --allow-slow-sites takes it",
        place.instruction, place.offset);

  target::Site site;
  model::Point point{.direction = mapped.direction,
                     .src = mapped.src.empty() ? place_name(function.shown) : mapped.src,
                     .dest = mapped.dest,
                     .fields = {},
                     .file = context.file.name};
  bool can_fail = false;
  auto start = starts.begin();
  for (const MapField& field : mapped.fields) {
    if (field.is_inherited) {
      point.fields.push_back({.name = field.name, .role = field.role});
      site.args.push_back(constant(0, 8));
      can_fail = true;  // where no call around it has one
      continue;
    }
    auto lowered = lower(field.expression, *start++, place.stack_bytes);
    if (!lowered) return std::unexpected(std::move(lowered).error().within(field.name));
    can_fail = can_fail || reads_memory(*lowered);
    add_value(std::move(*lowered), field.name, field.role, point, site);
  }
  SJ_CHECK(add_helpers(wanted, place, point, site));
  add_tests(mapped, site);
  if (can_fail) {
    point.fields.push_back({.name = std::string(model::kUnreadField), .bytes = 2});
    site.args.push_back({.displacement = 0,
                         .kind = SJ_ARG_FAULTS,
                         .base = SJ_NO_REG,
                         .index = SJ_NO_REG,
                         .shift = 0,
                         .bytes = 2,
                         .is_signed = 0,
                         .low_bit = 0,
                         .number = 0});
  }
  if (site.args.size() > SJ_MAX_ARGS)
    return fail("{} values, with those that links take: at most {} can be read", site.args.size(),
                SJ_MAX_ARGS);
  SJ_CHECK(model::check(point));
  if (found_.points.sites.size() == SJ_MAX_SITES) return fail("more than {} sites", SJ_MAX_SITES);
  const auto offset = context.elf.file_offset(function.code.address + place.offset, 1, PF_X);
  if (!offset) return fail("its code at {:#x} is not in the file", function.code.address);
  SJ_TRY(id, intern(std::move(point)));
  site.file = file_index(context.file);
  site.offset = *offset;
  site.point = id;
  site.is_stepped = place.is_stepped;
  const std::string shown = printable(function.shown);
  site.probe = fmt::format("{}+{:#x}", shown, place.offset);
  found_.mapped.push_back({.site = found_.points.sites.size(),
                           .function = shown,
                           .offset = place.offset,
                           .instruction = place.instruction,
                           .folded = function.folded});
  found_.points.sites.push_back(std::move(site));
  return {};
}

void Collector::take_function(const Context& context, Wanted& wanted,
                              const FoundFunction& function) {
  ++wanted.places;
  const auto made = make_site(context, wanted, function);
  if (!made)
    unusable(wanted, fmt::format("{} in {}: {}", printable(function.shown),
                                 printable(context.file.name), made.error().text()));
}

// Its calls there are not seen.
void Collector::tell_inlined(const Context& context, const Wanted& wanted,
                             const SearchResult& result) {
  unusable(wanted, fmt::format("calls of '{}' in {}: it is inlined in {}, such as in {}",
                               wanted.point->function, printable(context.file.name),
                               base::counted(result.inlined, "place"),
                               printable(fmt::format("{}", fmt::join(result.inlined_into, ", ")))));
}

void Collector::take_result(const Context& context, Wanted& wanted, SearchResult& result) {
  if (!result.ambiguous.empty()) {
    ++wanted.places;
    unusable(wanted,
             fmt::format("'{}' may be any of several functions of {}: {}; say which, with its "
                         "parameters, or give a glob for all of them",
                         wanted.point->function, printable(context.file.name),
                         printable(fmt::format("{}", fmt::join(result.ambiguous, ", ")))));
    return;
  }
  for (FoundFunction& function : result.functions) {
    if (wanted.address) function.shown = wanted.point->function;
    if (context.elf.in_code(function.code.address)) {
      take_function(context, wanted, function);
      continue;
    }
    ++wanted.places;
    unusable(wanted, fmt::format("there is no code at {:#x} of {}", function.code.address,
                                 printable(context.file.name)));
  }
  if (result.inlined != 0) {
    ++wanted.places;
    tell_inlined(context, wanted, result);
  }
  if (wanted.near.empty()) wanted.near = std::move(result.near);
}

void Collector::add_file(target::MappedFile file, std::span<const target::Mapping> mappings) {
  std::vector<Wanted*> asked;
  for (Wanted& one : wanted_) {
    const std::string& glob = one.address ? one.address->library : one.point->library;
    if (one.guesses != 0 && is_of_toolchain(file.name)) continue;
    if (glob.empty() || is_named(file.name, glob)) asked.push_back(&one);
  }
  if (asked.empty() || !target::ElfFile::has_magic(file.path)) return;
  const auto elf = target::ElfFile::open(file.path, file.name);
  if (!elf || elf->machine() != target::Machine::kX86_64) return;
  if (const auto biases = load_biases(*elf, mappings); !biases.empty())
    file.load_bias = biases.front();
  const auto debug = find_debug_file(*elf, file);
  Context context{.elf = *elf, .file = file};
  std::vector<Query> queries;
  for (Wanted* one : asked) {
    ++one->files;
    queries.push_back(
        {.pattern = one->point->function,
         .address = one->address ? std::optional(one->address->address) : std::nullopt,
         .variables = variables_of(*one->point),
         .guesses = one->guesses});
  }
  auto results = find_functions(*elf, debug ? &*debug : nullptr, queries);
  if (!results) {
    found_.points.unusable.push_back({printable(file.name), results.error().text()});
    return;
  }
  for (std::size_t at = 0; at < asked.size(); ++at)
    take_result(context, *asked[at], (*results)[at]);
}

void Collector::tell_missing() {
  for (const Wanted& one : wanted_) {
    if (one.places != 0) continue;
    const std::string& glob = one.address ? one.address->library : one.point->library;
    if (one.files == 0) {
      unusable(one, glob.empty() ? "there is no file of x86-64 to look into"
                                 : fmt::format("no file named '{}' is executed", glob));
      continue;
    }
    unusable(one, fmt::format("no function '{}' in {}{}", one.point->function,
                              base::counted(one.files, "file"),
                              one.near.empty()
                                  ? ": is it stripped, or was the function inlined everywhere?"
                                  : printable(fmt::format(", but {}", fmt::join(one.near, ", ")))));
  }
}

}  // namespace

Result<Found> find_points(const target::Process& process, std::span<const Map> maps,
                          const Options& options) {
  Found found;
  SJ_TRY(points, target::find_points(process));
  found.points = std::move(points);
  SJ_TRY(executed, target::executed_files(process));
  Collector collector(found, maps, options);
  for (target::ExecutedFile& one : executed.files)
    collector.add_file(std::move(one.file), one.mappings);
  collector.tell_missing();
  if (!process.alive()) return fail("process {} has exited", process.title());
  return found;
}

Result<Found> find_guesses(const target::Process& process, std::size_t most) {
  const Map map{.path = "suggestions", .about = {}, .points = {MapPoint{}}};
  const Options options;
  Found found;
  SJ_TRY(executed, target::executed_files(process));
  Collector collector(found, std::span(&map, 1), options);
  collector.guess(most);
  for (target::ExecutedFile& one : executed.files)
    collector.add_file(std::move(one.file), one.mappings);
  if (!process.alive()) return fail("process {} has exited", process.title());
  return found;
}

Result<Found> find_points_in_files(std::span<const std::string> paths, std::span<const Map> maps,
                                   const Options& options) {
  Found found;
  SJ_TRY(points, target::find_points_in_files(paths));
  found.points = std::move(points);
  Collector collector(found, maps, options);
  for (const std::string& path : paths) {
    struct stat status{};
    if (stat(path.c_str(), &status) != 0) return fail_errno("open {}", path);
    collector.add_file(
        {.name = path, .path = path, .inode = status.st_ino, .device = status.st_dev}, {});
  }
  collector.tell_missing();
  return found;
}

}  // namespace sojourn::coarse
