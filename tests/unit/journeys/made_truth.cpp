#include "tests/unit/journeys/made_truth.h"

#include <algorithm>
#include <sstream>
#include <stdexcept>
#include <utility>

#include <fmt/format.h>

namespace sojourn::journeys {

using truth::HitId;
using truth::PacketId;
using truth::Piece;
using truth::Truth;

MadeTruth::MadeTruth(std::mt19937& random, std::string_view points,
                     std::vector<std::string> together)
    : random_(random), together_(std::move(together)) {
  std::istringstream words{std::string(points)};
  std::string direction;
  std::string where;
  std::string fields;
  while (words >> direction >> where >> fields)
    truth_.points.push_back({fmt::format("{} {}", direction, where), fields});
}

HitId MadeTruth::hit(std::string_view point, std::vector<std::uint64_t> values,
                     std::vector<HitId> parents, std::vector<Piece> pieces, HitId repeat_of) {
  now_ns_ += 1 + random_() % 2000;
  lists_.push_back({std::move(values), std::move(parents), std::move(pieces)});
  truth::Hit made;
  made.id = lists_.size();
  made.point = index(point);
  made.tid = thread_of(point);
  made.before_ns = made.after_ns = now_ns_;
  made.repeat_of = repeat_of;
  truth_.hits.push_back(made);
  return made.id;
}

PacketId MadeTruth::packet(std::uint32_t bytes) {
  truth::PacketTruth made;
  made.id = truth_.packets.size() + 1;
  made.bytes = bytes;
  truth_.packets.push_back(made);
  return made.id;
}

Truth MadeTruth::take() {
  for (std::size_t i = 0; i < lists_.size(); ++i) {
    const auto& [values, parents, pieces] = lists_[i];
    truth_.values.insert(truth_.values.end(), values.begin(), values.end());
    truth_.parents.insert(truth_.parents.end(), parents.begin(), parents.end());
    truth_.pieces.insert(truth_.pieces.end(), pieces.begin(), pieces.end());
    truth_.hit_by_id[i + 1] = i;
  }
  std::size_t value = 0;
  std::size_t parent = 0;
  std::size_t piece = 0;
  for (std::size_t i = 0; i < lists_.size(); ++i) {
    auto& made = truth_.hits[i];
    made.values = std::span(truth_.values).subspan(value, lists_[i].values.size());
    made.parents = std::span(truth_.parents).subspan(parent, lists_[i].parents.size());
    made.pieces = std::span(truth_.pieces).subspan(piece, lists_[i].pieces.size());
    value += made.values.size();
    parent += made.parents.size();
    piece += made.pieces.size();
  }
  return std::move(truth_);
}

std::uint32_t MadeTruth::thread_of(std::string_view point) const {
  const bool shared = std::ranges::any_of(
      together_, [&](const std::string& begin) { return point.starts_with(begin); });
  return shared ? 1000 : index(point) + 1U;
}

std::uint16_t MadeTruth::index(std::string_view name) const {
  for (std::size_t i = 0; i < truth_.points.size(); ++i)
    if (truth_.points[i].where == name) return static_cast<std::uint16_t>(i);
  throw std::runtime_error("no such point: " + std::string(name));
}

}  // namespace sojourn::journeys
