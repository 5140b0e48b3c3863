#include "userspace/cli/unfinished_name.h"

#include <array>
#include <atomic>
#include <csignal>
#include <cstdint>
#include <utility>

#include <fmt/format.h>
#include <sys/random.h>
#include <unistd.h>

#include "userspace/base/fail_errno.h"

namespace sojourn::cli {

namespace {

constexpr std::array kEndings = {SIGHUP, SIGINT, SIGQUIT, SIGTERM, SIGXCPU};

// Global, because a signal handler gets nothing but the signal's number.
std::array<std::atomic<const char*>, 4> names_to_remove;
static_assert(std::atomic<const char*>::is_always_lock_free);

// Calls only functions that are safe in a signal handler. The signal's default action is restored
// by then (SA_RESETHAND), and is taken when this returns.
void remove_all(int number) {
  for (const auto& name : names_to_remove)
    if (const char* const unfinished = name.load()) unlink(unfinished);
  for (const auto& name : names_to_remove)  // directories, which are empty by now
    if (const char* const unfinished = name.load()) rmdir(unfinished);
  std::raise(number);
}

void watch_signals() {
  for (const int number : kEndings) {
    struct sigaction present{};
    if (sigaction(number, nullptr, &present) != 0 || present.sa_handler != SIG_DFL) continue;
    struct sigaction wanted{};
    wanted.sa_handler = remove_all;
    wanted.sa_flags = static_cast<int>(SA_RESETHAND);
    sigemptyset(&wanted.sa_mask);
    sigaction(number, &wanted, nullptr);
  }
}

bool replace(const char* expected, const char* by) {
  for (auto& place : names_to_remove) {
    const char* present = expected;
    if (place.compare_exchange_strong(present, by)) return true;
  }
  return false;
}

}  // namespace

Result<UnfinishedName> UnfinishedName::beside(const std::string& path) {
  std::uint64_t number = 0;
  if (getrandom(&number, sizeof(number), 0) != sizeof(number))
    return fail_errno("create a file beside {}", path);
  return keep(fmt::format("{}.{:016x}", path, number));
}

Result<UnfinishedName> UnfinishedName::of_directory(const std::string& path) {
  return keep(path);
}

Result<UnfinishedName> UnfinishedName::keep(std::string name) {
  auto kept = std::make_unique<const std::string>(std::move(name));
  watch_signals();
  if (!replace(nullptr, kept->c_str()))
    return fail("create {}: too many files are being written", *kept);
  return UnfinishedName(std::move(kept));
}

UnfinishedName::~UnfinishedName() {
  if (!name_) return;
  if (unlink(name_->c_str()) != 0) rmdir(name_->c_str());
  replace(name_->c_str(), nullptr);
}

void UnfinishedName::forget() && {
  replace(name_->c_str(), nullptr);
  name_.reset();
}

}  // namespace sojourn::cli
