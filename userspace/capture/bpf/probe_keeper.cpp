#include "userspace/capture/bpf/probe_keeper.h"

#include <cerrno>
#include <climits>
#include <cstdint>
#include <tuple>
#include <utility>
#include <vector>

#include <fcntl.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <unistd.h>

#include "userspace/base/fail_errno.h"
#include "userspace/base/message.h"
#include "userspace/base/privileged_helper.h"
#include "userspace/capture/rights/rights.h"

namespace sojourn::capture {

namespace {

enum class Order : std::uint32_t { kArm, kAdd, kRemove, kEnd };

Result<void> send_order(int connection, Order order, std::span<const model::PointId> points) {
  const std::vector<model::PointId> which(points.begin(), points.end());
  return base::send_message(connection, {.kind = static_cast<std::uint32_t>(order),
                                         .bytes = base::Packer().put_all(which).take(),
                                         .fds = {}});
}

// ---- in the process that holds them ----

// Closes all other descriptors: another process may wait for the end of one of them, as a sign that
// this process's parent has ended.
base::Fd keep_only(base::Fd connection) {
  constexpr int kFirst = 3;  // behind the standard three
  int kept = dup(connection.get());
  connection = base::Fd();
  if (kept != kFirst) kept = dup3(kept, kFirst, O_CLOEXEC);
  close_range(kFirst + 1, UINT_MAX, 0);
  const timeval no_end{};
  setsockopt(kept, SOL_SOCKET, SO_RCVTIMEO, &no_end, sizeof(no_end));
  return base::Fd(kept);
}

struct Held {
  const ProbeOrder& order;
  BpfPrograms programs;
  std::optional<Attachment> attachment = {};

  Result<void> arm() {
    SJ_TRY(attached, Attachment::attach(order.points, order.pid, programs.mechanism(), programs));
    attachment.emplace(std::move(attached));
    return {};
  }
};

Result<Held> load(const ProbeOrder& order) {
  const Mechanism mechanism = order.mechanism ? *order.mechanism : best_mechanism();
  SJ_CHECK(keep_rights({.perf_uprobes = mechanism == Mechanism::kPerfUprobes}));
  SJ_TRY(programs, BpfPrograms::load(order.points, order.pid, mechanism, order.ring_bytes,
                                     order.keep, order.objects));
  return Held{.order = order, .programs = std::move(programs)};
}

Result<void> obey(Held& held, Order order, const std::vector<model::PointId>& which) {
  if (order == Order::kArm) return held.attachment ? fail("armed already") : held.arm();
  if (!held.attachment) return fail("not armed yet");
  if (order == Order::kAdd)
    return held.attachment->add(held.order.points, which, held.order.pid, held.programs);
  held.attachment->remove(which);
  return {};
}

// Serves until the connection ends, which shows that the tracer has ended.
void serve_until_end(int connection, Held& held) {
  for (;;) {
    const auto message = base::receive_message(connection);
    if (!message || message->kind >= static_cast<std::uint32_t>(Order::kEnd)) return;
    base::Unpacker words(message->bytes);
    const auto which = words.take_all<model::PointId>();
    const auto done = obey(held, static_cast<Order>(message->kind), which);
    // A tracer that does not read any more is gone: the next receive reports that.
    std::ignore = base::send_answer(
        connection, done ? Result<base::Answer>(base::Answer{}) : std::unexpected(done.error()));
  }
}

}  // namespace

void hold_probes(base::Fd connection, const ProbeOrder& order) {
  prctl(PR_SET_NAME, "sj-probes");
  {
    const base::Fd only = keep_only(std::move(connection));
    auto held = load(order);
    const auto answer = held ? held->programs.share() : std::unexpected(held.error());
    const bool is_heard = base::send_answer(only.get(), answer).has_value();
    if (held && is_heard) serve_until_end(only.get(), *held);
  }
  _exit(0);
}

// ---- in the tracer ----

namespace {

Result<void> order(int connection, Order what, std::span<const model::PointId> points) {
  if (!send_order(connection, what, points))
    return fail("the process that holds the probes is gone");
  auto answer = base::take_answer(connection);
  if (!answer) return std::unexpected(std::move(answer).error());
  return {};
}

struct Started {
  base::Fd connection;
  pid_t child = -1;
};

Result<Started> start_process(const ProbeOrder& order) {
  if (const auto* const helper = base::PrivilegedHelper::of_this_process()) {
    SJ_TRY(connection, helper->begin(base::PrivilegedRequest::kProbes, pack(order)));
    return Started{.connection = std::move(connection)};
  }
  SJ_TRY(ends, base::make_connection());
  const pid_t child = fork();
  if (child < 0) return fail_errno("start the process that holds the probes");
  if (child == 0) hold_probes(std::move(ends.second), order);
  return Started{.connection = std::move(ends.first), .child = child};
}

}  // namespace

Result<ProbeKeeper> ProbeKeeper::start(const ProbeOrder& order) {
  SJ_TRY(started, start_process(order));
  ProbeKeeper keeper(std::move(started.connection), started.child);
  SJ_TRY(shared, base::take_answer(keeper.connection_.get()));
  SJ_TRY(programs, BpfPrograms::loaded_elsewhere(std::move(shared), order.points));
  keeper.programs_.emplace(std::move(programs));
  return keeper;
}

ProbeKeeper::ProbeKeeper(ProbeKeeper&& other) noexcept
    : connection_(std::move(other.connection_)),
      child_(std::exchange(other.child_, -1)),
      programs_(std::move(other.programs_)) {}

ProbeKeeper& ProbeKeeper::operator=(ProbeKeeper&& other) noexcept {
  std::swap(connection_, other.connection_);
  std::swap(child_, other.child_);
  std::swap(programs_, other.programs_);
  return *this;
}

// Sends a message instead of only closing the socket: children that were forked since then hold
// this end of it as well.
ProbeKeeper::~ProbeKeeper() {
  if (!connection_) return;
  std::ignore = send_order(connection_.get(), Order::kEnd, {});
  while (base::receive_message(connection_.get())) {
  }
  while (child_ >= 0 && waitpid(child_, nullptr, 0) < 0 && errno == EINTR) {
  }
}

Result<void> ProbeKeeper::arm() {
  return order(connection_.get(), Order::kArm, {});
}

Result<void> ProbeKeeper::remove(std::span<const model::PointId> points) {
  return order(connection_.get(), Order::kRemove, points);
}

Result<void> ProbeKeeper::add(std::span<const model::PointId> points) {
  return order(connection_.get(), Order::kAdd, points);
}

}  // namespace sojourn::capture
