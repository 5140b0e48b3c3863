#include "userspace/scripts/worker.h"

#include <algorithm>
#include <chrono>
#include <csignal>
#include <cstring>
#include <new>
#include <optional>
#include <span>

#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <unistd.h>

#include "analysis/base/printable.h"
#include "userspace/base/fail_errno.h"
#include "userspace/base/forked_child.h"
#include "userspace/scripts/worker_process.h"

namespace sojourn::scripts {

namespace {

// The parent's timeout is longer than the worker's own, for functions that the worker cannot stop.
constexpr std::chrono::milliseconds kPatience(kSeconds * 1000 + 500);
// The time after which a worker that gets no processor, or was stopped, is given up.
constexpr std::chrono::minutes kBlocked(10);
constexpr suseconds_t kLookEveryUs = 50'000;

// Reads a text that the worker wrote, which may lack its end mark.
template <std::size_t size>
std::string text_of(const char (&text)[size]) {
  return printable(std::string_view(text, strnlen(text, size)));
}

}  // namespace

Result<std::unique_ptr<Worker>> Worker::start(const ScriptSource& source,
                                              const model::Schema& schema, std::uint64_t open_ns,
                                              Say say) {
  std::unique_ptr<Worker> worker(new Worker(source.name, std::move(say)));
  const base::Fd file(memfd_create("sojourn-script", MFD_CLOEXEC));
  if (!file || ftruncate(file.get(), sizeof(Exchange)) != 0)
    return fail_errno("make memory for {}", source.name);
  worker->memory_ = base::Mapping(file.get(), sizeof(Exchange));
  if (!worker->memory_) return fail_errno("map memory for {}", source.name);
  worker->exchange_ = reinterpret_cast<Exchange*>(worker->memory_.data());
  std::ranges::fill(worker->exchange_->cpu, -1);

  int ends[2];
  if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends) != 0)
    return fail_errno("make a connection for {}", source.name);
  worker->connection_ = base::Fd(ends[0]);
  base::Fd other(ends[1]);
  const timeval look{.tv_sec = 0, .tv_usec = kLookEveryUs};
  setsockopt(ends[0], SOL_SOCKET, SO_RCVTIMEO, &look, sizeof(look));
  worker->pid_ = fork();
  if (worker->pid_ < 0) return fail_errno("fork a process for {}", source.name);
  if (worker->pid_ == 0) run_worker(ends[1], *worker->exchange_, source, schema, open_ns);
  // If this end stayed open, the parent would not notice the worker's death.
  other = base::Fd();

  SJ_CHECK(worker->ask(Ask::kLoad));
  const std::size_t bytes = worker->exchange_->made_words;
  std::optional<Registration> registration;
  if (bytes <= sizeof(Exchange::made))
    registration = unpack(std::as_bytes(std::span(worker->exchange_->made)).first(bytes));
  if (!registration) return fail("{}: its worker answers nonsense", source.name);
  worker->registration_ = std::move(*registration);
  return worker;
}

Worker::~Worker() {
  if (pid_ <= 0) return;
  kill(pid_, SIGKILL);
  while (waitpid(pid_, nullptr, 0) < 0 && errno == EINTR) {
  }
}

Result<Answer> Worker::ask(Ask what) {
  if (pid_ <= 0) return fail("{}: its worker has ended", name_);
  Result<Answer> answer = send(connection_.get(), &what, sizeof(what), MSG_NOSIGNAL) == sizeof(what)
                              ? wait()
                              : std::unexpected(ended());
  pass_on_text();
  if (answer && *answer == Answer::kFailed) return fail("{}", text_of(exchange_->error));
  return answer;
}

Result<Answer> Worker::wait() {
  std::optional<std::chrono::nanoseconds> began;
  const auto since = std::chrono::steady_clock::now();
  for (;;) {
    Answer answer{};
    const ssize_t got = recv(connection_.get(), &answer, sizeof(answer), 0);
    if (got == sizeof(answer)) {
      if (answer == Answer::kDone || answer == Answer::kPaused || answer == Answer::kFailed)
        return answer;
      return fail("{}: its worker answers nonsense", name_);
    }
    if (got == 0 || (errno != EAGAIN && errno != EINTR)) return std::unexpected(ended());
    const auto used = base::processor_time(pid_);
    if (used && !began) began = used;
    if ((used && *used - *began > kPatience) || std::chrono::steady_clock::now() - since > kBlocked)
      return std::unexpected(took_too_long());
  }
}

// Returns the place of the function that ran: "mutex.lua:12".
std::string Worker::place() const {
  const std::uint32_t line = exchange_->line;
  return line == 0 ? name_ : fmt::format("{}:{}", name_, line);
}

Error Worker::ended() {
  int status = 0;
  while (waitpid(pid_, &status, 0) < 0 && errno == EINTR) {
  }
  pid_ = -1;
  const bool is_forbidden = WIFSIGNALED(status) && WTERMSIG(status) == SIGSYS;
  return Error(
      fmt::format("{}: the script's worker: {}", place(),
                  is_forbidden ? "it tried what no script may" : base::child_error(status).text()));
}

Error Worker::took_too_long() {
  kill(pid_, SIGKILL);
  while (waitpid(pid_, nullptr, 0) < 0 && errno == EINTR) {
  }
  pid_ = -1;
  return Error(
      fmt::format("{}: took longer than {} s of processor time in one call, and was killed",
                  place(), kSeconds));
}

std::string Worker::take_notice() {
  std::string text = text_of(exchange_->notice);
  exchange_->notice[0] = '\0';
  return text;
}

void Worker::pass_on_text() {
  const std::size_t bytes = std::min<std::size_t>(exchange_->text_bytes, kTextBytes);
  const std::uint32_t lost = exchange_->text_lost;
  if (say_ && bytes != 0) say_(std::string_view(exchange_->text, bytes));
  if (say_ && lost != 0) say_(fmt::format("{}: printed {} bytes more\n", name_, lost));
  exchange_->text_bytes = 0;
  exchange_->text_lost = 0;
}

}  // namespace sojourn::scripts
