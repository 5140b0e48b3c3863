// The ids by which people know a packet: its owner, its bearer and its sequence number, from any
// step of its path. A packet may enter as a buffer at some address and get its ids only at later
// points. It is named by these. No state.
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

// "rnti 0x4601": the UE that the packet belongs to, by the global ids of its own event, else of the
// first event that has some; "no global id" if none has. Needs the journey's steps.
std::string owner_text(const model::Schema& schema, const Journey& journey);

class PacketNames {
 public:
  // The schema outlives it.
  explicit PacketNames(const model::Schema& schema);

  // The ids of the packet's own event, if they name an owner, a bearer or a number and no address.
  // Otherwise the ids found along the path, without addresses. If there are none, its own ids.
  std::vector<KnownId> of(const Journey& journey) const;

 private:
  enum class Kind : std::uint8_t { kOwner, kBearer, kNumber };

  bool is_address(const model::Point& point, std::size_t field) const;
  bool is_of_kind(const model::Point& point, std::size_t field, Kind kind) const;
  bool add(const Step& step, Kind kind, std::vector<KnownId>& ids) const;
  std::vector<KnownId> own(const Journey& journey) const;

  const model::Schema& schema_;
  std::set<std::string, std::less<>> addresses_;  // fields that identify a unit for a while
};

}  // namespace sojourn::journeys
