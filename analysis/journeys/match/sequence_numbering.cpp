#include "analysis/journeys/match/sequence_numbering.h"

#include <algorithm>
#include <bit>
#include <iterator>
#include <utility>

namespace sojourn::journeys {

std::size_t SequenceNumbering::HashOfKey::operator()(const std::vector<std::uint64_t>& key) const {
  constexpr std::uint64_t kOdd = 0x9e3779b97f4a7c15;
  constexpr int kTurn = 29;
  std::uint64_t hash = 0;
  for (const auto value : key) hash = std::rotl((hash ^ value) * kOdd, kTurn);
  return hash;
}

SequenceNumbering::Line& SequenceNumbering::line_of(const Unit& unit, const TableUse& use) {
  key_.assign({use.table, unit.group});
  for (const auto field : use.fields) key_.push_back(unit.values[field]);
  if (began_ns_ == 0) began_ns_ = unit.ts_ns;
  auto found = lines_.find(key_);
  if (found == lines_.end() && lines_.size() >= max_lines_) make_room(unit.ts_ns);
  if (found == lines_.end())
    found = lines_.emplace(key_, Line{SequenceNumberQueue(began_ns_), {}, losses_}).first;
  forget_gone(found->second);
  return found->second;
}

// Removes units that went away. One that had no number yet gets none.
void SequenceNumbering::forget_gone(Line& line) {
  while (const auto next = line.numbers.next_place()) {
    const auto unit = line.units.begin() + (*next - line.numbers.first());
    if (unit->is_there()) break;
    line.units.erase(unit);
    line.numbers.forget_next();
  }
  while (!line.units.empty() && !line.units.front().is_there()) {
    line.units.pop_front();
    line.numbers.forget_first();
  }
}

// UEs come and go. There are at most twice as many lines as are in use.
void SequenceNumbering::make_room(std::uint64_t now_ns) {
  for (auto line = lines_.begin(); line != lines_.end();) {
    forget_gone(line->second);
    line = line->second.numbers.is_forgotten(now_ns) ? lines_.erase(line) : std::next(line);
  }
  max_lines_ = std::max(max_lines_, 2 * lines_.size());
}

void SequenceNumbering::add(Unit& whole, const PointPlan& plan) {
  SequenceNumberQueue::Sdu noted;
  noted.ts_ns = whole.ts_ns;
  if (plan.length) noted.length = whole.values[*plan.length];
  if (plan.number) noted.number = whole.values[*plan.number];
  for (const auto& use : plan.numbering.joined) {
    auto& line = line_of(whole, use);
    line.numbers.add(noted);
    line.units.push_back({&whole, whole.serial});
  }
}

SequenceNumbering::Found SequenceNumbering::find(const Unit& piece, const PointPlan& plan,
                                                 bool finally) {
  SequenceNumberQueue::Segment noted;
  noted.ts_ns = piece.ts_ns;
  noted.number = piece.values[*plan.number];
  if (plan.offset) noted.begin = piece.values[*plan.offset];
  if (plan.length) noted.end = noted.begin + piece.values[*plan.length];
  for (const auto& use : plan.numbering.answered) {
    auto& line = line_of(piece, use);
    if (std::exchange(line.losses, losses_) != losses_) line.numbers.doubt();
    const auto place = line.numbers.place_of(noted, finally);
    if (!place) continue;
    const auto& found = line.units[static_cast<std::size_t>(*place - line.numbers.first())];
    if (found.is_there()) return {found.unit, line.numbers.is_sure()};
  }
  return {};
}

}  // namespace sojourn::journeys
