// Journeys in LatSeq's shape: each is one way from an input to an output, so a segmented packet is
// several journeys, which share their beginning. They come from LatSeq's own algorithm
// (latseq_rebuilder.h) or from journeys as sojourn rebuilds them (native.h). Plain data.
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

// An event with all journeys that it belongs to: a line of a .lseqj file.
struct SharedEvent {
  std::uint32_t measure = 0;
  std::uint32_t journey = 0;  // the first one: its path names the places
  std::vector<std::uint32_t> others;
};

// The times that journeys stayed at a place before they left it, in the order of their first time
// there. A journey that enters the pipeline there has no time.
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
// The name of a journey.
std::string uid(const Recording& recording, const Journey& journey);

// The journey under whose name a stay is noted. LatSeq takes the journey of the last event that was
// new at that time, which is rarely the one that stayed.
enum class StayOf : std::uint8_t { kJourney, kLatestNewEvent };

// Fills `events` and `stays` from `journeys`; the sources in `inputs` are where units come in.
void share_events(Journeys& journeys, const Recording& recording, const std::vector<NameId>& inputs,
                  StayOf whose);

}  // namespace sojourn::latseq
