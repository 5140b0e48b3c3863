// The head of a request, as a server of one page needs it. Any bytes are understood or refused.
#pragma once

#include <optional>
#include <string>
#include <string_view>

namespace sojourn::capture {

struct HttpRequest {
  std::string method;  // "GET"
  std::string path;    // "/metrics", without what follows a '?'
  std::string host;
  std::string accept;
};

// None: it is not whole yet, or it is no request; `is_wrong` tells which.
std::optional<HttpRequest> parse_http_request(std::string_view bytes, bool& is_wrong);

// Whether the name in a Host header is this machine's own. A page of a foreign site whose name was
// made to mean 127.0.0.1 names itself here.
bool is_own_host(std::string_view host);

std::string http_response(std::string_view status, std::string_view content_type,
                          std::string_view body);

}  // namespace sojourn::capture
