#include "userspace/capture/output/item_store.h"

#include <algorithm>
#include <cstring>
#include <span>
#include <type_traits>
#include <utility>

#include "userspace/base/clock.h"
#include "userspace/files/trace_file.h"

namespace sojourn::capture {

Result<Dumped> ItemStore::dump(const std::string& path, const model::Capture&) const {
  return fail("dump {}: nothing is held", path);
}

Result<trace::Writer> ItemStore::begin_file(const std::string& path, model::Capture&) const {
  return fail("dump {}: nothing is held", path);
}

Result<void> FileStore::take(const Item& item) {
  return std::visit([this](const auto& content) { return writer_.write(content); }, item);
}

Result<void> FlightStore::take(const Item& item) {
  return std::visit(
      [&](const auto& content) -> Result<void> {
        using Content = std::remove_cvref_t<decltype(content)>;
        if constexpr (std::is_same_v<Content, model::EventBatch>) {
          return hold(content);
        } else if constexpr (std::is_same_v<Content, model::Schema>) {
          schema_ = content;
        } else if constexpr (std::is_same_v<Content, model::ClockPair>) {
          clocks_.push_back(content);
        } else if constexpr (std::is_same_v<Content, model::Ledger>) {
          ledgers_.push_back({base::monotonic_ns(), content});
        } else if constexpr (std::is_same_v<Content, model::Sampling>) {
          sampling_ = content;  // totals: a newer block comes every second and replaces this one
        } else if constexpr (std::is_same_v<Content, model::Energy>) {
          energy_ = content;
        } else if constexpr (!std::is_same_v<Content, model::Capture>) {
          others_.emplace_back(content);
        }
        return {};
      },
      item);
}

Result<void> FlightStore::hold(const model::EventBatch& events) {
  SJ_CHECK(packer_.pack(events, schema_, [this](std::span<const std::uint8_t> bytes) {
    hold_block(bytes);
    return Result<void>{};
  }));
  forget();
  return {};
}

Result<void> FlightStore::take_block(std::span<const std::uint8_t> block) {
  hold_block(block);
  forget();
  return {};
}

void FlightStore::hold_block(std::span<const std::uint8_t> bytes) {
  Block& block = blocks_.emplace_back();
  std::memcpy(&block.header, bytes.data(), sizeof(block.header));
  block.bytes.assign(bytes.begin(), bytes.end());
  held_bytes_ += block.bytes.size();
  held_events_ += block.header.events;
  newest_ns_ = std::max(newest_ns_, block.header.max_ts_ns);
}

// Forgets whole blocks, so more than the requested history may be held.
void FlightStore::forget() {
  const auto span = static_cast<std::uint64_t>(history_.span.count());
  const auto is_wanted = [&](const Block& oldest) {
    const bool is_recent = span != 0 && oldest.header.max_ts_ns + span >= newest_ns_;
    const bool is_needed = held_events_ - oldest.header.events < history_.events;
    return (is_pinned_ || is_recent || is_needed) && held_bytes_ <= history_.bytes;
  };
  while (blocks_.size() > 1 && !is_wanted(blocks_.front())) {
    const Block& oldest = blocks_.front();
    const trace::BlockHeader& header = oldest.header;
    if (first_seq_.size() <= header.stream) first_seq_.resize(header.stream + 1);
    first_seq_[header.stream] = std::max(first_seq_[header.stream], header.last_seq + 1);
    complete_from_ns_ = std::max(complete_from_ns_, header.max_ts_ns + 1);
    held_bytes_ -= oldest.bytes.size();
    held_events_ -= header.events;
    blocks_.pop_front();
  }
  while (clocks_.size() > 1 && clocks_[1].monotonic_ns <= complete_from_ns_) clocks_.pop_front();
  while (ledgers_.size() > 1 && ledgers_[1].ts_ns <= complete_from_ns_) ledgers_.pop_front();
}

// The losses within the history: the ledger counts from the beginning of the capture, so its counts
// when the history began are subtracted.
model::Ledger FlightStore::losses_of_history() const {
  if (ledgers_.empty()) return {};
  model::Ledger losses = ledgers_.back().ledger;
  if (ledgers_.front().ts_ns > complete_from_ns_) return losses;
  for (const model::LedgerEntry& before : ledgers_.front().ledger)
    for (model::LedgerEntry& entry : losses)
      if (entry.stream == before.stream && entry.point == before.point &&
          entry.cause == before.cause)
        entry.count -= std::min(entry.count, before.count);
  std::erase_if(losses, [](const model::LedgerEntry& entry) { return entry.count == 0; });
  return losses;
}

Result<trace::Writer> FlightStore::begin_file(const std::string& path,
                                              model::Capture& about) const {
  about.open_ns = std::max(about.open_ns, complete_from_ns_);
  about.stream_first = first_seq_;
  SJ_TRY(writer, files::create_trace(path));
  const auto fill = [&]() -> Result<void> {
    SJ_CHECK(writer.write(host_));
    SJ_CHECK(writer.write(schema_));
    for (const model::ClockPair& clock : clocks_) SJ_CHECK(writer.write(clock));
    for (const Item& item : others_)
      SJ_CHECK(std::visit([&](const auto& content) { return writer.write(content); }, item));
    if (sampling_) SJ_CHECK(writer.write(*sampling_));
    if (energy_) SJ_CHECK(writer.write(*energy_));
    SJ_CHECK(writer.write(about));
    for (const Block& block : blocks_) SJ_CHECK(writer.write_block(block.bytes));
    return writer.write(losses_of_history());
  };
  if (auto filled = fill(); !filled) {
    writer.abandon();
    return std::unexpected(std::move(filled).error());
  }
  return std::move(writer);
}

Result<Dumped> FlightStore::dump(const std::string& path, const model::Capture& about) const {
  auto dumped = about;
  SJ_TRY(writer, begin_file(path, dumped));
  SJ_CHECK(writer.finish());
  return Dumped{.events = writer.events(),
                .bytes = writer.bytes(),
                .span = std::chrono::nanoseconds(dumped.close_ns - dumped.open_ns)};
}

}  // namespace sojourn::capture
