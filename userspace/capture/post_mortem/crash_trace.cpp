#include "userspace/capture/post_mortem/crash_trace.h"

#include <algorithm>
#include <cstring>
#include <filesystem>
#include <utility>

#include <fmt/format.h>

#include "userspace/capture/post_mortem/orphaned_arenas.h"
#include "userspace/capture/post_mortem/orphaned_clock.h"
#include "userspace/capture/rings/arena_match.h"
#include "userspace/tracee/elf_file.h"
#include "userspace/tracee/points.h"
#include "userspace/tracee/procfs.h"

namespace sojourn::capture {

namespace {

// ---- the files of its code ----

struct CodeFile {
  std::string path;
  bool is_checked = false;  // its build id is the one that the rings name
};

// Returns the first of these files that has the build id of the arena's code.
Result<CodeFile> find_code(const Arena& arena, const std::vector<std::string>& executables) {
  const sj_module module = arena.module();
  const std::string wanted = build_id_of(module);
  std::vector<std::string> candidates = executables;
  if (module.path[0] != '\0') candidates.emplace_back(module.path);
  if (candidates.empty())
    return fail("{}: the file with its code is not known: give it by --exe", arena.name());
  std::string why;
  for (const std::string& path : candidates) {
    const auto file = tracee::ElfFile::open(path, path);
    if (!file) {
      why = file.error().text();
      continue;
    }
    const std::string found = file->build_id();
    if (wanted.empty() || found == wanted) return CodeFile{path, !wanted.empty()};
    why =
        fmt::format("{} is another build ({}) than the one that wrote the rings ({})",
                    tracee::printable(path), found.empty() ? "without a build id" : found, wanted);
  }
  return fail("{}: the points' meaning is in the program's file: {}: say where that is by --exe",
              arena.name(), why);
}

struct Code {
  tracee::Points points;
  std::vector<CodeFile> files;
};

Result<Code> find_all_code(const OrphanedProcess& left,
                           const std::vector<std::string>& executables) {
  Code code;
  std::vector<std::string> paths;
  for (const OrphanedArena& one : left.arenas) {
    if (!has_points(one.arena)) continue;
    SJ_TRY(file, find_code(one.arena, executables));
    if (std::ranges::find(paths, file.path) != paths.end()) continue;
    paths.push_back(file.path);
    code.files.push_back(std::move(file));
  }
  SJ_TRY(points, tracee::find_points_in_files(paths));
  code.points = std::move(points);
  return code;
}

// ---- the process ----

model::Target describe(const OrphanedProcess& left) {
  model::Target target{
      .pid = left.pid, .name = left.comm, .exe = {}, .cmdline = {}, .build_id = {}};
  if (!left.arguments.empty()) target.cmdline = {left.arguments};
  for (const OrphanedArena& one : left.arenas) {
    const sj_module module = one.arena.module();
    // Libraries are recognised by their names; the remaining file is the program.
    const std::string name = std::filesystem::path(module.path).filename().string();
    if (!target.exe.empty() || name.empty() || name.find(".so") != std::string::npos) continue;
    target.exe = module.path;
    target.build_id = build_id_of(module);
    if (target.name.empty()) target.name = name;
  }
  return target;
}

std::string ended_by(const OrphanedProcess& left) {
  if (left.signal == 0) return "target exit";
  const char* const name = sigabbrev_np(left.signal);
  return name != nullptr ? fmt::format("target exit by SIG{}", name)
                         : fmt::format("target exit by signal {}", left.signal);
}

std::string why_nothing(const std::string& path, const OrphanedProcess& left,
                        const OrphanedCounts& counts) {
  std::string why =
      "it was not recorded: SJ_RINGS=flight in its environment would keep its last events";
  if (counts.taken_by_collectors != 0)
    why = "a collector has read everything that was recorded: it is in that one's trace";
  if (counts.absent_rings != 0)
    why = fmt::format("the rings of {} threads are not in it, or not whole", counts.absent_rings);
  if (counts.damaged != 0) why = "its rings have invalid contents";
  if (counts.foreign_rings != 0)
    why = fmt::format("its rings belong to other processes than {}: choose one by -p", left.pid);
  return fmt::format("{}: holds no events: {}", tracee::printable(path), why);
}

}  // namespace

Result<PostMortem> recover(const PostMortemOptions& options) {
  SJ_TRY(left, open_orphaned_process(options.path, options.pid));
  SJ_TRY(code, find_all_code(left, options.executables));
  auto clock = make_left_clock(readings_of(left), read_clocks_now());
  if (!clock)
    return std::unexpected(std::move(clock).error().within(tracee::printable(options.path)));
  const auto instruction = [&left](std::uint32_t tid) {
    const auto known = left.instructions.find(tid);
    return known == left.instructions.end() ? std::uint64_t{0} : known->second;
  };
  const auto match = [&](const Arena& arena) { return match_left_arena(arena, code.points); };
  SJ_TRY(trace, write_left_trace(options.output, FileOwner::of(options.output),
                                 {.sessions = {{.left = left,
                                                .points = code.points,
                                                .match = match,
                                                .target = describe(left),
                                                .view = {.instruction = instruction}}},
                                  .clock = *clock,
                                  .attach = "post-mortem",
                                  .ended_by = ended_by(left),
                                  .why_nothing = [&](const OrphanedCounts& counts) {
                                    return why_nothing(options.path, left, counts);
                                  }}));
  PostMortem result{.trace = std::move(trace),
                    .missing_bytes = left.missing_bytes,
                    .is_this_boot = clock->is_this_boot,
                    .unchecked = {},
                    .unusable = code.points.unusable};
  for (const CodeFile& file : code.files)
    if (!file.is_checked) result.unchecked.push_back(file.path);
  return result;
}

}  // namespace sojourn::capture
