#include "userspace/base/privileged_helper.h"

#include <cerrno>
#include <csignal>
#include <tuple>
#include <utility>

#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <unistd.h>

#include "userspace/base/fail_errno.h"

namespace sojourn::base {

namespace {

constexpr std::uint32_t kDone = 0;
constexpr std::uint32_t kFailed = 1;

const PrivilegedHelper*& the_one() {
  static const PrivilegedHelper* one = nullptr;
  return one;
}

// A client that sends half a request, or reads half of the answer, may not block the other clients.
void set_timeout(int connection) {
  const timeval timeout{.tv_sec = 1, .tv_usec = 0};
  for (const int direction : {SO_RCVTIMEO, SO_SNDTIMEO})
    setsockopt(connection, SOL_SOCKET, direction, &timeout, sizeof(timeout));
}

void serve_one(Fd connection, const PrivilegedHelper::Serve& serve) {
  set_timeout(connection.get());
  auto asked = receive_message(connection.get());
  if (!asked) return;
  Unpacker wanted(asked->bytes);
  errno = 0;
  const auto answer = serve(static_cast<PrivilegedRequest>(asked->kind), wanted, connection);
  const int code = errno;
  // A client that closed its connection needs no answer.
  if (connection) std::ignore = send_answer(connection.get(), answer, code);
}

// Runs in the privileged helper. When its parent ends, the socket closes.
void serve_until_the_end(int socket, const PrivilegedHelper::Serve& serve) {
  for (;;) {
    auto handed_over = receive_message(socket);
    if (!handed_over) return;
    if (handed_over->fds.size() == 1) serve_one(std::move(handed_over->fds.front()), serve);
  }
}

}  // namespace

Result<void> send_answer(int connection, const Result<Answer>& answer, int code) {
  Packer words;
  if (answer) return send_message(connection, *answer);
  words.put(code).put_text(answer.error().text());
  return send_message(connection, {.kind = kFailed, .bytes = words.take(), .fds = {}});
}

Result<Answer> take_answer(int connection) {
  auto answer = receive_message(connection);
  if (!answer) {
    errno = EPIPE;
    return std::unexpected(Error(answer.error().text(), ErrorKind::kNoAnswer));
  }
  if (answer->kind == kDone) return answer;
  Unpacker words(answer->bytes);
  const int code = words.take<int>();
  std::string text = words.take_text();
  errno = code;
  return std::unexpected(Error(std::move(text)));
}

const PrivilegedHelper* PrivilegedHelper::of_this_process() {
  return the_one();
}

Result<PrivilegedHelper> PrivilegedHelper::start(const std::function<Result<void>()>& prepare,
                                                 const Serve& serve) {
  SJ_TRY(ends, make_connection());
  const pid_t child = fork();
  if (child < 0) return fail_errno("start the process that keeps the rights");
  if (child == 0) {
    ends.first = Fd();
    prctl(PR_SET_NAME, "sj-helper");
    signal(SIGCHLD, SIG_IGN);  // probe keepers end by themselves
    const auto prepared = prepare();
    const bool is_told =
        send_answer(ends.second.get(),
                    prepared ? Result<Answer>(Answer{}) : std::unexpected(prepared.error()))
            .has_value();
    if (prepared && is_told) serve_until_the_end(ends.second.get(), serve);
    while (wait(nullptr) > 0 || errno == EINTR) {  // until those are gone as well
    }
    _exit(0);
  }
  ends.second = Fd();
  PrivilegedHelper helper(std::move(ends.first), child);
  SJ_CHECK(take_answer(helper.socket_.get()));
  the_one() = &helper;
  return helper;
}

PrivilegedHelper::PrivilegedHelper(PrivilegedHelper&& other) noexcept
    : socket_(std::move(other.socket_)), child_(std::exchange(other.child_, -1)) {
  if (the_one() == &other) the_one() = this;
}

PrivilegedHelper::~PrivilegedHelper() {
  if (child_ < 0) return;
  if (the_one() == this) the_one() = nullptr;
  // Closing the socket is not enough: later forked children hold this end of it, too.
  shutdown(socket_.get(), SHUT_RDWR);
  while (waitpid(child_, nullptr, 0) < 0 && errno == EINTR) {
  }
}

bool PrivilegedHelper::is_alive() const {
  return has_other_end(socket_.get());
}

Result<Fd> PrivilegedHelper::begin(PrivilegedRequest request, Packer wanted) const {
  SJ_TRY(ends, make_connection());
  Message hand_over;
  hand_over.fds.push_back(std::move(ends.second));
  if (auto handed = send_message(socket_.get(), hand_over); !handed) {
    errno = EPIPE;
    return std::unexpected(Error(handed.error().text(), ErrorKind::kNoAnswer)
                               .within("the process that keeps the rights"));
  }
  SJ_CHECK(send_message(
      ends.first.get(),
      {.kind = static_cast<std::uint32_t>(request), .bytes = wanted.take(), .fds = {}}));
  return std::move(ends.first);
}

Result<Answer> PrivilegedHelper::ask(PrivilegedRequest request, Packer wanted) const {
  SJ_TRY(connection, begin(request, std::move(wanted)));
  auto answer = take_answer(connection.get());
  if (!answer && answer.error().kind() == ErrorKind::kNoAnswer)
    return std::unexpected(std::move(answer).error().within("the process that keeps the rights"));
  return answer;
}

}  // namespace sojourn::base
