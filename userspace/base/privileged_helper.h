// A process that keeps the rights that this process gives up, and handles requests that need them.
// It is forked while this process still has its rights. It knows few kinds of requests, checks each
// of them, and ends with this process, also when this process is killed.
//
// A request is a message over a connection of its own, whose other end is handed to the helper with
// it. So any thread may ask, and so may a forked child of this process. The requests themselves are
// defined elsewhere (capture/helper/privileged_requests.h).
//
// Rights belong to a whole process, and any place that opens a file may need them. So a process has
// one helper, which of_this_process() finds, and callers do not pass it along.
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
  kReadLink = 2,      // the target of a link
  kReadLinks = 3,     // all links of a directory
  kOpenRings = 4,     // the rings of a process, for writing
  kOwnerPage = 5,     // the private page of a ring's owner
  kPerfEvent = 6,     // of a thread
  kSockets = 7,       // a question about the sockets of a network namespace
  kCosts = 8,         // the cost of an eBPF hit on this machine
  kProbes = 9,        // a process that holds probes: the connection is to that one from then on
  kInstruction = 10,  // the next one of a thread
};

// The result of a request. The errno of a failed one is passed on as well.
using Answer = Message;

class PrivilegedHelper {
 public:
  // Runs in the privileged helper. If the request took over the connection, no answer is sent.
  using Serve =
      std::function<Result<Answer>(PrivilegedRequest request, Unpacker& wanted, Fd& connection)>;

  // Forks the helper, which runs `prepare` first. Call it while this process has one thread.
  static Result<PrivilegedHelper> start(const std::function<Result<void>()>& prepare,
                                        const Serve& serve);
  PrivilegedHelper(PrivilegedHelper&& other) noexcept;
  PrivilegedHelper& operator=(PrivilegedHelper&&) = delete;
  ~PrivilegedHelper();  // returns once it is gone

  // Null if there is none: this process has its rights itself, or never had any.
  static const PrivilegedHelper* of_this_process();

  // False if the helper was killed.
  bool is_alive() const;

  // May be called from any thread. Sets errno if it fails.
  Result<Answer> ask(PrivilegedRequest request, Packer wanted) const;
  // The connection that the request was sent on.
  Result<Fd> begin(PrivilegedRequest request, Packer wanted) const;

 private:
  PrivilegedHelper(Fd socket, pid_t child) : socket_(std::move(socket)), child_(child) {}

  Fd socket_;
  pid_t child_ = -1;
};

// Reads the answer to the request that was sent on this connection.
Result<Answer> take_answer(int connection);
Result<void> send_answer(int connection, const Result<Answer>& answer, int code = 0);

}  // namespace sojourn::base
