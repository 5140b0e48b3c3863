#include "analysis/exports/trace_fingerprint.h"

namespace sojourn::exports {

// FNV-1a.
std::uint64_t trace_fingerprint(const trace::Reader& reader) {
  std::uint64_t hash = 14'695'981'039'346'656'037U;
  const auto mix = [&hash](std::uint64_t value) {
    for (unsigned shift = 0; shift < 64; shift += 8)
      hash = (hash ^ static_cast<std::uint8_t>(value >> shift)) * 1'099'511'628'211U;
  };
  mix(reader.capture().open_ns);
  mix(static_cast<std::uint32_t>(reader.target().pid));
  mix(reader.events());
  for (const char c : reader.host().name) mix(static_cast<std::uint8_t>(c));
  return hash;
}

}  // namespace sojourn::exports
