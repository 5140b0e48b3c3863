// The memory of a BPF object's rings (bpf/ring.bpf.h), one for each CPU, as the tracer maps it; and
// the other parts that objects with such rings have in common. The descriptors of the object's maps
// must outlive a BpfRings; the object may belong to another process. It has no thread of its own.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "analysis/base/result.h"
#include "analysis/model/capture_info.h"
#include "userspace/base/fd.h"
#include "userspace/base/mapping.h"
#include "userspace/capture/records/ring.h"

struct bpf_map;
struct sj_gate;

namespace sojourn::capture {

// The layout of the rings in their map: one for each possible CPU, so that no two CPUs contend for
// one, and slots as long as the longest hit needs.
struct RingShape {
  std::uint32_t cpus = 0;
  std::uint32_t slot_bytes = 0;
  std::uint32_t blocks = 0;        // of each ring
  std::uint32_t piece_blocks = 0;  // of each of the maps that have the blocks of all rings

  std::uint32_t block_bytes() const { return slot_bytes * SJ_BLOCK_SLOTS; }
  std::size_t ring_bytes() const { return std::size_t{blocks} * block_bytes(); }
  std::size_t piece_bytes() const { return std::size_t{piece_blocks} * block_bytes(); }
  std::uint32_t pieces() const { return (cpus * blocks + piece_blocks - 1) / piece_blocks; }

  // `wanted_bytes`, of each ring, is a power of two; 0: chosen from the number of CPUs and of
  // `objects` with such rings that share the memory. A ring takes the power of two of blocks that
  // fits.
  static Result<RingShape> choose(std::uint32_t max_values, std::size_t wanted_bytes,
                                  std::size_t objects = 1);
};

// Makes the maps that the blocks of all rings lie in.
Result<std::vector<base::Fd>> make_pieces(const RingShape& shape);

// The maps of ring.bpf.h in a skeleton.
struct RingMaps {
  bpf_map* rings = nullptr;
  bpf_map* blocks = nullptr;
  bpf_map* losses = nullptr;
};
// Before it is loaded. The verifier takes all pieces to be as this one.
void configure(const RingMaps& maps, const RingShape& shape, const base::Fd& piece,
               std::uint32_t kinds);
// After it is loaded. No hit is recorded before.
Result<void> enter_pieces(const RingMaps& maps, std::span<const base::Fd> pieces);

// The descriptors of the same maps, and the pieces.
struct RingFds {
  int rings = -1;
  int losses = -1;
  std::span<const base::Fd> pieces;
};

// Waits for BPF programs of whichever object. Making one takes rights, waiting takes none.
class ProgramWait {
 public:
  static Result<ProgramWait> create();
  ProgramWait(base::Fd outer, base::Fd inner)
      : outer_(std::move(outer)), inner_(std::move(inner)) {}

  // Returns when every program that was running has ended: all of its hits are in the rings then.
  Result<void> wait() const;

  int outer() const { return outer_.get(); }
  int inner() const { return inner_.get(); }

 private:
  base::Fd outer_;
  base::Fd inner_;
};

class BpfRings {
 public:
  static Result<BpfRings> map(const RingFds& maps, const RingShape& shape, ProgramWait wait);

  const std::vector<Ring>& rings() const { return rings_; }

  // The next sequence number of each CPU: the number of all hits inside the gate so far.
  std::vector<std::uint64_t> hits() const;

  Result<void> wait_for_running() const { return wait_->wait(); }

  // Resets rings and counters to their first state. The gate must be shut, and nothing read so far.
  Result<void> start_over(std::size_t kinds);

  // Adds counters by kind and CPU to the ledger. `point_of_kind` has the point of each kind.
  // Streams are numbered on from `first_stream`.
  Result<void> add_counts(int counters, model::LossCause cause,
                          std::span<const model::PointId> point_of_kind, std::uint32_t first_stream,
                          model::Ledger& ledger) const;

  // Hits inside the gate that found no room, so far, by CPU and point.
  Result<model::Ledger> losses(std::span<const model::PointId> point_of_kind,
                               std::uint32_t first_stream) const;

 private:
  int losses_ = -1;
  std::optional<ProgramWait> wait_;
  base::Mapping controls_;
  base::Mapping blocks_;
  std::vector<Ring> rings_;
};

Result<void> clear_counters(int counters, std::size_t kinds, std::size_t cpus);

// Hits with open <= ts < close are recorded on all CPUs. Both are to be set some time ahead.
void open_gate_at(sj_gate& gate, std::uint64_t monotonic_ns);
void close_gate_at(sj_gate& gate, std::uint64_t monotonic_ns);

// The error for an object that could not be loaded; `code` is errno.
Error load_error(int code, const RingShape& shape, const std::string& verifier_log);

}  // namespace sojourn::capture
