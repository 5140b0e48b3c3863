// A request as servers of a few pages need it (RFC 9112). Any bytes are understood or refused.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace sojourn::http {

constexpr std::size_t kMaxHeadBytes = 16 << 10;
constexpr std::size_t kMaxBodyBytes = 4 << 10;

struct Request {
  std::string method;  // "GET"
  std::string path;    // "/metrics", without what follows a '?'
  std::string query;   // the part behind the '?'
  std::string host;
  std::string origin;
  std::string accept;
  std::string cookie;
  std::string range;
  std::string body;
};

// Nothing if the request is incomplete or invalid; `is_wrong` says which.
std::optional<Request> parse_request(std::string_view bytes, bool& is_wrong);

// Returns whether the name in a Host header is this machine's own. A page of a foreign site may
// resolve its name to 127.0.0.1, but the header has that name.
bool is_own_host(std::string_view host);

// Returns the value of "name=value" in a list that `between` divides; nothing if it is missing.
std::optional<std::string_view> value_of(std::string_view list, std::string_view name,
                                         char between);

struct ByteRange {
  std::uint64_t offset = 0;
  std::uint64_t bytes = 0;
};
enum class Ranged : std::uint8_t { kWhole, kPart, kNone };  // kNone: beyond the end of the file

// Finds the part of `size` bytes that a Range header asks for. More than one range is answered by
// the whole.
Ranged parse_range(std::string_view header, std::uint64_t size, ByteRange& into);

}  // namespace sojourn::http
