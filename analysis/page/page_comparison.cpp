#include "analysis/page/page_comparison.h"

#include <optional>
#include <span>
#include <utility>

#include <nlohmann/json.hpp>

#include "analysis/differential/difference.h"
#include "analysis/differential/run_figures.h"
#include "analysis/present/differential/difference_text.h"

namespace sojourn::page {

Result<nlohmann::ordered_json> comparison(Executor& executor, const ComparedTrace& base,
                                          const ComparedTrace& now,
                                          const pipeline::Progress& progress) {
  const auto figures_of = [&](const ComparedTrace& side, const pipeline::Progress& part) {
    return differential::read_figures(
        executor, side.input,
        {.least_share = 1, .clock_error_ns = std::nullopt, .wanted = side.wanted}, part);
  };
  SJ_TRY(of_base,
         figures_of(base, [&](std::uint64_t done, std::uint64_t of) { progress(done, 2 * of); }));
  SJ_TRY(of_now, figures_of(now, [&](std::uint64_t done, std::uint64_t of) {
           progress(of + done, 2 * of);
         }));
  const std::span<const differential::RunFigures> base_runs(&of_base, 1);
  const std::span<const differential::RunFigures> now_runs(&of_now, 1);
  const differential::DifferenceOptions how;
  const differential::Difference found = differential::difference(base_runs, now_runs, how);
  return present::difference_json(
      {.base = base_runs, .now = now_runs, .found = found, .level = how.level});
}

}  // namespace sojourn::page
