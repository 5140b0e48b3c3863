// Brings hits of any tracer into a trace: their points, their times, their order. Used by the
// reader of a format. One thread owns it; its arguments must outlive it.
#pragma once

#include <array>
#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "analysis/base/result.h"
#include "analysis/hits/hit.h"
#include "analysis/hits/hit_points.h"
#include "analysis/imports/destination.h"
#include "analysis/imports/import_summary.h"
#include "analysis/trace/event_sorter.h"

namespace sojourn::hits {

enum class Skip : std::uint8_t { kMalformed, kLeftOut, kLacksField, kTime, kTooLong, kCut };
constexpr std::size_t kSkips = 6;
std::string_view key(Skip why);    // for programs
std::string_view words(Skip why);  // for people

struct Skipped {
  std::uint64_t count = 0;
  std::uint64_t first_line = 0;  // or which event it is, where there are no lines
};

// lines = events + outside + other + skipped lines + lines about losses.
struct FileSummary : imports::ImportedFile {
  std::uint64_t lines = 0;
  std::uint64_t other = 0;
  std::uint64_t lost = 0;  // hits, as the tracer says
  std::array<Skipped, kSkips> skipped;

  void skip(Skip why) {
    Skipped& one = skipped.at(static_cast<std::size_t>(why));
    if (one.count++ == 0) one.first_line = lines;
  }
  std::uint64_t skipped_lines() const {
    std::uint64_t sum = 0;
    for (const Skipped& one : skipped) sum += one.count;
    return sum;
  }
};

using Summary = imports::Summary<FileSummary>;

// The shift that is added to the recording's times.
struct TimeShift {
  std::uint64_t ns = 0;
  bool is_back = false;

  bool is_none() const { return ns == 0; }
};

// The threads of all files, by their names in them.
using ThreadNames = std::map<std::uint32_t, std::string>;

class HitImport {
 public:
  HitImport(HitPoints& points, ThreadNames& threads, TimeShift shift, imports::Destination& into,
            FileSummary& file)
      : points_(points), threads_(threads), shift_(shift), into_(into), file_(file) {}

  Result<void> add(const Hit& hit);
  Result<void> finish();

 private:
  HitPoints& points_;
  ThreadNames& threads_;
  TimeShift shift_;
  imports::Destination& into_;
  FileSummary& file_;
  trace::EventSorter waiting_;
  std::vector<std::uint64_t> values_;
};

// Why a file has no event, with the first line of each reason.
std::string why_empty(const FileSummary& file, std::string_view tracer);

// Names the threads in the trace, behind the last file.
Result<void> name_threads(const ThreadNames& threads, imports::Destination& into);

}  // namespace sojourn::hits
