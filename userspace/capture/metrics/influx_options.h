// The address and the login of the InfluxDB to which figures are written, in its line protocol:
// `/write?db=NAME` of version 1, or `/api/v2/write?org=ORG&bucket=BUCKET` of version 2. Plain data.
#pragma once

#include <chrono>
#include <string>
#include <string_view>

#include "analysis/base/result.h"
#include "analysis/metrics/exposition.h"
#include "userspace/http/client.h"

namespace sojourn::capture {

struct InfluxOptions {
  http::Url url;
  std::string authorization;  // the header's value; empty: none
  std::chrono::nanoseconds period = std::chrono::seconds(5);
  metrics::Labels tags;  // tags that every point gets
};

// Adds the path if the URL has only the query. Fails if the query names no database or bucket, or
// contains a secret.
Result<http::Url> parse_influx_url(std::string_view text);

// Returns the value of the Authorization header. The secret is the token of version 2, or
// NAME:PASSWORD of version 1.
std::string influx_authorization(const http::Url& url, std::string_view secret);

}  // namespace sojourn::capture
