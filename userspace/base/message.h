// Messages between processes of this program, over a stream socket: a kind, bytes, and file
// descriptors. The reader trusts nothing: a message that is cut short or too long is an error and
// takes no memory. Stateless.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <span>
#include <string>
#include <string_view>
#include <type_traits>
#include <vector>

#include "analysis/base/result.h"
#include "userspace/base/fd.h"

namespace sojourn::base {

// Writes values one after the other in memory's own form, because both ends are the same program.
class Packer {
 public:
  template <typename T>
    requires std::is_trivially_copyable_v<T>
  Packer& put(const T& value) {
    const auto* const from = reinterpret_cast<const std::byte*>(&value);
    bytes_.insert(bytes_.end(), from, from + sizeof(value));
    return *this;
  }
  template <typename T>
  Packer& put_all(const std::vector<T>& values) {
    put(values.size());
    for (const T& value : values) put(value);
    return *this;
  }
  Packer& put_text(std::string_view text) {
    put(text.size());
    const auto* const from = reinterpret_cast<const std::byte*>(text.data());
    bytes_.insert(bytes_.end(), from, from + text.size());
    return *this;
  }

  std::vector<std::byte> take() { return std::move(bytes_); }

 private:
  std::vector<std::byte> bytes_;
};

// Reads the same values. Past the end it returns zeros, and is_sound() is false.
class Unpacker {
 public:
  explicit Unpacker(std::span<const std::byte> bytes) : rest_(bytes) {}

  template <typename T>
    requires std::is_trivially_copyable_v<T>
  T take() {
    if constexpr (std::is_same_v<T, bool>) {
      return take<std::uint8_t>() != 0;  // any other byte is true
    } else {
      T value{};
      if (has(1, sizeof(T))) {
        std::memcpy(&value, rest_.data(), sizeof(T));
        rest_ = rest_.subspan(sizeof(T));
      }
      return value;
    }
  }
  template <typename T>
  std::vector<T> take_all() {
    const std::size_t count = take_count(sizeof(T));
    std::vector<T> values;
    values.reserve(count);
    for (std::size_t index = 0; index < count; ++index) values.push_back(take<T>());
    return values;
  }
  std::string take_text() {
    const std::size_t length = take_count(1);
    std::string text(reinterpret_cast<const char*>(rest_.data()), length);
    rest_ = rest_.subspan(length);
    return text;
  }
  // The number of elements that follow, of at least `each` bytes; 0 if they cannot fit.
  std::size_t take_count(std::size_t each) {
    const auto count = take<std::size_t>();
    return has(count, each) ? count : 0;
  }

  bool is_sound() const { return is_sound_; }

 private:
  bool has(std::size_t count, std::size_t each) {
    is_sound_ = is_sound_ && count <= rest_.size() / std::max<std::size_t>(each, 1);
    return is_sound_;
  }

  std::span<const std::byte> rest_;
  bool is_sound_ = true;
};

struct Message {
  std::uint32_t kind = 0;
  std::vector<std::byte> bytes;
  std::vector<Fd> fds;
};

Result<void> send_message(int socket, const Message& message);

// Also fails if the other end is gone.
Result<Message> receive_message(int socket);

// False if the other end has closed.
bool has_other_end(int socket);

// The two ends of a connection.
Result<std::pair<Fd, Fd>> make_connection();

}  // namespace sojourn::base
