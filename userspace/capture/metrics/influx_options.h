// Where figures are written as InfluxDB's line protocol: `/write?db=NAME` of version 1, or
// `/api/v2/write?org=ORG&bucket=BUCKET` of version 2. Plain data.
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
  metrics::Labels tags;  // of all points
};

// Adds the path where only the query was given. An error where it does not say which database or
// bucket, or has a secret in it.
Result<http::Url> parse_influx_url(std::string_view text);

// What proves to that server who writes: the token of version 2, or of version 1 NAME:PASSWORD.
std::string influx_authorization(const http::Url& url, std::string_view secret);

}  // namespace sojourn::capture
