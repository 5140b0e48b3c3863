#include "userspace/capture/rings/guarded_mapping.h"

#include <algorithm>
#include <array>
#include <atomic>
#include <csignal>
#include <mutex>
#include <utility>

#include <sys/mman.h>
#include <unistd.h>

#include "userspace/base/fail_errno.h"

namespace sojourn::capture {

namespace {

// A mapping as the signal handler sees it: a global without locks. `begin` is set last and cleared
// first.
struct Place {
  std::atomic<bool> taken = false;
  std::atomic<std::uintptr_t> begin = 0;
  std::atomic<std::size_t> bytes = 0;
  std::atomic<bool> was_cut = false;
};
static_assert(std::atomic<std::uintptr_t>::is_always_lock_free);

constexpr std::uintptr_t kMinPage = 4096;  // the smallest of any machine

constexpr std::size_t kPlaces = 1024;  // a process has an arena for each module with points

std::array<Place, kPlaces>& places() {
  static std::array<Place, kPlaces> all;
  return all;
}

struct Handler {
  struct sigaction before{};
  std::uintptr_t page_bytes = 0;
};
Handler& handler() {
  static Handler the_one;
  return the_one;
}

void on_bus_error(int signal, siginfo_t* info, void* context) {
  const auto address = reinterpret_cast<std::uintptr_t>(info->si_addr);
  for (Place& place : places()) {
    const std::uintptr_t begin = place.begin.load(std::memory_order_acquire);
    if (begin == 0 || address < begin || address - begin >= place.bytes.load()) continue;
    place.was_cut.store(true);
    const std::uintptr_t page_bytes = std::max(handler().page_bytes, kMinPage);
    const std::uintptr_t page = address & ~(page_bytes - 1);
    // NOLINTNEXTLINE(performance-no-int-to-ptr): the kernel gives an address
    if (mmap(reinterpret_cast<void*>(page), page_bytes, PROT_READ | PROT_WRITE,
             MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED, -1, 0) != MAP_FAILED)
      return;
  }
  const struct sigaction& before = handler().before;
  if ((before.sa_flags & SA_SIGINFO) != 0) return before.sa_sigaction(signal, info, context);
  // The signal is raised again when this returns, and then handled as before.
  sigaction(signal, &before, nullptr);
}

Result<void> handle_bus_errors() {
  static std::once_flag once;
  static int failed = 0;
  std::call_once(once, [] {
    handler().page_bytes = static_cast<std::uintptr_t>(sysconf(_SC_PAGESIZE));
    places();
    struct sigaction action{};
    action.sa_sigaction = on_bus_error;
    action.sa_flags = SA_SIGINFO | SA_ONSTACK;
    sigemptyset(&action.sa_mask);
    failed = sigaction(SIGBUS, &action, &handler().before) == 0 ? 0 : errno;
  });
  errno = failed;
  return failed == 0 ? Result<void>{} : fail_errno("handle SIGBUS");
}

}  // namespace

Result<GuardedMapping> GuardedMapping::map(int fd, std::size_t bytes, const std::string& name,
                                           Sharing sharing) {
  SJ_CHECK(handle_bus_errors());
  std::size_t place = 0;
  while (place < kPlaces && places()[place].taken.exchange(true)) ++place;
  if (place == kPlaces) return fail("map {}: {} are mapped already", name, kPlaces);
  const int kind = sharing == Sharing::kShared ? MAP_SHARED : MAP_PRIVATE;
  void* const mapped = mmap(nullptr, bytes, PROT_READ | PROT_WRITE, kind | MAP_NORESERVE, fd, 0);
  if (mapped == MAP_FAILED) {
    auto error = fail_errno("map {}", name);
    places()[place].taken.store(false);
    return error;
  }
  places()[place].was_cut.store(false);
  places()[place].bytes.store(bytes);
  places()[place].begin.store(reinterpret_cast<std::uintptr_t>(mapped), std::memory_order_release);
  return GuardedMapping(static_cast<std::byte*>(mapped), bytes, place);
}

GuardedMapping::GuardedMapping(GuardedMapping&& other) noexcept
    : data_(std::exchange(other.data_, nullptr)), bytes_(other.bytes_), place_(other.place_) {}

GuardedMapping::~GuardedMapping() {
  if (data_ == nullptr) return;
  places()[place_].begin.store(0, std::memory_order_release);
  munmap(data_, bytes_);
  places()[place_].taken.store(false);
}

bool GuardedMapping::was_cut() const {
  return places()[place_].was_cut.load();
}

}  // namespace sojourn::capture
