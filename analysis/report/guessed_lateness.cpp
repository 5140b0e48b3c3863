#include "analysis/report/guessed_lateness.h"

#include <algorithm>
#include <utility>

#include "analysis/report/lateness_analysis.h"
#include "analysis/statistics/slow_from.h"

namespace sojourn::report {

namespace {

// More than the slowest hundredth, as later packets may be faster. Each more is explained in vain.
constexpr double kGuessShare = 0.95;
constexpr std::uint64_t kFirstGuess = 1000;

}  // namespace

GuessedLateness::GuessedLateness(pipeline::TraceInput& input,
                                 const causes::Explainer::Wanted& wanted, std::size_t worst)
    : latencies_(wanted),
      names_(input.reader().context()),
      next_{kFirstGuess, kFirstGuess},
      worst_(worst),
      explainer_(metadata_of(input.reader()), input.topology(), input.rules(), names_, deadlines_,
                 wanted,
                 [this](const causes::Verdict& verdict) { explained_.push_back(verdict); }) {}

void GuessedLateness::observe(pipeline::TracePass& pass) {
  pass.observe(latencies_);
  pass.observe(explainer_);
}

void GuessedLateness::consume(const model::EventBatch& events) {
  explainer_.consume(events);
  raise_guess();
}

// Raises the guess each time the number of packets has doubled, because a quantile needs sorting.
void GuessedLateness::raise_guess() {
  const auto raised = [&](model::Direction direction, std::uint64_t& guess_ns,
                          std::uint64_t& next) {
    const statistics::Distribution& latency_ns = latencies_.of(direction);
    if (latency_ns.count() < next) return false;
    next = 2 * latency_ns.count();
    guess_ns = std::max(guess_ns, statistics::slow_from(latency_ns, kGuessShare));
    return true;
  };
  const bool down = raised(model::Direction::kDownlink, deadlines_.down_ns, next_[0]);
  const bool up = raised(model::Direction::kUplink, deadlines_.up_ns, next_[1]);
  if (!down && !up) return;
  explainer_.set_deadlines(deadlines_);
  std::erase_if(explained_, [&](const causes::Verdict& verdict) {
    return verdict.latency_ns() <= deadlines_.of(verdict.direction);
  });
}

bool GuessedLateness::finish() {
  explainer_.finish();
  const causes::Deadlines guess = std::exchange(deadlines_, latencies_.deadlines());
  const bool was_low = guess.down_ns <= deadlines_.down_ns && guess.up_ns <= deadlines_.up_ns;
  // The lateness of a forgotten packet is unknown.
  if (!was_low || explainer_.forgotten() != 0) return false;
  std::uint64_t late = 0;
  for (const causes::Verdict& verdict : explained_) {
    if (verdict.latency_ns() <= deadlines_.of(verdict.direction)) continue;
    ++late;
    tally_.add(verdict, names_);
    worst_.add(verdict);
  }
  explained_.clear();
  explainer_.settle(deadlines_, late);
  return true;
}

}  // namespace sojourn::report
