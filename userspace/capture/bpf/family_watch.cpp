#include "userspace/capture/bpf/family_watch.h"

#include <atomic>
#include <cerrno>
#include <filesystem>
#include <map>
#include <set>
#include <system_error>
#include <utility>

#include <bpf/bpf.h>
#include <bpf/libbpf.h>
#include <fmt/core.h>

#include "bpf/family_events.h"
#include "sojourn_follow.skel.h"
#include "userspace/base/clock.h"
#include "userspace/base/fail_errno.h"
#include "userspace/tracee/host.h"
#include "userspace/tracee/procfs.h"

namespace sojourn::capture {

namespace {

constexpr std::uint64_t kLookPeriodNs = 20'000'000;

struct DestroyFamilyPrograms {
  void operator()(sojourn_follow* skeleton) const { sojourn_follow__destroy(skeleton); }
  void operator()(ring_buffer* ring) const { ring_buffer__free(ring); }
};

// The children of all of its threads, as any of them may have forked.
std::set<pid_t> children_of(pid_t pid) {
  std::set<pid_t> children;
  std::error_code gone;
  for (const auto& task :
       std::filesystem::directory_iterator(fmt::format("/proc/{}/task", pid), gone)) {
    const auto text = tracee::read_whole((task.path() / "children").string());
    if (!text) continue;
    for (const std::string_view word : tracee::split(*text, ' '))
      if (const auto child = tracee::parse_number(word))
        children.insert(static_cast<pid_t>(*child));
  }
  return children;
}

}  // namespace

struct FamilyWatch::State {
  std::unique_ptr<sojourn_follow, DestroyFamilyPrograms> skeleton;
  std::unique_ptr<ring_buffer, DestroyFamilyPrograms> ring;
  std::vector<FamilyEvent> events;

  // Why forks are only looked for in /proc, where there is no eBPF.
  std::string why_only_looks;
  std::map<pid_t, std::set<pid_t>> known;  // children, by process
  std::uint64_t last_look_ns = 0;

  Result<void> attach();
  void look();
  static int take_one(void* self, void* data, std::size_t size);
};

int FamilyWatch::State::take_one(void* self, void* data, std::size_t size) {
  if (size < sizeof(sj_family_event)) return 0;
  const auto& event = *static_cast<const sj_family_event*>(data);
  static_cast<State*>(self)->events.push_back(
      {.kind = event.kind == SJ_FAMILY_FORK   ? FamilyEvent::Kind::kForked
               : event.kind == SJ_FAMILY_EXEC ? FamilyEvent::Kind::kBecameOther
                                              : FamilyEvent::Kind::kEnded,
       .pid = static_cast<pid_t>(event.pid),
       .parent = static_cast<pid_t>(event.parent),
       .ts_ns = event.ts_ns});
  return 0;
}

Result<void> FamilyWatch::State::attach() {
  if (!tracee::in_first_pid_namespace())
    return fail("the kernel's numbers of processes are not those of this PID namespace");
  libbpf_set_print(nullptr);  // the caller words the error
  skeleton.reset(sojourn_follow__open());
  if (!skeleton) return fail_errno("open the embedded BPF object");
  if (sojourn_follow__load(skeleton.get()) != 0) return fail_errno("load the BPF programs");
  if (sojourn_follow__attach(skeleton.get()) != 0)
    return fail_errno("attach to the tracepoints of forks");
  ring.reset(ring_buffer__new(bpf_map__fd(skeleton->maps.family_events), take_one, this, nullptr));
  if (!ring) return fail_errno("map the ring of forks");
  return {};
}

FamilyWatch::FamilyWatch(std::unique_ptr<State> state) : state_(std::move(state)) {}
FamilyWatch::FamilyWatch(FamilyWatch&&) noexcept = default;
FamilyWatch& FamilyWatch::operator=(FamilyWatch&&) noexcept = default;
FamilyWatch::~FamilyWatch() = default;

Result<FamilyWatch> FamilyWatch::start() {
  auto state = std::make_unique<State>();
  if (auto attached = state->attach(); !attached) {
    state->why_only_looks = attached.error().text();
    state->ring.reset();
    state->skeleton.reset();
    const std::string own = fmt::format("/proc/self/task/{}/children", gettid());
    if (auto list = tracee::read_whole(own); !list)
      return fail("follow forked children: {}, and this kernel lists no children in /proc",
                  state->why_only_looks);
  }
  return FamilyWatch(std::move(state));
}

const std::string& FamilyWatch::why_only_looks() const {
  return state_->why_only_looks;
}

Result<void> FamilyWatch::add(pid_t pid) {
  if (!state_->skeleton) {
    // Children that already exist are not new.
    state_->known.try_emplace(pid, children_of(pid));
    return {};
  }
  const auto tgid = static_cast<std::uint32_t>(pid);
  const std::uint8_t yes = 1;
  if (bpf_map_update_elem(bpf_map__fd(state_->skeleton->maps.targets), &tgid, &yes, BPF_ANY) != 0)
    return fail_errno("follow the children of process {}", pid);
  return {};
}

void FamilyWatch::remove(pid_t pid) {
  state_->known.erase(pid);
  if (!state_->skeleton) return;
  const auto tgid = static_cast<std::uint32_t>(pid);
  bpf_map_delete_elem(bpf_map__fd(state_->skeleton->maps.targets), &tgid);
}

int FamilyWatch::fd() const {
  return state_->ring ? ring_buffer__epoll_fd(state_->ring.get()) : -1;
}

void FamilyWatch::State::look() {
  const std::uint64_t now_ns = base::monotonic_ns();
  if (now_ns < last_look_ns + kLookPeriodNs) return;
  std::vector<pid_t> fresh;
  for (auto& [pid, children] : known) {
    std::set<pid_t> now = children_of(pid);
    for (const pid_t child : now) {
      if (children.contains(child)) continue;
      events.push_back(
          {.kind = FamilyEvent::Kind::kForked, .pid = child, .parent = pid, .ts_ns = last_look_ns});
      fresh.push_back(child);
    }
    children = std::move(now);
  }
  // All children of a new child are new as well.
  for (const pid_t pid : fresh) known.try_emplace(pid);
  last_look_ns = now_ns;
}

std::vector<FamilyEvent> FamilyWatch::take() {
  if (state_->ring)
    ring_buffer__consume(state_->ring.get());
  else
    state_->look();
  return std::exchange(state_->events, {});
}

std::uint64_t FamilyWatch::lost() const {
  return state_->skeleton ? std::atomic_ref(state_->skeleton->bss->lost).load() : 0;
}

}  // namespace sojourn::capture
