#include "userspace/capture/metrics/influx_options.h"

#include <cstddef>
#include <cstdint>
#include <optional>
#include <utility>

#include "userspace/http/request.h"

namespace sojourn::capture {

namespace {

constexpr std::string_view kWrite1 = "/write";
constexpr std::string_view kWrite2 = "/api/v2/write";

std::string_view query_of(std::string_view path) {
  const std::size_t mark = path.find('?');
  return mark == std::string_view::npos ? std::string_view() : path.substr(mark + 1);
}

bool is_version_2(std::string_view query) {
  return http::value_of(query, "bucket", '&').has_value();
}

// Encodes as RFC 4648 says.
std::string base64(std::string_view bytes) {
  constexpr std::string_view kDigits =
      "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
  std::string text;
  for (std::size_t at = 0; at < bytes.size(); at += 3) {
    std::uint32_t three = 0;
    for (std::size_t one = 0; one < 3; ++one)
      three =
          three << 8 | (at + one < bytes.size() ? static_cast<unsigned char>(bytes[at + one]) : 0U);
    for (std::size_t digit = 0; digit < 4; ++digit)
      text += at + digit > bytes.size() ? '=' : kDigits[three >> (18 - 6 * digit) & 63];
  }
  return text;
}

}  // namespace

Result<http::Url> parse_influx_url(std::string_view text) {
  if (!text.starts_with("http://"))
    return fail(
        "\"{}\": only http:// is spoken, to a database such as http://HOST:8086/write?db=NAME; a "
        "proxy on this machine can pass it on by TLS",
        text.substr(0, text.find('?')));
  SJ_TRY(url, http::parse_url(text));
  const std::string query(query_of(url.path));
  const auto has = [&query](std::string_view name) {
    const auto value = http::value_of(query, name, '&');
    return value.has_value() && !value->empty();
  };
  for (const std::string_view secret : {"p", "u", "token"})
    if (http::value_of(query, secret, '&'))
      return fail("\"{}\": others would see what proves who you are: --influx-token takes a file",
                  text.substr(0, text.find('?')));
  if (!has("db") && !has("bucket"))
    return fail(
        "\"{}\" does not say where to: http://HOST:8086/write?db=NAME, or "
        "http://HOST:8086/api/v2/write?org=ORG&bucket=BUCKET",
        text);
  if (const auto precision = http::value_of(query, "precision", '&');
      precision && *precision != "ns" && *precision != "n")
    return fail("\"{}\": times are written in nanoseconds (precision=ns)", text);
  const std::size_t mark = url.path.find('?');
  if (mark <= 1) url.path.replace(0, mark, is_version_2(query) ? kWrite2 : kWrite1);
  return std::move(url);
}

std::string influx_authorization(const http::Url& url, std::string_view secret) {
  return is_version_2(query_of(url.path)) ? "Token " + std::string(secret)
                                          : "Basic " + base64(secret);
}

}  // namespace sojourn::capture
