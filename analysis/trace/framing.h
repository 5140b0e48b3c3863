// Follows the bytes of a trace as they come through a connection, without keeping them: where the
// last whole block ends, which capture it is, and whether that has ended. One thread owns it.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "analysis/trace/block.h"
#include "analysis/trace/format.h"

namespace sojourn::trace {

class Framing {
 public:
  void add(std::span<const std::uint8_t> bytes);

  // The received bytes up to the end of the last whole block.
  std::uint64_t whole_bytes() const { return whole_bytes_; }
  // The capture's name from its origin block; empty: there was none so far.
  const std::string& capture() const { return capture_; }
  bool has_ended() const { return has_ended_; }  // the capture said why it ended
  bool is_trace() const { return is_trace_; }    // false: the bytes cannot be a trace

 private:
  enum class Expects : std::uint8_t { kFileHeader, kHeader, kPayload };

  void take_held();
  void take_file_header();
  void take_header();
  void take_payload();
  void expect(Expects what, std::size_t bytes);

  Expects expects_ = Expects::kFileHeader;
  std::size_t wanted_bytes_ = sizeof(FileHeader);
  std::vector<std::uint8_t> held_;  // bytes of the expected part
  std::uint64_t skip_bytes_ = 0;    // of a payload that does not matter
  std::uint64_t came_bytes_ = 0;
  std::uint64_t whole_bytes_ = 0;
  BlockHeader header_;
  BlockOpener opener_;
  std::string capture_;
  bool has_ended_ = false;
  bool is_trace_ = true;
};

}  // namespace sojourn::trace
