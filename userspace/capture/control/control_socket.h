// How `sojourn ctl` speaks to a capture: a socket in the abstract name space, which leaves no file
// and ends with its owner. A request is a line of words, an answer is "ok TEXT" or "error TEXT".
// Only the capture's own user and root are heard, and only an answer of one's own user or root is
// believed. One thread owns a ControlSocket; it never blocks.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include <sys/types.h>

#include "analysis/base/result.h"
#include "userspace/base/fd.h"

namespace sojourn::capture {

class ControlSocket {
 public:
  struct Request {
    int client = 0;
    std::string words;
  };

  static Result<ControlSocket> listen(pid_t target);

  // Is found by this target's pid as well; no more by this one's.
  Result<void> add(pid_t target);
  void remove(pid_t target);

  int fd() const { return poll_.get(); }  // readable: there is something for take()

  // What was asked since the last call.
  std::vector<Request> take();

  // Ends the client's connection. One that is gone is no error.
  void answer(int client, bool worked, std::string_view text);

 private:
  struct Client {
    int number = 0;
    base::Fd fd;
    bool asked = false;
  };

  ControlSocket() = default;
  void accept_all(int socket);
  void hear(Client& client, std::vector<Request>& requests);

  struct Name {
    pid_t target = 0;
    base::Fd socket;
  };

  std::vector<Name> names_;
  base::Fd poll_;
  std::vector<Client> clients_;
  int next_client_ = 0;
};

// Asks the capture of the process; with several, all of them, and the answers are one below the
// other. An error where there is none, or one says that it did not work.
Result<std::string> ask_capture(pid_t target, std::string_view words);

// Whether anything records the process that would answer.
bool has_capture(pid_t target);

}  // namespace sojourn::capture
