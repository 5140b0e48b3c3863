// What people know a packet by: whose it is, its bearer, its sequence number, from wherever along
// its path that is known. A packet that enters as a buffer at some address, before anybody knows
// whose it is, is named by what later points told of it. No state.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <set>
#include <string>
#include <vector>

#include "analysis/journeys/journey.h"
#include "analysis/model/known_id.h"
#include "analysis/model/schema.h"

namespace sojourn::journeys {

using model::KnownId;

// "rnti 0x4601": the UE whose packet it is, by the global ids of its own event, else of the first
// event that has some; "no global id" if none has. Wants the journey's steps.
std::string owner_text(const model::Schema& schema, const Journey& journey);

class PacketNames {
 public:
  // The schema outlives it.
  explicit PacketNames(const model::Schema& schema);

  // Its own event's ids, where they say all of these or none is known anywhere; else those that are
  // known along the path, without the addresses by which it was followed.
  std::vector<KnownId> of(const Journey& journey) const;

 private:
  enum class Kind : std::uint8_t { kOwner, kBearer, kNumber };

  bool is_address(const model::Point& point, std::size_t field) const;
  bool is_of_kind(const model::Point& point, std::size_t field, Kind kind) const;
  bool add(const Step& step, Kind kind, std::vector<KnownId>& ids) const;
  std::vector<KnownId> own(const Journey& journey) const;

  const model::Schema& schema_;
  std::set<std::string, std::less<>> addresses_;  // fields that stand for a unit for a while
};

}  // namespace sojourn::journeys
