// Answers requests at a listening socket, with one answer a connection: a text, a part of a file,
// or a stream of events (text/event-stream) that goes on until one side ends it. It never blocks,
// and its clients can use only bounded memory: their number, a request's size and time, one event a
// stream. A client that takes nothing is dropped. One thread owns a Server and calls turn().
// SIGPIPE must be ignored if files are sent.
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <list>
#include <optional>
#include <span>
#include <string>
#include <string_view>

#include <poll.h>

#include "userspace/base/fd.h"
#include "userspace/http/request.h"

namespace sojourn::http {

struct Response {
  // Bytes of a file that is open for as long as the server is.
  struct FilePart {
    int fd = -1;
    std::uint64_t offset = 0;
    std::uint64_t bytes = 0;
  };

  std::string status = "200 OK";
  std::string content_type = "text/plain; charset=utf-8";
  std::string headers;  // additional headers, each with its "\r\n"
  std::string body;
  std::string_view lasting_body;       // behind `body`; it lives as long as the server
  std::optional<FilePart> file;        // behind both of them
  std::optional<std::size_t> channel;  // a stream of events: its channel
};

struct Limits {
  std::size_t clients = 64;
  std::chrono::seconds request{10};     // for receiving a request
  std::chrono::seconds standstill{30};  // without progress in sending an answer
};

class Server {
 public:
  using Answer = std::function<Response(const Request&)>;

  Server(base::Fd listener, Limits limits, Answer answer)
      : listener_(std::move(listener)), limits_(limits), answer_(std::move(answer)) {}
  Server(const Server&) = delete;
  Server& operator=(const Server&) = delete;

  // Waits for at most the timeout, or until one of the caller's descriptors (`also`) is ready. Then
  // does everything that can be done at once.
  void turn(std::chrono::milliseconds timeout, std::span<pollfd> also);

  // Sends the event to all clients of that channel. A client that has not taken the one before
  // misses this one.
  void send_event(std::size_t channel, std::string_view event);
  bool has_listeners(std::size_t channel) const;

  std::size_t clients() const { return clients_.size(); }
  std::uint64_t missed_events() const { return missed_events_; }

 private:
  struct Client {
    base::Fd fd;
    std::uint64_t until_ns = 0;
    std::string request;
    std::string answer;
    std::size_t sent = 0;  // of the answer
    std::string_view lasting;
    std::optional<Response::FilePart> file;
    std::optional<std::size_t> channel;
    bool has_asked = false;
    bool hears = true;  // the other side has not shut down
    std::size_t thrown_away = 0;
    bool is_done = false;

    bool has_more() const { return sent < answer.size() || !lasting.empty() || file; }
  };

  void accept_all();
  bool make_room();
  void serve(Client& client, short events);
  void receive(Client& client);
  void discard_input(Client& client);
  void begin_answer(Client& client, Response response) const;
  void send_more(Client& client);
  static std::ptrdiff_t send_some(Client& client);
  void extend(Client& client, std::chrono::seconds by) const;

  base::Fd listener_;
  Limits limits_;
  Answer answer_;
  std::list<Client> clients_;  // the oldest first
  std::uint64_t missed_events_ = 0;
};

}  // namespace sojourn::http
