#include "userspace/coarse/mapped_points.h"

#include <algorithm>
#include <optional>
#include <set>
#include <utility>

#include <fmt/ranges.h>
#include <fnmatch.h>
#include <sys/stat.h>

#include "userspace/base/count_text.h"
#include "userspace/base/fail_errno.h"
#include "userspace/coarse/code/return_safety.h"
#include "userspace/coarse/debug/debug_file.h"
#include "userspace/coarse/functions/call_search.h"
#include "userspace/coarse/functions/data_path.h"
#include "userspace/coarse/functions/function_names.h"
#include "userspace/coarse/functions/function_search.h"
#include "userspace/coarse/path_gaps.h"
#include "userspace/coarse/release_marks.h"
#include "userspace/coarse/site_maker.h"
#include "userspace/tracee/elf_file.h"
#include "userspace/tracee/mapped_files.h"
#include "userspace/tracee/points.h"
#include "userspace/tracee/procfs.h"

namespace sojourn::coarse {

namespace {

using tracee::printable;

// "libmac.so:0x1f40"
struct AddressName {
  std::string library;
  std::uint64_t address = 0;
};

std::optional<AddressName> address_name(std::string_view function) {
  const std::size_t colon = function.rfind(":0x");
  if (colon == std::string_view::npos || colon == 0) return std::nullopt;
  const auto address = tracee::parse_number(function.substr(colon + 3), 16);
  if (!address) return std::nullopt;
  return AddressName{std::string(function.substr(0, colon)), *address};
}

bool is_named(const std::string& file, const std::string& glob) {
  const std::string base = file.substr(file.rfind('/') + 1);
  return fnmatch(glob.c_str(), file.c_str(), 0) == 0 || fnmatch(glob.c_str(), base.c_str(), 0) == 0;
}

// One point of a map, and the findings about it in the files so far.
struct Wanted {
  const Map* map = nullptr;
  const MapPoint* point = nullptr;
  const MapPoint* end = nullptr;  // the end of a span that begins with the point
  std::optional<AddressName> address;
  std::size_t places = 0;  // functions that were found, with or without room for a probe
  std::size_t files = 0;   // files that may have it
  std::size_t sites = 0;   // probes that it got
  std::size_t unread = 0;  // files whose functions could not be read
  std::vector<std::string> near = {};
  bool is_left_out = false;  // it is no point of this release
  // No name is given: the number of functions to find that look like a data path.
  std::size_t guesses = 0;
};

// A point of a function that has no cheap place: its callers have, wherever they are.
struct Called {
  std::size_t wanted = 0;
  FoundFunction function;
  tracee::MappedFile home;
  std::string why_not;  // it was refused for
};

// The variables of the point's expressions, in the order of its fields. Debug information does not
// place them at a function's exit.
std::vector<std::string> variables_of(const MapPoint& point) {
  std::vector<std::string> variables;
  if (point.is_exit) return variables;
  for (const MapField& field : point.fields)
    if (!field.expression.variable.empty()) variables.push_back(field.expression.variable);
  return variables;
}

class Collector {
 public:
  // `no_return_probes`: the reason why the process can have none, or an empty text.
  Collector(FoundPoints& found, std::span<const Map> maps, const Options& options,
            std::string no_return_probes)
      : found_(found),
        settings_{.options = options,
                  .needs_calls = std::ranges::any_of(maps, &Map::needs_calls),
                  .no_return_probes = std::move(no_return_probes)},
        marks_(maps) {
    for (const Map& map : maps)
      for (std::size_t at = 0; at < map.points.size(); ++at) {
        const MapPoint& point = map.points[at];
        if (point.part == SpanPart::kSpanEnd) continue;
        wanted_.push_back(
            {.map = &map,
             .point = &point,
             .end = point.part == SpanPart::kSpanBegin ? &map.points.at(at + 1) : nullptr,
             .address = address_name(point.function)});
      }
  }

  void add_file(tracee::MappedFile file, std::span<const tracee::Mapping> mappings);
  // When all files have been added.
  void add_callers();
  void tell_missing();
  void tell_map();
  bool has_placed_twin(const Wanted& one) const;
  // Guesses this number of functions of each file, instead of using maps.
  void guess(std::size_t most) {
    for (Wanted& one : wanted_) one.guesses = most;
  }

 private:
  // One file while it is read.
  struct Context {
    const tracee::ElfFile& elf;
    const tracee::MappedFile& file;
  };

  void unusable(const Wanted& wanted, std::string why) {
    found_.points.unusable.push_back(
        {printable(wanted.map->at(wanted.point->place)), std::move(why)});
  }

  void take_result(const Context& context, Wanted& wanted, SearchResult& result);
  void tell_inlined(const Context& context, const Wanted& wanted, const SearchResult& result);
  void tell_copies(const Context& context, const Wanted& wanted, const FoundFunction& function);
  void take_function(const Context& context, Wanted& wanted, const FoundFunction& function);
  Result<void> add_drafts(const Context& context, Wanted& wanted, std::vector<DraftSite> drafts);
  void add_callers(const Called& called);
  Result<void> make_sites(const Context& context, Wanted& wanted, const FoundFunction& function);
  Result<void> check_free(std::size_t file, const DraftSite& draft, bool has_call_for_itself) const;
  Result<model::PointId> intern(model::Point point);
  std::size_t file_index(const tracee::MappedFile& file);

  FoundPoints& found_;
  SiteMaker::Settings settings_;
  std::vector<Wanted> wanted_;
  std::vector<Called> called_;
  std::vector<tracee::MappedFile> files_;  // files that may call others' functions
  ReleaseMarks marks_;
  // Sites, by file and offset, of points that begin or end a call of their own.
  std::set<std::pair<std::size_t, std::uint64_t>> taken_;
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
std::size_t Collector::file_index(const tracee::MappedFile& file) {
  auto& files = found_.points.files;
  const auto known = std::ranges::find_if(files, [&](const tracee::MappedFile& one) {
    return one.inode == file.inode && one.device == file.device;
  });
  const auto index = static_cast<std::size_t>(known - files.begin());
  if (known == files.end()) files.push_back(file);
  return index;
}

// Two points that are hit at once cannot both be the call that begins or ends there.
Result<void> Collector::check_free(std::size_t file, const DraftSite& draft,
                                   bool has_call_for_itself) const {
  const auto& sites = found_.points.sites;
  const bool is_used = std::ranges::any_of(sites, [&](const tracee::Site& site) {
    return site.file == file && site.offset == draft.site.offset;
  });
  if (!is_used || (!has_call_for_itself && !taken_.contains({file, draft.site.offset}))) return {};
  return fail(
      "another point of the map is hit at {}: a span or an exit of a function cannot share its "
      "place",
      draft.about.place());
}

// Makes all sites of the point in the function, or none.
Result<void> Collector::make_sites(const Context& context, Wanted& wanted,
                                   const FoundFunction& function) {
  const SiteMaker maker(settings_, context.elf, context.file, function);
  SJ_TRY(drafts, wanted.end == nullptr ? maker.make(*wanted.point)
                                       : maker.make_span(*wanted.point, *wanted.end));
  return add_drafts(context, wanted, std::move(drafts));
}

Result<void> Collector::add_drafts(const Context& context, Wanted& wanted,
                                   std::vector<DraftSite> drafts) {
  if (found_.points.sites.size() + drafts.size() > SJ_MAX_SITES)
    return fail("more than {} sites", SJ_MAX_SITES);
  const std::size_t file = file_index(context.file);
  const bool has_call_for_itself = wanted.end != nullptr || wanted.point->is_exit;
  for (const DraftSite& draft : drafts) SJ_CHECK(check_free(file, draft, has_call_for_itself));
  for (DraftSite& draft : drafts) {
    if (has_call_for_itself) taken_.insert({file, draft.site.offset});
    SJ_TRY(id, intern(std::move(draft.point)));
    draft.site.file = file;
    draft.site.point = id;
    draft.about.site = found_.points.sites.size();
    found_.points.sites.push_back(std::move(draft.site));
    ++wanted.sites;
    found_.mapped.push_back(std::move(draft.about));
  }
  return {};
}

void Collector::take_function(const Context& context, Wanted& wanted,
                              const FoundFunction& function) {
  ++wanted.places;
  const auto made = make_sites(context, wanted, function);
  if (made) return;
  const std::string why_not = fmt::format("{} in {}: {}", printable(function.shown),
                                          printable(context.file.name), made.error().text());
  if (!function.linked.empty() && wanted.end == nullptr &&
      SiteMaker(settings_, context.elf, context.file, function).is_slow(*wanted.point))
    called_.push_back({.wanted = static_cast<std::size_t>(&wanted - wanted_.data()),
                       .function = function,
                       .home = context.file,
                       .why_not = why_not});
  else
    unusable(wanted, why_not);
}

// Calls through a base class run the copy, and are not seen.
void Collector::tell_copies(const Context& context, const Wanted& wanted,
                            const FoundFunction& function) {
  if (function.copies.empty()) return;
  unusable(wanted, printable(fmt::format(
                       "calls of {} in {} that come through a thunk: the compiler has put "
                       "a copy of it there; a point of 'thunk to {}' is hit by them, with "
                       "another arg0",
                       function.shown, context.file.name, without_parameters(function.shown))));
}

// Adds all direct calls in the process's files, and reports that calls through pointers are
// missing.
void Collector::add_callers(const Called& called) {
  Wanted& wanted = wanted_[called.wanted];
  std::size_t sites = 0;
  std::vector<std::string> by_pointer;
  for (const tracee::MappedFile& file : files_) {
    const auto elf = tracee::ElfFile::open(file.path, file.name);
    if (!elf) continue;
    const bool is_home = file.inode == called.home.inode && file.device == called.home.device;
    const auto calls =
        find_calls(*elf, called.function.linked,
                   is_home ? std::optional(called.function.code.address) : std::nullopt);
    if (!calls) continue;
    // A method that tables point to has few direct callers.
    if (calls->is_pointed_to) {
      unusable(wanted,
               called.why_not +
                   "; its callers cannot be probed instead, as they call it through pointers");
      return;
    }
    if (calls->has_pointers) by_pointer.push_back(file.name.substr(file.name.rfind('/') + 1));
    const Context context{.elf = *elf, .file = file};
    const SiteMaker maker(settings_, *elf, file, called.function);
    for (const CallSite& call : calls->sites) {
      auto draft = maker.make_call(*wanted.point, call, called.home.name);
      if (!draft) continue;
      std::vector<DraftSite> one;
      one.push_back(std::move(*draft));
      if (add_drafts(context, wanted, std::move(one))) ++sites;
    }
  }
  if (sites == 0) {
    unusable(wanted, called.why_not);
    return;
  }
  found_.remarks.push_back(printable(fmt::format(
      "{} is probed where it is called, at {}, as its own beginning would cost single steps{}",
      called.function.shown, base::counted(sites, "place"),
      by_pointer.empty() ? ""
                         : fmt::format("; calls through pointers, which {} may make, are not seen",
                                       fmt::join(by_pointer, ", ")))));
}

void Collector::add_callers() {
  for (const Called& called : called_) add_callers(called);
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
    unusable(
        wanted,
        fmt::format("'{}' may be any of several functions of {}, such as {}; say which, by its "
                    "parameters or its library, or give a glob for all of them",
                    wanted.point->function, printable(context.file.name),
                    printable(fmt::format("{}", fmt::join(result.ambiguous, ", ")))));
    return;
  }
  if (!result.within.empty()) {
    ++wanted.places;
    unusable(wanted, fmt::format("{} is not the beginning of a function, but within {}: a probe "
                                 "there could break an instruction",
                                 wanted.point->function, printable(result.within)));
    return;
  }
  for (FoundFunction& function : result.functions) {
    if (wanted.address) function.shown = wanted.point->function;
    if (context.elf.in_code(function.code.address)) {
      take_function(context, wanted, function);
      tell_copies(context, wanted, function);
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

void Collector::add_file(tracee::MappedFile file, std::span<const tracee::Mapping> mappings) {
  std::vector<Wanted*> asked;
  for (Wanted& one : wanted_) {
    const std::string& glob = one.address ? one.address->library : one.point->library;
    if (one.guesses != 0 && is_of_toolchain(file.name)) continue;
    if (glob.empty() || is_named(file.name, glob)) asked.push_back(&one);
  }
  if (!tracee::ElfFile::has_magic(file.path)) return;
  const auto elf = tracee::ElfFile::open(file.path, file.name);
  if (!elf || elf->machine() != tracee::Machine::kX86_64) return;
  if (const auto biases = load_biases(*elf, mappings); !biases.empty())
    file.load_bias = biases.front();
  files_.push_back(file);
  if (asked.empty()) return;
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
  const std::vector<Query> marks = marks_.queries();
  queries.insert(queries.end(), marks.begin(), marks.end());
  auto results = find_functions(*elf, debug ? &*debug : nullptr, queries);
  if (!results) {
    for (Wanted* one : asked) ++one->unread;
    found_.points.unusable.push_back(
        {printable(file.name),
         fmt::format("{}; {} could not be looked for in it", results.error().text(),
                     base::counted(asked.size(), "point"))});
    return;
  }
  marks_.take(std::span(*results).subspan(asked.size()));
  for (std::size_t at = 0; at < asked.size(); ++at) {
    Wanted& one = *asked[at];
    one.is_left_out = marks_.leaves_out(*one.map, *one.point);
    if (!one.is_left_out) take_result(context, one, (*results)[at]);
  }
}

// Reports gaps in the path of a unit, and which release this is.
void Collector::tell_map() {
  std::vector<MapRow> rows;
  rows.reserve(wanted_.size());
  for (const Wanted& one : wanted_)
    if (!one.is_left_out) rows.push_back({.point = one.point, .is_placed = one.sites != 0});
  if (found_.mapped.empty()) return;  // it is another program
  found_.points.unplaced = unplaced_points(rows);
  for (std::string& remark : marks_.remarks()) found_.remarks.push_back(std::move(remark));
  for (std::string& remark : gap_remarks(rows)) found_.remarks.push_back(std::move(remark));
}

// Returns whether another function for the same point was found, as of another release or another
// radio unit. A program has only one of them.
bool Collector::has_placed_twin(const Wanted& one) const {
  return !one.point->dest.empty() && std::ranges::any_of(wanted_, [&](const Wanted& other) {
    return other.places != 0 && other.point->direction == one.point->direction &&
           other.point->src == one.point->src && other.point->dest == one.point->dest;
  });
}

void Collector::tell_missing() {
  tell_map();
  for (const Wanted& one : wanted_) {
    // A file that could not be read may have the point; that was reported once for all points.
    if (one.places != 0 || one.unread != 0 || one.is_left_out || has_placed_twin(one)) continue;
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

std::string MappedSite::place() const {
  return offset < 0 ? fmt::format("-{:#x}", -offset) : fmt::format("+{:#x}", offset);
}

Result<FoundPoints> find_points(const tracee::Process& process, std::span<const Map> maps,
                                const Options& options) {
  FoundPoints found;
  SJ_TRY(points, tracee::find_points(process));
  found.points = std::move(points);
  SJ_TRY(executed, tracee::executed_files(process));
  std::string no_return_probes =
      options.takes_return_probes ? why_no_return_probes(process, executed) : std::string();
  if (!no_return_probes.empty())
    found.remarks.push_back("not by uretprobes, as they would harm: " + no_return_probes);
  Collector collector(found, maps, options, std::move(no_return_probes));
  for (tracee::ExecutedFile& one : executed.files)
    collector.add_file(std::move(one.file), one.mappings);
  collector.add_callers();
  collector.tell_missing();
  if (!process.alive()) return fail("process {} has exited", process.title());
  return found;
}

Result<FoundPoints> find_guesses(const tracee::Process& process, std::size_t most,
                                 std::span<const std::string_view> watched) {
  Map map{.path = "suggestions", .about = {}, .points = {MapPoint{}}, .needs_calls = true};
  for (const std::string_view text : watched) {
    auto expression = parse_expression(text);
    if (!expression) return fail("{}: {}", text, expression.error().what);
    map.points[0].fields.push_back({.name = fmt::format("watched{}", map.points[0].fields.size()),
                                    .text = std::string(text),
                                    .expression = std::move(*expression),
                                    .place = {}});
  }
  FoundPoints found;
  SJ_TRY(executed, tracee::executed_files(process));
  Collector collector(found, std::span(&map, 1), {}, {});
  collector.guess(most);
  for (tracee::ExecutedFile& one : executed.files)
    collector.add_file(std::move(one.file), one.mappings);
  if (!process.alive()) return fail("process {} has exited", process.title());
  return found;
}

Result<FoundPoints> find_points_in_files(std::span<const std::string> paths,
                                         std::span<const Map> maps, const Options& options) {
  FoundPoints found;
  SJ_TRY(points, tracee::find_points_in_files(paths));
  found.points = std::move(points);
  Collector collector(found, maps, options,
                      "which libraries it will execute is known once it runs");
  for (const std::string& path : paths) {
    struct stat status{};
    if (stat(path.c_str(), &status) != 0) return fail_errno("open {}", path);
    collector.add_file(
        {.name = path, .path = path, .inode = status.st_ino, .device = status.st_dev}, {});
  }
  collector.add_callers();
  collector.tell_missing();
  return found;
}

}  // namespace sojourn::coarse
