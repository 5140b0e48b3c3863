#include "analysis/trace/completeness.h"

#include <algorithm>

namespace sojourn::trace {

namespace {

std::uint64_t at_or_zero(const std::vector<std::uint64_t>& by_stream, std::uint32_t id) {
  return id < by_stream.size() ? by_stream[id] : 0;
}

}  // namespace

Completeness completeness_of(const Reader& reader) {
  const model::Capture& capture = reader.capture();
  Completeness found = {.streams = {},
                        .ended_in_order = capture.close_ns != 0,
                        .is_import = capture.engine == model::Engine::kImport};
  for (const model::Stream& stream : reader.streams()) found.streams[stream.id];
  // By stream: one more than the largest sequence number of its blocks, damaged ones included.
  std::map<std::uint32_t, std::uint64_t> ends;
  for (const BlockInfo& block : reader.blocks()) {
    StreamAccount& stream = found.streams[block.stream];
    ++stream.blocks;
    stream.events += block.events;
    std::uint64_t& end = ends[block.stream];
    if (block.events != 0 && block.last_seq != UINT64_MAX) end = std::max(end, block.last_seq + 1);
  }
  found.damaged_places = reader.damage().size();
  for (const Damage& damage : reader.damage()) {
    found.damaged_bytes += damage.bytes;
    if (damage.events != 0) found.streams[damage.stream].events -= damage.events;
  }
  for (const model::LedgerEntry& entry : reader.ledger()) {
    const bool is_loss = entry.cause != model::LossCause::kFiltered;
    (is_loss ? found.lost : found.filtered) += entry.count;
    if (entry.cause == model::LossCause::kConnectionCut) found.cut += entry.count;
    if (entry.cause == model::LossCause::kStreamed) found.streamed += entry.count;
    if (model::takes_sequence_number(entry.cause))
      found.streams[entry.stream].counted += entry.count;
  }
  for (auto& [id, stream] : found.streams) {
    const std::uint64_t kept = stream.events + at_or_zero(capture.stream_first, id);
    const std::uint64_t hits = at_or_zero(capture.stream_hits, id);
    const std::uint64_t end = hits != 0 && hits >= kept ? hits : ends[id];
    stream.missing = end > kept ? end - kept : 0;
    found.events += stream.events;
    found.missing += stream.missing;
    found.unaccounted += stream.unaccounted();
  }
  return found;
}

}  // namespace sojourn::trace
