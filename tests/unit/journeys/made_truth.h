// The truth of traffic that a test makes up: its points, packets and hits in the order of time. The
// same random numbers give the same times. One thread owns a MadeTruth.
#pragma once

#include <cstdint>
#include <random>
#include <string>
#include <string_view>
#include <vector>

#include "tests/basestation/truth.h"

namespace sojourn::journeys {

class MadeTruth {
 public:
  // One point a line: "D ip.in--pdcp.in len:rnti:drb.gsn". Each has a thread of its own, but that
  // those which begin with one of `together` share one.
  MadeTruth(std::mt19937& random, std::string_view points, std::vector<std::string> together);

  // Up to 2 us after the one before.
  truth::HitId hit(std::string_view point, std::vector<std::uint64_t> values,
                   std::vector<truth::HitId> parents, std::vector<truth::Piece> pieces = {},
                   truth::HitId repeat_of = 0);
  truth::PacketId packet(std::uint32_t bytes);

  // Everything, once.
  truth::Truth take();

 private:
  // They become spans at the end, when the vectors do not grow any more.
  struct Lists {
    std::vector<std::uint64_t> values;
    std::vector<truth::HitId> parents;
    std::vector<truth::Piece> pieces;
  };

  std::uint32_t thread_of(std::string_view point) const;
  std::uint16_t index(std::string_view name) const;

  std::mt19937& random_;
  std::vector<std::string> together_;
  truth::Truth truth_;
  std::vector<Lists> lists_;
  std::uint64_t now_ns_ = 1'000'000;
};

}  // namespace sojourn::journeys
