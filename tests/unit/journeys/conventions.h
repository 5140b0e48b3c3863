// Made-up traffic with the identifiers of two base stations that have names of their own: the ids
// alone show how units belong together. The same seed gives the same traffic everywhere.
#pragma once

#include <cstdint>

#include "tests/basestation/truth.h"

namespace sojourn::journeys {

// OpenAirInterface LTE with LatSeq's points: an RLC PDU takes parts of several SDUs, all with the
// PDU's length and without offsets; frame numbers repeat; a unit that PDCP receives has two
// numbers, one of which is its own.
truth::Truth oai_lte(std::uint32_t seed);

// srsRAN: above RLC a packet is known by the address of its buffer, which the next packet has at
// once; then by count and segment offset; then by slot and RNTI, and at last by the slot alone.
truth::Truth srsran(std::uint32_t seed);

}  // namespace sojourn::journeys
