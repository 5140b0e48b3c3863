#include "userspace/capture/bpf/probe_keeper.h"

#include <cerrno>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <utility>
#include <vector>

#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include "userspace/capture/rights/rights.h"

namespace sojourn::capture {

namespace {

enum class Order : std::uint16_t { kAdd, kRemove, kEnd };

struct Answer {
  bool has_failed = false;
  char error[512] = {};
};

// An order and the points that it is about travel as one message.
constexpr std::size_t kMostWords = 1 + std::size_t{UINT16_MAX} + 1;
static_assert(sizeof(model::PointId) == sizeof(std::uint16_t));

bool send_order(int socket, Order order, std::span<const model::PointId> points) {
  std::vector<std::uint16_t> words = {static_cast<std::uint16_t>(order)};
  words.insert(words.end(), points.begin(), points.end());
  const std::size_t bytes = words.size() * sizeof(words[0]);
  return send(socket, words.data(), bytes, MSG_NOSIGNAL) == static_cast<ssize_t>(bytes);
}

void answer(int socket, const Result<void>& result) {
  Answer message;
  message.has_failed = !result;
  if (!result) result.error().text().copy(message.error, sizeof(message.error) - 1);
  // Who does not listen any more is gone, which the next receive says.
  (void)send(socket, &message, sizeof(message), MSG_NOSIGNAL);
}

Result<void> take_answer(int socket) {
  Answer message;
  ssize_t got = 0;
  do {
    got = recv(socket, &message, sizeof(message), 0);
  } while (got < 0 && errno == EINTR);
  if (got != sizeof(message)) return fail("the process that holds the probes is gone");
  if (!message.has_failed) return {};
  message.error[sizeof(message.error) - 1] = '\0';
  return fail("{}", message.error);
}

// In the child. The tracer's end is seen as the socket's.
void obey_until_the_end(int socket, Attachment& attachment, const target::Points& points, pid_t pid,
                        const BpfPrograms& programs) {
  std::vector<std::uint16_t> words(kMostWords);
  for (;;) {
    const ssize_t got = recv(socket, words.data(), words.size() * sizeof(words[0]), 0);
    if (got < 0 && errno == EINTR) continue;
    if (got <= 0) return;
    const auto count = static_cast<std::size_t>(got) / sizeof(words[0]);
    const std::span<const model::PointId> which = std::span(words).subspan(1, count - 1);
    switch (static_cast<Order>(words[0])) {
      case Order::kAdd:
        answer(socket, attachment.add(points, which, pid, programs));
        break;
      case Order::kRemove:
        attachment.remove(which);
        answer(socket, {});
        break;
      case Order::kEnd:
        return;
    }
  }
}

}  // namespace

Result<ProbeKeeper> ProbeKeeper::attach(const target::Points& points, pid_t pid,
                                        Mechanism mechanism, const BpfPrograms& programs,
                                        Attachment::Links links) {
  int ends[2];
  if (socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, ends) != 0)
    return fail_errno("make a socket for the process that holds the probes");
  base::Fd ours(ends[0]);
  base::Fd its(ends[1]);
  const pid_t child = fork();
  if (child < 0) return fail_errno("start the process that holds the probes");
  if (child == 0) {
    ours = base::Fd();
    prctl(PR_SET_NAME, "sj-probes");
    {
      auto attachment = [&]() -> Result<Attachment> {
        SJ_CHECK(keep_rights({.perf_uprobes = mechanism == Mechanism::kPerfUprobes}));
        return Attachment::attach(points, pid, mechanism, programs, links);
      }();
      answer(its.get(), attachment ? Result<void>() : std::unexpected(attachment.error()));
      if (attachment) obey_until_the_end(its.get(), *attachment, points, pid, programs);
    }
    _exit(0);
  }
  its = base::Fd();
  ProbeKeeper keeper(std::move(ours), child);
  SJ_CHECK(take_answer(keeper.socket_.get()));
  return keeper;
}

ProbeKeeper::ProbeKeeper(ProbeKeeper&& other) noexcept
    : socket_(std::move(other.socket_)), child_(std::exchange(other.child_, -1)) {}

ProbeKeeper& ProbeKeeper::operator=(ProbeKeeper&& other) noexcept {
  std::swap(socket_, other.socket_);
  std::swap(child_, other.child_);
  return *this;
}

// Told, and not only hung up on: children that were forked since have this end of the socket, too.
ProbeKeeper::~ProbeKeeper() {
  if (child_ < 0) return;
  (void)send_order(socket_.get(), Order::kEnd, {});
  while (waitpid(child_, nullptr, 0) < 0 && errno == EINTR) {
  }
}

Result<void> ProbeKeeper::remove(std::span<const model::PointId> points) {
  if (!send_order(socket_.get(), Order::kRemove, points))
    return fail_errno("speak to the process that holds the probes");
  return take_answer(socket_.get());
}

Result<void> ProbeKeeper::add(std::span<const model::PointId> points) {
  if (!send_order(socket_.get(), Order::kAdd, points))
    return fail_errno("speak to the process that holds the probes");
  return take_answer(socket_.get());
}

}  // namespace sojourn::capture
