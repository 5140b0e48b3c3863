// A trace's record of its capture: target, host, clocks, the two marks between which it is exact,
// and the ledger of all hits that were not kept. Plain data, no behaviour.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "analysis/model/schema.h"

namespace sojourn::model {

// One process of the capture. Several may have had the same pid one after the other: `since_ns`
// distinguishes them.
struct Target {
  std::int32_t pid = 0;
  std::string name;  // /proc/PID/comm
  std::string exe;   // by the target's maps
  std::vector<std::string> cmdline;
  std::string build_id;        // hex, empty where the executable has none
  std::int32_t parent = 0;     // the target that it was forked from, while recorded; 0: none
  std::uint64_t since_ns = 0;  // its points count from then on; 0: from the open mark on
  std::uint64_t until_ns = 0;  // it had ended by then; 0: it outlived the capture
};

// The Target::since_ns of all recorded processes, by pid.
using Pids = std::map<std::uint64_t, std::uint64_t>;
Pids pids_of(const std::vector<Target>& targets);

// The group of each stream: processes of one group may hand units to each other. A program that was
// recorded several times, side by side, has a group for each process (1 and up); programs that
// were recorded once share group 0, and a forked child belongs to its parent's group.
std::vector<std::uint16_t> groups_of(const std::vector<Stream>& streams,
                                     const std::vector<Target>& targets);

struct Host {
  std::string name;
  std::string kernel;
  std::string machine;  // x86_64, aarch64
  std::string cpu_model;
  std::uint32_t cpus = 0;
  std::string measured = {};  // its measurements by `sojourn host`, as JSON; empty: none
};

// The trace's clock and the wall's, read together; readers interpolate.
struct ClockPair {
  std::uint64_t monotonic_ns = 0;
  std::uint64_t realtime_ns = 0;
  std::uint64_t tai_ns = 0;
  std::uint64_t error_ns = 0;  // the pair was read within this span

  bool operator==(const ClockPair&) const = default;
};

// A span in which a point was off to keep within the budget: its hits are not known.
struct ShedSpan {
  PointId point = 0;
  std::uint64_t from_ns = 0;
  std::uint64_t until_ns = 0;  // 0: the capture did not end in order, and it may have come back

  bool operator==(const ShedSpan&) const = default;
};

// A span in which a point of a process or library that came while the capture ran was not armed
// yet, though it may have been hit.
struct UnarmedSpan {
  std::int32_t pid = 0;
  PointId point = kNoPoint;   // kNoPoint: all of them
  std::uint64_t from_ns = 0;  // 0: not known
  std::uint64_t until_ns = 0;

  bool operator==(const UnarmedSpan&) const = default;
};

// How far a CPU's cycle counter was ahead of that of the first CPU that was measured.
struct CounterOffset {
  std::uint32_t cpu = 0;
  std::int64_t ahead_ns = 0;
  std::uint64_t error_ns = 0;

  bool operator==(const CounterOffset&) const = default;
};

// From this time on, by the first host's clock, times of another one may be off by this against it.
struct ClockBound {
  std::uint64_t from_ns = 0;
  std::uint64_t error_ns = 0;

  bool operator==(const ClockBound&) const = default;
};

// One host of a merged trace. Its streams are those from first_stream on, up to the next one's.
struct MergedHost {
  std::uint32_t first_stream = 0;
  std::uint64_t stamp_error_ns = 0;  // of its stamps against each other
  // How far times between its events may be too long or too short, in parts of 10^9: they are by
  // the clock of the first host.
  std::uint64_t rate_error_ppb = 0;
  std::vector<ClockBound> bounds = {};  // in the order of time; empty: the first host

  bool operator==(const MergedHost&) const = default;
};

// The index of the host whose stream it is; 0 if there is one host.
std::size_t host_of(const std::vector<MergedHost>& hosts, std::uint32_t stream);

struct StampOfHost {
  std::size_t host = 0;
  std::uint64_t ts_ns = 0;
};
// How far the time between two stamps may be off: by the host's own error, or by the bounds of two
// hosts' clocks at these times.
std::uint64_t time_error_ns(const std::vector<MergedHost>& hosts, StampOfHost one,
                            StampOfHost other);

// Every hit with open_ns <= ts < close_ns is in the trace or in the ledger, except those of shed
// points and of points that were not armed yet. close_ns is 0 in a trace whose capture did not end
// in order.
struct Capture {
  std::string tracer;  // "sojourn 0.1.0"
  Engine engine = Engine::kBpf;
  std::string attach;  // "uprobe_multi", "perf uprobes"
  std::uint32_t sites = 0;
  std::uint64_t open_ns = 0;
  std::uint64_t close_ns = 0;
  std::string ended_by;  // "duration", "interrupt", "SIGTERM", "target exit", "write error"
  // By stream: the sequence number that follows its last hit, kept or lost. Empty: not known, as
  // the capture did not end in order, or went on.
  std::vector<std::uint64_t> stream_hits;
  // By stream: the first sequence number of the trace; 0 for streams without an entry.
  std::vector<std::uint64_t> stream_first;
  std::uint64_t tracer_cpu_ns = 0;
  std::uint64_t target_cpu_ns = 0;  // between the marks
  std::uint64_t stamp_error_ns =
      0;  // the largest error of stamps; 0: they were read from the clock
  // The hosts of a merged trace, by first_stream: stamp_error_ns then holds for stamps of different
  // hosts. Empty: all streams are one host's.
  std::vector<MergedHost> hosts;
  std::uint64_t stamp_delay_ns = 0;    // of eBPF, measured by trials and subtracted from its stamps
  std::uint64_t tracer_rss_bytes = 0;  // at most
  std::uint64_t longest_starved_ns = 0;    // the longest time that the tracer waited for a CPU
  std::vector<std::uint64_t> hit_cost_ps;  // by point, of the target's time; 0 or missing: unknown
  // By point: how far off that may be, as several measurements differ; missing: not known.
  std::vector<std::uint64_t> hit_spread_ps;
  std::vector<ShedSpan> shed;
  std::vector<UnarmedSpan> unarmed;
  std::vector<std::string> unplaced;  // points of maps that the program has no place for: "D a--b"
  std::vector<CounterOffset> counter_offsets;  // of all CPUs but the first; empty: not measured
  bool counters_corrected = false;             // stamps of rings are corrected by them
  std::uint64_t events_of_unknown_cpu = 0;     // corrected by the middle of them all
  // The script that the events went through before they were written: activities and markers are
  // among them, and links are ids already. Empty: none did.
  std::string script;
};

// Stored in traces: values are explicit and never reused.
enum class LossCause : std::uint8_t {
  kRingFull = 0,        // the stream's buffer had no room
  kReserveRefused = 1,  // the kernel refused for another reason
  kRecursionMissed = 2,
  kFiltered = 3,
  kNotArmed = 4,
  kNoRing = 5,
  kTargetGone = 6,
  kWriterBehind = 7,    // drained, but the disk did not take it in time
  kUnderWay = 8,        // not whole when the capture ended: its thread was stopped in the middle
  kUnreadable = 9,      // a span of the ring was not valid: one hit for each span, at least
  kConnectionCut = 10,  // of a stream: it passed between two connections, or was in the first
  kStreamed = 11,       // of a file: only readers of the stream got it (`record --file unread`)
};
std::string_view name(LossCause cause);

// Returns whether a lost hit leaves a gap in its stream. It does not if it took no number.
bool takes_sequence_number(LossCause cause);

struct LedgerEntry {
  std::uint32_t stream = 0;
  PointId point = 0;
  LossCause cause = LossCause::kRingFull;
  std::uint64_t count = 0;

  bool operator==(const LedgerEntry&) const = default;
};

using Ledger = std::vector<LedgerEntry>;

// The beginning of one part of a streamed trace. A reader whose connection broke gets another part,
// which continues the earlier ones. Both numbers count from the beginning of the capture.
struct Origin {
  std::string capture;                      // a random name, which all readers of a capture get
  std::vector<std::uint64_t> stream_first;  // by stream: the part's first sequence number
  Ledger lost;                              // losses before that
};

// For how long each point was off, for the budget or by a switch. A span without an end reaches to
// the end of the capture.
std::map<PointId, std::uint64_t> times_shed_ns(const Capture& capture);

// The longest of these times, as a share of the capture.
double longest_shed_share(const Capture& capture);

}  // namespace sojourn::model
