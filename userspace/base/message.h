// Messages between processes of this program, over a stream socket of their own: a kind, bytes, and
// descriptors that are handed over. Who reads trusts nothing: what is cut short or longer than it
// may be is an error, never memory. No state.
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

// Values one after the other, as memory has them: both ends are the same program.
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

// The same values again. Behind the end there are zeros, and is_sound() is false.
class Unpacker {
 public:
  explicit Unpacker(std::span<const std::byte> bytes) : rest_(bytes) {}

  template <typename T>
    requires std::is_trivially_copyable_v<T>
  T take() {
    if constexpr (std::is_same_v<T, bool>) {
      return take<std::uint8_t>() != 0;  // whatever the byte is
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
  // How many follow, of `each` bytes at least; 0 where there is not room for them.
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

// Fails where the other end is gone, too.
Result<Message> receive_message(int socket);

// Whether anybody could still hear what is sent.
bool has_other_end(int socket);

// Two ends of a connection.
Result<std::pair<Fd, Fd>> make_connection();

}  // namespace sojourn::base
