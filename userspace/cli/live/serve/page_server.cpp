#include "userspace/cli/live/serve/page_server.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <optional>
#include <string_view>
#include <utility>

#include <fmt/format.h>
#include <nlohmann/json.hpp>
#include <poll.h>
#include <sys/random.h>

#include "userspace/base/fail_errno.h"
#include "userspace/cli/tell.h"

namespace sojourn::cli {

namespace {

using nlohmann::json;
using std::chrono::milliseconds;

constexpr milliseconds kBetweenFigures(500);
constexpr std::chrono::seconds kHeartbeat(5);
constexpr milliseconds kBetweenLooks(50);  // at what grows
constexpr milliseconds kNothingGrows(1000);
constexpr auto kAlive = "event: alive\ndata: {}\n\n";
constexpr auto kJson = "application/json";

Result<std::string> random_digits(std::size_t bytes) {
  std::string digits;
  std::array<unsigned char, 32> random{};
  if (getrandom(random.data(), bytes, 0) != static_cast<ssize_t>(bytes))
    return fail_errno("make a token");
  for (std::size_t at = 0; at < bytes; ++at) digits += fmt::format("{:02x}", random.at(at));
  return digits;
}

// The comparison's time does not depend on where the texts differ.
bool is_same_secret(std::string_view told, std::string_view secret) {
  unsigned difference = told.size() == secret.size() ? 0 : 1;
  for (std::size_t at = 0; at < told.size(); ++at)
    difference |= static_cast<unsigned char>(told[at]) ^
                  static_cast<unsigned char>(secret[at % secret.size()]);
  return difference == 0;
}

http::Response refused(const char* status, std::string words) {
  http::Response response;
  response.status = status;
  response.body = std::move(words) + "\n";
  return response;
}

http::Response json_response(const json& object, const char* status = "200 OK") {
  http::Response response;
  response.status = status;
  response.content_type = kJson;
  response.body = object.dump(-1, ' ', false, json::error_handler_t::replace) + "\n";
  return response;
}

http::Response not_there() {
  return refused("404 Not Found", "there is nothing of that name");
}

}  // namespace

Result<std::unique_ptr<PageServer>> PageServer::create(
    base::Fd listener, std::vector<std::unique_ptr<ServedTrace>> traces,
    const PageServerOptions& options, std::string& link) {
  SJ_TRY(page, page::served_page());
  SJ_TRY(token, random_digits(16));
  // The cookie needs a unique name, because all ports of a host share their cookies.
  SJ_TRY(number, random_digits(4));
  link = "/?token=" + token;
  return std::unique_ptr<PageServer>(new PageServer(std::move(listener), std::move(traces),
                                                    std::move(page), options, std::move(token),
                                                    "sojourn-" + number));
}

PageServer::PageServer(base::Fd listener, std::vector<std::unique_ptr<ServedTrace>> traces,
                       page::ServedPage page, const PageServerOptions& options, std::string token,
                       std::string cookie)
    : page_(std::move(page)),
      is_readonly_(options.is_readonly),
      token_(std::move(token)),
      cookie_(std::move(cookie)),
      server_(std::move(listener), {.clients = options.clients},
              [this](const http::Request& request) { return answer(request); }) {
  for (auto& trace : traces) shown_.push_back({.trace = std::move(trace)});
}

Result<void> PageServer::run(int signals) {
  std::vector<pollfd> watched(1, {.fd = signals, .events = POLLIN, .revents = 0});
  for (const Shown& shown : shown_)
    watched.push_back({.fd = shown.trace->messages(), .events = POLLIN, .revents = 0});
  while (watched.front().revents == 0) {
    bool may_be_more = false;
    bool grows = false;
    for (Shown& shown : shown_) {
      const bool was_growing = shown.trace->is_growing();
      may_be_more |= shown.trace->follow();
      grows |= shown.trace->is_growing();
      if (was_growing && !shown.trace->is_growing()) SJ_CHECK(tell_problem(*shown.trace));
    }
    send_events();
    // A pipe without a writer is readable for ever, so it is not watched.
    for (std::size_t at = 0; at < shown_.size(); ++at)
      if (!shown_[at].trace->is_growing()) watched[at + 1].fd = -1;
    server_.turn(may_be_more ? milliseconds(0) : grows ? kBetweenLooks : kNothingGrows, watched);
  }
  for (Shown& shown : shown_) shown.trace->stop();
  return {};
}

// The terminal tells what pages show. The error of the last trace that could be served ends it all.
Result<void> PageServer::tell_problem(const ServedTrace& ended) const {
  if (ended.problem().empty()) return {};
  if (std::ranges::all_of(shown_, [](const Shown& shown) { return shown.trace->has_nothing(); }))
    return fail("{}", ended.problem());
  tell("sojourn: {}\n", ended.problem());
  return {};
}

void PageServer::send_events() {
  const auto now = Clock::now();
  for (std::size_t number = 0; number < shown_.size(); ++number) {
    Shown& shown = shown_[number];
    shown.is_stale |= shown.trace->take_news();
    if (!server_.has_listeners(number)) continue;
    if (shown.is_stale && now - shown.sent >= kBetweenFigures) {
      server_.send_event(number, shown.trace->event());
      shown.sent = shown.heard = now;
      shown.is_stale = false;
    } else if (now - shown.heard >= kHeartbeat) {
      server_.send_event(number, kAlive);
      shown.heard = now;
    }
  }
}

http::Response PageServer::answer(const http::Request& request) {
  http::Response response = answer_stranger(request);
  response.headers += "Cross-Origin-Resource-Policy: same-origin\r\n";
  return response;
}

http::Response PageServer::answer_stranger(const http::Request& request) {
  if (!http::is_own_host(request.host))
    return refused("403 Forbidden",
                   "the Host header must name this machine: localhost or 127.0.0.1");
  const bool changes = request.method == "POST";
  if (request.method != "GET" && !changes) return refused("405 Method Not Allowed", "GET or POST");
  if ((changes || !request.origin.empty()) && request.origin != "http://" + request.host)
    return refused("403 Forbidden", "the request is from the page of another site");
  const auto told = http::value_of(request.query, "token", '&');
  if (!changes && request.path == "/" && told && is_same_secret(*told, token_)) return page(true);
  const auto cookie = http::value_of(request.cookie, cookie_, ';');
  if (!cookie || !is_same_secret(*cookie, token_))
    return refused("403 Forbidden", "open the link that `sojourn serve` has printed");
  return answer_known(request);
}

http::Response PageServer::answer_known(const http::Request& request) {
  std::size_t number = 0;
  if (const Shown* const shown = shown_behind(request.path, "/control/", number)) {
    if (request.method != "POST") return refused("405 Method Not Allowed", "POST");
    return control(*shown->trace, request);
  }
  if (request.method != "GET") return not_there();
  if (request.path == "/") return page(false);
  if (request.path == "/state") {
    http::Response response;
    response.content_type = kJson;
    response.body = state();
    return response;
  }
  if (const Shown* const shown = shown_behind(request.path, "/trace/", number))
    return bytes(*shown->trace, request);
  if (shown_behind(request.path, "/live/", number) != nullptr) return events(number);
  return not_there();
}

PageServer::Shown* PageServer::shown_behind(std::string_view path, std::string_view prefix,
                                            std::size_t& number) {
  if (!path.starts_with(prefix)) return nullptr;
  path.remove_prefix(prefix.size());
  const auto [end, code] = std::from_chars(path.data(), path.data() + path.size(), number);
  if (code != std::errc() || end != path.data() + path.size() || number >= shown_.size())
    return nullptr;
  return &shown_[number];
}

http::Response PageServer::page(bool is_new) {
  http::Response response;
  response.content_type = "text/html; charset=utf-8";
  response.headers = fmt::format(
      "Content-Security-Policy: {}; frame-ancestors 'none'\r\n"
      "Cross-Origin-Opener-Policy: same-origin\r\n"
      "Referrer-Policy: no-referrer\r\n",
      page_.policy);
  if (is_new)
    response.headers +=
        fmt::format("Set-Cookie: {}={}; HttpOnly; SameSite=Strict; Path=/\r\n", cookie_, token_);
  response.lasting_body = page_.html;
  return response;
}

std::string PageServer::state() const {
  json object = {{"readonly", is_readonly_}, {"traces", json::array()}};
  for (const Shown& shown : shown_) {
    const ServedTrace& trace = *shown.trace;
    object["traces"].push_back({{"name", trace.name()},
                                {"size", trace.size()},
                                {"growing", trace.is_growing()},
                                {"capture", trace.is_capture()},
                                {"pid", trace.pid()}});
  }
  return object.dump(-1, ' ', false, json::error_handler_t::replace) + "\n";
}

http::Response PageServer::bytes(const ServedTrace& trace, const http::Request& request) const {
  http::Response response;
  response.content_type = "application/octet-stream";
  response.headers = "Accept-Ranges: bytes\r\n";
  if (request.query == "save")
    response.headers += "Content-Disposition: attachment; filename=\"run.sjt\"\r\n";
  http::ByteRange range;
  const http::Ranged ranged = http::parse_range(request.range, trace.size(), range);
  if (ranged == http::Ranged::kNone) {
    response = refused("416 Range Not Satisfiable", "the trace is not that long");
    response.headers = fmt::format("Content-Range: bytes */{}\r\n", trace.size());
    return response;
  }
  if (ranged == http::Ranged::kPart) {
    response.status = "206 Partial Content";
    response.headers += fmt::format("Content-Range: bytes {}-{}/{}\r\n", range.offset,
                                    range.offset + range.bytes - 1, trace.size());
  }
  response.file = {.fd = trace.file(), .offset = range.offset, .bytes = range.bytes};
  return response;
}

http::Response PageServer::events(std::size_t number) {
  http::Response response;
  response.content_type = "text/event-stream";
  response.channel = number;
  response.body = "retry: 2000\n\n" + shown_[number].trace->event();
  return response;
}

http::Response PageServer::control(const ServedTrace& trace, const http::Request& request) const {
  if (is_readonly_) return json_response({{"error", "not with --readonly"}}, "403 Forbidden");
  const json asked = json::parse(request.body, nullptr, false);
  const auto text_of = [&asked](const char* name) {
    const auto found = asked.find(name);
    return found != asked.end() && found->is_string() ? found->get<std::string>() : std::string();
  };
  if (!asked.is_object() || text_of("action").empty())
    return json_response({{"error", "a JSON object with an \"action\" is wanted"}},
                         "400 Bad Request");
  const auto done = trace.obey(text_of("action"), text_of("points"));
  if (!done) return json_response({{"error", done.error().text()}}, "409 Conflict");
  return json_response({{"answer", *done}});
}

}  // namespace sojourn::cli
