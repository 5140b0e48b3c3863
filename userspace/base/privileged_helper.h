// The privileged helper: a process that keeps the rights which this process gives up, and answers
// requests that take them. It is forked while this process still has its rights, knows few kinds of
// requests, checks each of them, and ends with this process, however that ends.
//
// A request is a message over a connection of its own, which is handed to the helper with it. So
// any thread may ask, and so may a forked child of this process. How requests are answered is not
// known here (capture/helper/privileged_requests.h).
//
// Rights belong to a whole process, and may be missing wherever it opens a file. So there is one
// helper for the process, found by of_this_process(), and it is not passed along through everything
// that reads.
#pragma once

#include <cstdint>
#include <functional>

#include <sys/types.h>

#include "analysis/base/result.h"
#include "userspace/base/fd.h"
#include "userspace/base/message.h"

namespace sojourn::base {

enum class PrivilegedRequest : std::uint32_t {
  kOpen = 1,          // a file, for reading
  kReadLink = 2,      // where a link leads
  kReadLinks = 3,     // all links of a directory
  kOpenRings = 4,     // the rings of a process, for writing
  kOwnerPage = 5,     // what a ring's owner alone has
  kPerfEvent = 6,     // of a thread
  kSockets = 7,       // a question about the sockets of a network namespace
  kCosts = 8,         // what a hit by eBPF costs here
  kProbes = 9,        // a process that holds probes: the connection is to that one from then on
  kInstruction = 10,  // that a thread will go on with
};

// What a request comes to. `errno` of a failed one is told as well.
using Answer = Message;

class PrivilegedHelper {
 public:
  // In the privileged helper. Where it took the connection over, nothing is answered.
  using Serve =
      std::function<Result<Answer>(PrivilegedRequest request, Unpacker& wanted, Fd& connection)>;

  // `prepare` is run in the privileged helper first. While this process has one thread.
  static Result<PrivilegedHelper> start(const std::function<Result<void>()>& prepare,
                                        const Serve& serve);
  PrivilegedHelper(PrivilegedHelper&& other) noexcept;
  PrivilegedHelper& operator=(PrivilegedHelper&&) = delete;
  ~PrivilegedHelper();  // returns once it is gone

  // Null where there is none: this process has what rights it needs, or never had any.
  static const PrivilegedHelper* of_this_process();

  // False: somebody has killed it.
  bool is_alive() const;

  // Any thread. Sets errno where it fails.
  Result<Answer> ask(PrivilegedRequest request, Packer wanted) const;
  // The connection, on which the request was put.
  Result<Fd> begin(PrivilegedRequest request, Packer wanted) const;

 private:
  PrivilegedHelper(Fd socket, pid_t child) : socket_(std::move(socket)), child_(child) {}

  Fd socket_;
  pid_t child_ = -1;
};

// Takes the answer from a connection on which a request was sent.
Result<Answer> take_answer(int connection);
Result<void> send_answer(int connection, const Result<Answer>& answer, int code = 0);

}  // namespace sojourn::base
