// Journeys in LatSeq's shape: each is one way from an input to an output, so a packet that was cut
// is several of them, which share their beginning. Made by LatSeq's own algorithm
// (latseq_rebuilder.h) or from journeys as sojourn rebuilds them (native.h); what writes them does
// not ask which. Plain data.
#pragma once

#include <array>
#include <cstdint>
#include <map>
#include <string>
#include <unordered_map>
#include <utility>
#include <vector>

#include "analysis/latseq/graph.h"
#include "analysis/latseq/recording.h"

namespace sojourn::latseq {

struct Journey {
  bool uplink = false;
  Ids globals;
  std::vector<std::uint32_t> way;  // indices of the recording's measures
  Ids ids;                         // "uid" first, then local ids as they were met
  Ids properties;                  // of its last event
  std::uint64_t in_ns = 0;
  std::uint64_t out_ns = 0;
  std::uint32_t path = 0;
  bool path_late = false;  // decided after its first event: LatSeq prints it in another place then

  std::size_t direction() const { return uplink ? 1 : 0; }
};

// An event with all journeys that it belongs to, as a line of a .lseqj file has it.
struct SharedEvent {
  std::uint32_t measure = 0;
  std::uint32_t journey = 0;  // the first one: its path names the places
  std::vector<std::uint32_t> others;
};

// How long journeys stayed before they left a place, in the order of their first time there; those
// that enter the pipeline there have no time.
struct Stays {
  static constexpr std::uint64_t kEntered = UINT64_MAX;

  void set(const std::string& uid, std::uint64_t ns);

  std::vector<std::pair<std::string, std::uint64_t>> by_uid;
  std::unordered_map<std::string, std::size_t> index;
};

struct Journeys {
  Paths paths;
  std::vector<Journey> journeys;    // complete ones
  std::vector<SharedEvent> events;  // of these, in order of time
  std::map<NameId, Stays> stays;    // by source
  std::uint64_t inputs = 0;         // events that began a journey
};

// "12", or "['0', '34']" of a list.
std::string value_text(const Recording& recording, const Id& id);
// What a journey is called.
std::string uid(const Recording& recording, const Journey& journey);

// Whose name a stay is noted under: LatSeq notes it under the journey of the last event that was
// new when it came to it, which is seldom the one that stayed.
enum class StayOf : std::uint8_t { kJourney, kLatestNewEvent };

// Fills `events` and `stays` from `journeys`; the sources in `inputs` are where units come in.
void share_events(Journeys& journeys, const Recording& recording, const std::vector<NameId>& inputs,
                  StayOf whose);

}  // namespace sojourn::latseq
