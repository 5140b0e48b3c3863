// How `sojourn ctl` speaks to a capture: a socket in the abstract name space, which leaves no file
// and ends with its owner. A request is a line of words, an answer is "ok TEXT" or "error TEXT".
// A capture accepts requests of its own user and root only, and a client accepts answers of its own
// user or root only. One thread owns a ControlSocket; it never blocks.
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

  // Makes the socket found by this target's pid as well; remove() ends that.
  Result<void> add(pid_t target);
  void remove(pid_t target);

  int fd() const { return poll_.get(); }  // readable: take() has requests

  // The requests since the last call.
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

// Asks all captures of the process, and joins the answers of those that could by newlines. Fails if
// there is none, or if none of them could.
Result<std::string> ask_capture(pid_t target, std::string_view words);

// Returns whether a capture of the process would answer.
bool has_capture(pid_t target);

}  // namespace sojourn::capture
