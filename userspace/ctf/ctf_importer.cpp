#include "userspace/ctf/ctf_importer.h"

#include <utility>

#include "analysis/imports/import_all.h"
#include "userspace/ctf/ctf_reader.h"

namespace sojourn::ctf {

namespace {

Result<void> fit_clock(const CtfClock& clock, imports::Clock wanted, const std::string& path,
                       imports::Destination& into) {
  if (clock.name.empty()) return fail("{}: its events have no times", path);
  if (wanted == imports::Clock::kWall) {
    if (clock.zero_unix_ns) return {};
    return fail("{}: its clock \"{}\" has no known offset to 1970", path, clock.name);
  }
  if (clock.name != "monotonic")
    return fail("{}: its clock is \"{}\", not \"monotonic\": say --clock wall", path, clock.name);
  if (!clock.zero_unix_ns) return {};
  return into.place_zero(*clock.zero_unix_ns, path);
}

Result<void> read_directory(imports::Clock clock, hits::HitImport& hits, imports::Destination& into,
                            hits::FileSummary& file) {
  // An error of this program ends the import; a damaged file only ends the reading.
  Result<void> refused;
  const auto kept = [&](Result<void> done) {
    if (!done) refused = done;
    return done;
  };
  const auto read = read_ctf(
      file.path,
      {.clock = [&](const CtfClock& one) { return kept(fit_clock(one, clock, file.path, into)); },
       .event =
           [&](const CtfEvent& event) {
             ++file.lines;
             hits::Hit hit = event.hit;
             if (clock == imports::Clock::kWall) hit.ts_ns = event.unix_ns.value_or(0);
             return kept(hits.add(hit));
           },
       .lost = [&](std::uint64_t lost) { file.lost += lost; }});
  SJ_CHECK(std::move(refused));
  if (!read && file.lines == 0) return read;
  if (!read) file.failure = read.error().text();
  return hits.finish();
}

}  // namespace

Result<hits::Summary> import_directories(std::span<const std::string> paths, imports::Clock clock,
                                         hits::PointMap map, hits::TimeShift shift,
                                         imports::Destination& into) {
  hits::HitPoints points(std::move(map));
  hits::ThreadNames threads;
  SJ_TRY(summary, imports::import_all<hits::Summary>(
                      paths, into,
                      [&](hits::FileSummary& file) {
                        hits::HitImport hits(points, threads, shift, into, file);
                        return read_directory(clock, hits, into, file);
                      },
                      [](const hits::FileSummary& file) { return hits::why_empty(file, "CTF"); }));
  summary.points = points.schema().points.size();
  SJ_CHECK(hits::name_threads(threads, into));
  SJ_CHECK(into.finish("CTF"));
  return std::move(summary);
}

}  // namespace sojourn::ctf
