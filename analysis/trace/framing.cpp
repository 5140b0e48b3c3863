#include "analysis/trace/framing.h"

#include <algorithm>
#include <cstring>
#include <utility>

#include "analysis/model/capture_info.h"
#include "analysis/trace/meta.h"

namespace sojourn::trace {

void Framing::add(std::span<const std::uint8_t> bytes) {
  while (!bytes.empty() && is_trace_) {
    const bool skips = skip_bytes_ != 0;
    const auto step = static_cast<std::size_t>(
        std::min<std::uint64_t>(skips ? skip_bytes_ : wanted_bytes_ - held_.size(), bytes.size()));
    if (!skips) held_.insert(held_.end(), bytes.begin(), bytes.begin() + static_cast<long>(step));
    bytes = bytes.subspan(step);
    came_bytes_ += step;
    if (skips) {
      skip_bytes_ -= step;
      if (skip_bytes_ == 0) whole_bytes_ = came_bytes_;
    } else if (held_.size() == wanted_bytes_) {
      take_held();
    }
  }
}

void Framing::expect(Expects what, std::size_t bytes) {
  expects_ = what;
  wanted_bytes_ = bytes;
  held_.clear();
}

void Framing::take_held() {
  switch (expects_) {
    case Expects::kFileHeader:
      return take_file_header();
    case Expects::kHeader:
      return take_header();
    case Expects::kPayload:
      return take_payload();
  }
}

void Framing::take_file_header() {
  std::uint64_t magic = 0;
  std::memcpy(&magic, held_.data(), sizeof(magic));
  is_trace_ = magic == kFileMagic;
  if (!is_trace_) return;
  whole_bytes_ = came_bytes_;
  expect(Expects::kHeader, sizeof(BlockHeader));
}

void Framing::take_header() {
  std::memcpy(&header_, held_.data(), sizeof(header_));
  is_trace_ = is_sound(header_);
  if (!is_trace_) return;
  const bool matters = header_.type == BlockType::kOrigin || header_.type == BlockType::kCapture;
  if (matters && header_.payload_bytes != 0)
    return expect(Expects::kPayload, header_.payload_bytes);
  skip_bytes_ = header_.payload_bytes;
  if (skip_bytes_ == 0) whole_bytes_ = came_bytes_;
  expect(Expects::kHeader, sizeof(BlockHeader));
}

// Takes a payload. A damaged one changes nothing.
void Framing::take_payload() {
  whole_bytes_ = came_bytes_;
  if (const auto raw = opener_.open(header_, held_)) {
    model::Origin origin;
    model::Capture capture;
    if (header_.type == BlockType::kCapture)
      has_ended_ = from_json(*raw, capture) && capture.close_ns != 0;
    else if (from_json(*raw, origin))
      capture_ = std::move(origin.capture);
  }
  expect(Expects::kHeader, sizeof(BlockHeader));
}

}  // namespace sojourn::trace
