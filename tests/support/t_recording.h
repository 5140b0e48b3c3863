// Bytes of recordings of OpenAirInterface's T tracer, for tests: what docs/oai-t.md says is read.
#pragma once

#include <cstdint>
#include <cstring>
#include <string>

namespace sojourn::test {

template <typename Number>
std::string t_number(Number number) {
  std::string bytes(sizeof number, '\0');
  std::memcpy(bytes.data(), &number, sizeof number);
  return bytes;
}

inline std::string t_record(std::int32_t number, std::int64_t seconds, std::int64_t ns,
                            const std::string& values) {
  const std::string body = t_number(seconds) + t_number(ns) + t_number(number) + values;
  return t_number(static_cast<std::int32_t>(body.size())) + body;
}

inline std::string t_buffer(const std::string& bytes) {
  return t_number(static_cast<std::int32_t>(bytes.size())) + bytes;
}

// Sends the text in parts, as the base station does.
inline std::string t_list(const std::string& text) {
  std::string bytes;
  for (std::size_t at = 0; at < text.size(); at += 40)
    bytes += t_record(-1, 1, 0, t_buffer(text.substr(at, 40)));
  return bytes + t_record(-2, 1, 0, "");
}

}  // namespace sojourn::test
