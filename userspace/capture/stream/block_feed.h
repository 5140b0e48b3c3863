// Passes the blocks of a running capture to any number of readers at once. Each reader gets a trace
// of its own, which begins when it connects: descriptions of the capture, blocks of events, and an
// end.
//
//   sink's thread: take(), take_block() --> [queue of reader 1] --> its thread: waiting(),
//   consume()
//                                       --> [queue of reader 2] --> ...
//
// A block is packed and held once, however many readers wait for it. A queue is bounded: a reader
// that is behind loses whole blocks of events, and its own ledger counts them as "writer behind".
// Descriptions are never lost: a reader gets them as soon as it has room. So a slow reader costs
// bounded memory only, and the sink never waits for it.
//
// A reader's trace begins at a ledger, which comes once a second. All hits before it are known by
// count, so the ledger of the reader's trace is exact from there on. The trace's origin has these
// counts. A reader that connects again computes from them how many events passed in between
// (analysis/trace/parts.h).
#pragma once

#include <cstddef>
#include <cstdint>
#include <deque>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "analysis/model/capture_info.h"
#include "analysis/trace/block.h"
#include "userspace/capture/output/block_tap.h"

namespace sojourn::capture {

class BlockFeed final : public BlockTap {
 public:
  struct Limits {
    // The limits of memory for waiting chunks. A reader may always use `sure_bytes`, and up to
    // `reader_bytes` while all readers together have less than `all_bytes`. So they take at most
    // readers x sure_bytes + all_bytes, and one block each. If others need the room, a reader that
    // has taken nothing for seconds loses what it holds above `sure_bytes`.
    std::size_t sure_bytes = std::size_t{256} << 10;
    std::size_t reader_bytes = std::size_t{16} << 20;
    std::size_t all_bytes = std::size_t{64} << 20;
    std::size_t readers = 128;
  };
  using Chunk = std::shared_ptr<const std::vector<std::uint8_t>>;
  using Wake = std::function<void()>;

  // The state of one reader. Opaque: it belongs to the feed.
  class Reader;

  explicit BlockFeed(const model::Host& host) : BlockFeed(host, Limits()) {}
  BlockFeed(const model::Host& host, Limits limits);
  ~BlockFeed() override;

  void take(const Item& item) override;
  bool take_block(std::span<const std::uint8_t> block) override;
  void finish() override;

  // The following may be called by any thread.

  // The sink's thread calls `wake` when the first chunk waits for a reader; it must return at once
  // and call nothing of the feed. Returns null if there are too many readers. A watcher keeps
  // nothing, so events that only watchers get count as unread.
  enum class Kind : std::uint8_t { kReader, kWatcher };
  std::shared_ptr<Reader> join(Wake wake, Kind kind = Kind::kReader);
  void leave(const std::shared_ptr<Reader>& reader);

  // The first chunks that wait for the reader, at most `chunks`. consume() drops those that the
  // reader has dealt with. The first chunk of a queue may have been sent in part.
  std::vector<Chunk> waiting(Reader& reader, std::size_t chunks);
  void consume(Reader& reader, std::size_t chunks);
  bool is_complete(const Reader& reader) const;  // true: the reader has taken everything

  struct Totals {
    std::uint64_t readers = 0;  // all readers and watchers so far
    std::uint64_t lost = 0;     // events that readers lost, as they were behind; not watchers
    std::size_t waiting_bytes = 0;
  };
  Totals totals() const;

 private:
  template <typename T>
  Chunk block_of(trace::BlockType type, const T& about);
  void note(Chunk description);
  void begin(Reader& reader);
  bool describe(Reader& reader);
  bool has_room(const Reader& reader, std::size_t bytes) const;
  bool offer(Reader& reader, const Chunk& chunk);
  void reclaim();
  void shorten(Reader& reader);
  void lose(Reader& reader, std::uint32_t stream, std::uint64_t events);
  void push(Reader& reader, Chunk chunk);
  void offer_all(const Chunk& chunk);
  void take_ledger(const model::Ledger& ledger);
  void send_accounts(Reader& reader, bool in_any_case);
  Chunk capture_for(const Reader& reader);
  Chunk ledger_for(const Reader& reader);
  Chunk origin_for(const Reader& reader);
  std::vector<std::uint64_t> hits_so_far() const;

  const Limits limits_;
  mutable std::mutex mutex_;  // guards everything below
  trace::BlockMaker maker_;
  std::vector<std::shared_ptr<Reader>> readers_;
  Chunk beginning_;         // the file's header, and the host
  const std::string name_;  // the capture's name in the origins of its readers' traces
  // The blocks that describe the capture, in order: a reader that begins gets all of them. Only the
  // newest schema is kept.
  std::vector<Chunk> descriptions_;
  std::optional<std::size_t> schema_;  // its index in descriptions_
  Chunk clock_;
  Chunk sampling_;
  Chunk energy_;
  model::Capture capture_;
  model::Ledger ledger_;
  std::vector<std::uint64_t> kept_;  // events so far, by stream
  std::uint64_t newest_ns_ = 0;
  bool has_finished_ = false;
  Totals totals_;
};

}  // namespace sojourn::capture
