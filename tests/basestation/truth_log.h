// Writing the truth. Each thread owns one Log: it stamps, numbers hits, counts packets, and, if a
// file was requested, collects records in its own buffer. Full buffers go to the Writer, whose
// thread writes them; so no stage waits for the disk until the Writer is far behind.
#pragma once

#include <array>
#include <atomic>
#include <condition_variable>
#include <cstdint>
#include <cstdio>
#include <memory>
#include <mutex>
#include <span>
#include <string>
#include <string_view>
#include <thread>
#include <vector>

#include "analysis/base/result.h"
#include "tests/basestation/clock.h"
#include "tests/basestation/latencies.h"
#include "tests/basestation/packet.h"

namespace sojourn::basestation {

// A place where a packet can end other than at its destination.
enum class Place : std::uint8_t {
  kSocket,
  kPdcpIn,
  kRlcTxUm,
  kRlcTxAm,
  kMacHarqDown,
  kUe,
  kPhyIn,
  kRlcRxUm,
  kPdcpRx,
  kIpOut,
};
inline constexpr std::array<std::string_view, 10> kPlaces = {
    "socket", "pdcp.in",     "rlc.tx.um", "rlc.tx.am", "mac.harq.down",
    "ue",     "phy.in.proc", "rlc.rx.um", "pdcp.rx",   "ip.out"};

// The parents and the bytes of a hit. Built only if truth is written.
struct Origin {
  std::vector<HitId> parents;
  std::vector<truth::Piece> pieces;
  HitId repeat_of = 0;
};

Origin born();  // empty: a control unit
Origin from(const Packet& packet);
Origin from(const Segment& segment);
Origin from(const TransportBlock& block);
Origin from(const Status& status);

class Writer {
 public:
  struct CloseFile {
    void operator()(std::FILE* file) const { std::fclose(file); }
  };

  // The queues' names go into the head of the file, so all queues exist before this.
  static Result<std::unique_ptr<Writer>> open(const std::string& path,
                                              std::span<const truth::QueueName> queues);
  // The object is not usable without the file's head and the thread: call open().
  Writer(std::unique_ptr<std::FILE, CloseFile> file, std::string path);
  ~Writer();
  Writer(const Writer&) = delete;
  Writer& operator=(const Writer&) = delete;

  struct Totals {
    std::uint64_t hits = 0;
    std::uint64_t queue_ops = 0;
    std::uint64_t packets = 0;
    std::uint64_t fates = 0;
    std::uint64_t preemptions = 0;
  };

  // Takes the buffer's contents and leaves an empty one in its place.
  void submit(std::uint16_t thread, std::uint32_t tid, std::vector<std::byte>& buffer);
  // Once, after the last submit.
  Result<void> finish(const Totals& totals);

 private:
  struct Block {
    std::uint16_t thread = 0;
    std::uint32_t tid = 0;
    std::vector<std::byte> bytes;
  };
  void run();
  void write(const Block& block);
  void put(std::span<const std::byte> bytes);

  std::unique_ptr<std::FILE, CloseFile> file_;
  std::string path_;
  std::mutex mutex_;
  std::condition_variable changed_;
  std::vector<Block> full_;
  std::vector<std::vector<std::byte>> spare_;
  bool finished_ = false;
  bool failed_ = false;
  std::thread thread_;
};

class Log {
 public:
  explicit Log(std::uint16_t thread) : thread_(thread) {}

  void set_writer(Writer* writer) { writer_ = writer; }
  void bind_to_this_thread();
  void flush();

  bool active() const { return writer_ != nullptr; }

  // 0 without truth. The barriers keep the stamp at its place in the code.
  std::uint64_t stamp() const {
    if (!active()) return 0;
    asm volatile("" ::: "memory");
    const std::uint64_t ts_ns = now_ns();
    asm volatile("" ::: "memory");
    return ts_ns;
  }

  HitId hit(std::uint16_t point, std::uint64_t before_ns, std::uint64_t after_ns,
            std::span<const std::uint32_t> values, const Origin& origin);
  void queue_op(std::uint16_t queue, truth::QueueAction action, std::uint64_t order,
                std::uint64_t ts_ns, std::size_t depth, std::uint64_t item);

  void preempted(const truth::Preemption& preemption);

  // From any thread.
  void measure_from(std::uint64_t ts_ns) { measured_from_ns_ = ts_ns; }

  void created(const Packet& packet, Direction direction);
  void delivered(const Packet& packet, Direction direction, std::uint64_t ts_ns);
  void dropped(PacketId packet, Direction direction, Place place);

  // Counted whether or not truth is written; read by others only when the thread is gone.
  struct Tally {
    std::uint64_t created = 0;
    std::uint64_t delivered = 0;
    // Counts packets that were delivered, and created since the measurement began.
    std::uint64_t measured_bytes = 0;
    Latencies latencies;
    std::array<std::uint64_t, kPlaces.size()> dropped{};
  };
  const Tally& tally(Direction direction) const { return tally_[static_cast<unsigned>(direction)]; }
  const Writer::Totals& totals() const { return totals_; }

 private:
  template <typename... Values>
  void put(Values... values);
  void fate(PacketId packet, unsigned place);
  void flush_if_full();

  Writer* writer_ = nullptr;
  std::uint16_t thread_;
  std::uint32_t tid_ = 0;
  std::uint64_t hits_ = 0;
  std::vector<std::byte> buffer_;
  std::array<Tally, 2> tally_;
  std::atomic<std::uint64_t> measured_from_ns_ = 0;
  Writer::Totals totals_;
};

}  // namespace sojourn::basestation
