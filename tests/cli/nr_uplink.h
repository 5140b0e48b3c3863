// A made-up recording of a 5G NR base station's uplink with LatSeq's points, and the truth beside
// it. No id says which UE or bearer a unit belongs to: blocks are identified by frame, slot and
// HARQ process, their contents by the address of the buffer, packets by sequence numbers, and all
// of these are soon used again. The same seed gives the same recording.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <set>
#include <string>
#include <vector>

namespace sojourn::cli_tests {

struct NrUplink {
  struct Event {
    std::vector<std::size_t> parents;      // indices of events
    std::optional<std::size_t> repeat_of;  // of the round before
  };
  struct Packet {
    std::size_t out = 0;            // the event at which it left
    std::set<std::size_t> events;   // everything that it was made from
    std::uint64_t segments = 0;     // pieces that it was put together from
    std::uint64_t harq_rounds = 0;  // above the first, of all its blocks
  };

  std::string text;             // LatSeq's lines, one for each event
  std::vector<Event> events;    // in the order of the lines
  std::vector<Packet> packets;  // delivered
  std::uint64_t late = 0;       // packets that PDCP threw away
  std::uint64_t lost_blocks = 0;
  std::uint64_t reordered = 0;  // packets that PDCP held back
  std::uint64_t leftovers = 0;  // pieces whose packet never came
};

// Variants of the same stack's points.
struct NrShape {
  bool asks_again = true;  // points tell that another round is asked for; else rounds just come
  // The rounds in a hundred without a request, although points record requests.
  unsigned unasked = 0;
  std::string round = {};   // the round's name if it is a property; else it is a local id
  unsigned apart_us = 12;   // events are less than this apart; 1: many at the same microsecond
  bool one_buffer = false;  // every unit out of a block is put where the one before was
};

NrUplink make_nr_uplink(std::uint32_t seed, std::size_t packets, const NrShape& shape = {});

}  // namespace sojourn::cli_tests
