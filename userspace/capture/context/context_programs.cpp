#include "userspace/capture/context/context_programs.h"

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <string_view>
#include <system_error>
#include <utility>

#include <bpf/bpf.h>
#include <bpf/btf.h>
#include <bpf/libbpf.h>

#include "bpf/context_events.h"
#include "sojourn_context.skel.h"
#include "userspace/base/fail_errno.h"

namespace sojourn::capture {

namespace {

struct Destroy {
  void operator()(sojourn_context* skeleton) const { sojourn_context__destroy(skeleton); }
  void operator()(bpf_link* link) const { bpf_link__destroy(link); }
  void operator()(btf* types) const { btf__free(types); }
};
using Skeleton = std::unique_ptr<sojourn_context, Destroy>;
using Link = std::unique_ptr<bpf_link, Destroy>;

using Families = std::vector<ContextFamily>;

bool contains(const Families& families, ContextFamily family) {
  return std::ranges::find(families, family) != families.end();
}

// Which family a program belongs to. Without an essential program its family is not available.
struct Need {
  std::string_view program;
  ContextFamily family;
  sj_context_kind kind = SJ_CONTEXT_KINDS;  // the kind of hits that it records, if any
};

constexpr std::array kEssential = {
    Need{"on_switch", ContextFamily::kSched, SJ_CONTEXT_SWITCH},
    Need{"on_waking", ContextFamily::kSched},
    Need{"on_wakeup", ContextFamily::kSched, SJ_CONTEXT_WAKEUP},
    Need{"on_wakeup_new", ContextFamily::kSched, SJ_CONTEXT_WAKEUP},
    Need{"on_migrate", ContextFamily::kSched, SJ_CONTEXT_MIGRATE},
    Need{"on_irq_entry", ContextFamily::kIrq},
    Need{"on_irq_exit", ContextFamily::kIrq, SJ_CONTEXT_IRQ},
    Need{"on_softirq_entry", ContextFamily::kIrq},
    Need{"on_softirq_exit", ContextFamily::kIrq, SJ_CONTEXT_SOFTIRQ},
    Need{"on_sys_enter", ContextFamily::kSyscalls},
    Need{"on_sys_exit", ContextFamily::kSyscalls, SJ_CONTEXT_SYSCALL},
    Need{"on_fault_user", ContextFamily::kFaults, SJ_CONTEXT_FAULT},
    Need{"on_udp_drop", ContextFamily::kSockets, SJ_CONTEXT_SOCKET_DROP},
    Need{"on_queue_full", ContextFamily::kSockets, SJ_CONTEXT_SOCKET_DROP},
};

const Need* need_of(std::string_view program) {
  const auto* found = std::ranges::find(kEssential, program, &Need::program);
  return found == kEssential.end() ? nullptr : found;
}

// Returns whether a program serves a family, essential or not. The programs of interrupts serve
// `sched` as well, which must know whether an interrupt wakes a thread, and which.
bool serves(std::string_view program, ContextFamily family) {
  if (program == "count_sys_enter") return false;  // syscall_rate.h has it
  if (program == "on_exit")
    return family == ContextFamily::kSched || family == ContextFamily::kSyscalls;
  if (program == "on_fault_kernel") return family == ContextFamily::kFaults;
  const Need* need = need_of(program);
  if (need != nullptr && need->family != ContextFamily::kIrq) return need->family == family;
  return family == ContextFamily::kIrq || family == ContextFamily::kSched;
}

// The tracepoint's name: "sched_switch" of "tp_btf/sched_switch".
std::string_view tracepoint_of(const bpf_program* program) {
  const std::string_view section = bpf_program__section_name(program);
  return section.substr(section.find('/') + 1);
}

bool has_tracepoint(const btf* types, std::string_view name) {
  return btf__find_by_name_kind(types, ("btf_trace_" + std::string(name)).c_str(),
                                BTF_KIND_TYPEDEF) > 0;
}

RingMaps ring_maps(const sojourn_context& skeleton) {
  return {
      .rings = skeleton.maps.rings, .blocks = skeleton.maps.blocks, .losses = skeleton.maps.losses};
}

}  // namespace

struct ContextPrograms::State {
  // Members in the order in which they are acquired.
  std::unique_ptr<btf, Destroy> types;  // of the running kernel
  std::string verifier_log;             // libbpf keeps a pointer to it
  RingShape shape;
  Skeleton skeleton;
  std::vector<base::Fd> pieces;
  BpfRings rings;
  std::vector<Link> links;

  Families families;  // families that can be loaded
  std::vector<model::ContextFamily> states;
  PointOfKind points{};
  std::uint64_t names_read = 0;

  void leave_out(ContextFamily family, const std::string& why);
  Result<void> open();
  void look_for_tracepoints();
  bool try_load(const Families& wanted, int& code);
  void load_available();
};

void ContextPrograms::State::leave_out(ContextFamily family, const std::string& why) {
  std::erase(families, family);
  for (model::ContextFamily& state : states)
    if (state.name == name(family)) state.missing = why;
}

Result<void> ContextPrograms::State::open() {
  LIBBPF_OPTS(bpf_object_open_opts, options, .kernel_log_buf = verifier_log.data(),
              .kernel_log_size = verifier_log.size());
  skeleton.reset(sojourn_context__open_opts(&options));
  if (!skeleton) return fail_errno("open the embedded BPF object");
  return {};
}

void ContextPrograms::State::look_for_tracepoints() {
  for (const Need& need : kEssential) {
    const bpf_program* program =
        bpf_object__find_program_by_name(skeleton->obj, std::string(need.program).c_str());
    if (program == nullptr || !contains(families, need.family)) continue;
    if (!has_tracepoint(types.get(), tracepoint_of(program)))
      leave_out(need.family,
                fmt::format("this kernel has no tracepoint {}", tracepoint_of(program)));
  }
}

// False: errno is in `code`.
bool ContextPrograms::State::try_load(const Families& wanted, int& code) {
  if (!open()) {
    code = errno;
    return false;
  }
  bpf_program* program = nullptr;
  bpf_object__for_each_program(program, skeleton->obj) {
    const std::string_view called = bpf_program__name(program);
    const bool is_wanted =
        std::ranges::any_of(wanted, [&](ContextFamily family) { return serves(called, family); });
    bpf_program__set_autoload(program,
                              is_wanted && has_tracepoint(types.get(), tracepoint_of(program)));
  }
  configure(ring_maps(*skeleton), shape, pieces.front(), SJ_CONTEXT_KINDS);
  skeleton->rodata->ring_shape = {
      .slot_bytes = shape.slot_bytes, .blocks = shape.blocks, .piece_blocks = shape.piece_blocks};
  skeleton->rodata->record_interrupts = contains(wanted, ContextFamily::kIrq);
  if (sojourn_context__load(skeleton.get()) == 0 && enter_pieces(ring_maps(*skeleton), pieces))
    return true;
  code = errno;
  return false;
}

// Loads all families together. If that fails, leaves out those that the kernel refuses to load
// alone.
void ContextPrograms::State::load_available() {
  int code = 0;
  if (families.empty() || try_load(families, code)) return;
  const Families wanted = families;
  for (const ContextFamily family : wanted)
    if (code == EPERM || code == ENOMEM || !try_load({family}, code))
      leave_out(family, load_error(code, shape, verifier_log).text());
  if (!families.empty() && try_load(families, code)) return;
  for (const ContextFamily family : Families(families))
    leave_out(family, load_error(code, shape, verifier_log).text());
}

ContextPrograms::ContextPrograms(std::unique_ptr<State> state) : state_(std::move(state)) {}
ContextPrograms::ContextPrograms(ContextPrograms&&) noexcept = default;
ContextPrograms& ContextPrograms::operator=(ContextPrograms&&) noexcept = default;
ContextPrograms::~ContextPrograms() = default;

Result<ContextPrograms> ContextPrograms::load(const std::vector<ContextFamily>& families,
                                              std::size_t ring_bytes) {
  auto state = std::make_unique<State>();
  state->families = families;
  for (const ContextFamily family : families)
    state->states.push_back({.name = std::string(name(family)), .missing = {}});
  state->verifier_log.resize(256 * 1024);
  SJ_TRY(shape, RingShape::choose(SJ_CONTEXT_MAX_VALUES, ring_bytes));
  state->shape = shape;

  libbpf_set_print(nullptr);  // the caller words the error
  state->types.reset(btf__load_vmlinux_btf());
  if (!state->types) {
    for (const ContextFamily family : families)
      state->leave_out(family, "this kernel does not describe its types (no BTF)");
    return ContextPrograms(std::move(state));
  }
  SJ_CHECK(state->open());
  state->look_for_tracepoints();
  if (auto pieces = make_pieces(shape)) {
    state->pieces = std::move(*pieces);
    state->load_available();
  } else {
    for (const ContextFamily family : Families(state->families))
      state->leave_out(family, pieces.error().text());
  }
  state->types.reset();
  if (state->families.empty()) {
    state->skeleton.reset();
  } else {
    SJ_TRY(wait, ProgramWait::create());
    const RingFds maps = {.rings = bpf_map__fd(state->skeleton->maps.rings),
                          .losses = bpf_map__fd(state->skeleton->maps.losses),
                          .pieces = state->pieces};
    SJ_TRY(rings, BpfRings::map(maps, shape, std::move(wait)));
    state->rings = std::move(rings);
  }
  return ContextPrograms(std::move(state));
}

const std::vector<model::ContextFamily>& ContextPrograms::states() const {
  return state_->states;
}

bool ContextPrograms::has(ContextFamily family) const {
  return contains(state_->families, family);
}

const std::vector<Ring>& ContextPrograms::rings() const {
  return state_->rings.rings();
}

void ContextPrograms::set_points(const PointOfKind& points) {
  state_->points = points;
  if (state_->skeleton) std::ranges::copy(points, state_->skeleton->bss->point_of);
}

Result<void> ContextPrograms::add_target(pid_t pid) {
  if (!state_->skeleton) return {};
  const auto tgid = static_cast<std::uint32_t>(pid);
  const std::uint8_t yes = 1;
  if (bpf_map_update_elem(bpf_map__fd(state_->skeleton->maps.targets), &tgid, &yes, BPF_ANY) != 0)
    return fail_errno("register process {} with the BPF programs", pid);
  return {};
}

void ContextPrograms::remove_target(pid_t pid) {
  if (!state_->skeleton) return;
  const auto tgid = static_cast<std::uint32_t>(pid);
  bpf_map_delete_elem(bpf_map__fd(state_->skeleton->maps.targets), &tgid);
}

void ContextPrograms::attach() {
  if (!state_->skeleton) return;
  // Attaches backwards, as programs for ends stand below those for beginnings: an interrupt whose
  // beginning is seen and whose end is not would seem to last until the CPU's next one.
  const bpf_object* object = state_->skeleton->obj;
  for (bpf_program* program = bpf_object__prev_program(object, nullptr); program != nullptr;
       program = bpf_object__prev_program(object, program)) {
    if (!bpf_program__autoload(program)) continue;
    Link link(bpf_program__attach(program));
    const int code = errno;
    const Need* need = need_of(bpf_program__name(program));
    if (link)
      state_->links.push_back(std::move(link));
    else if (need != nullptr)
      state_->leave_out(need->family,
                        fmt::format("attach to the tracepoint {}: {}", tracepoint_of(program),
                                    std::generic_category().message(code)));
  }
}

void ContextPrograms::detach() {
  state_->links.clear();
}

bool ContextPrograms::is_attached() const {
  return !state_->links.empty();
}

void ContextPrograms::open_gate_at(std::uint64_t monotonic_ns) {
  if (state_->skeleton) capture::open_gate_at(state_->skeleton->data->gate, monotonic_ns);
}

void ContextPrograms::close_gate_at(std::uint64_t monotonic_ns) {
  if (state_->skeleton) capture::close_gate_at(state_->skeleton->data->gate, monotonic_ns);
}

Result<void> ContextPrograms::start_over() {
  if (!state_->skeleton) return {};
  open_gate_at(UINT64_MAX);
  return state_->rings.start_over(SJ_CONTEXT_KINDS);
}

Result<void> ContextPrograms::wait_for_running() const {
  return state_->skeleton ? state_->rings.wait_for_running() : Result<void>();
}

Result<void> ContextPrograms::add_socket(std::uint64_t cookie) {
  if (!state_->skeleton) return {};
  const std::uint8_t yes = 1;
  if (bpf_map_update_elem(bpf_map__fd(state_->skeleton->maps.sockets), &cookie, &yes, BPF_ANY) != 0)
    return fail_errno("register a socket with the BPF programs");
  return {};
}

// The kernel skips a program that is hit while it runs on the same CPU, and counts that for all
// processes together. So this is an upper bound; it is 0 except on kernels that preempt
// tracepoints.
Result<model::Ledger> ContextPrograms::losses(std::uint32_t first_stream) const {
  if (!state_->skeleton) return model::Ledger{};
  SJ_TRY(ledger, state_->rings.losses(state_->points, first_stream));
  bpf_program* program = nullptr;
  bpf_object__for_each_program(program, state_->skeleton->obj) {
    const Need* need = need_of(bpf_program__name(program));
    if (!bpf_program__autoload(program) || need == nullptr || need->kind == SJ_CONTEXT_KINDS)
      continue;
    bpf_prog_info info = {};
    __u32 bytes = sizeof(info);
    if (bpf_obj_get_info_by_fd(bpf_program__fd(program), &info, &bytes) != 0)
      return fail_errno("read the BPF programs' counters");
    if (info.recursion_misses != 0)
      ledger.push_back({.stream = first_stream,
                        .point = state_->points[need->kind],
                        .cause = model::LossCause::kRecursionMissed,
                        .count = info.recursion_misses});
  }
  return std::move(ledger);
}

std::vector<std::uint64_t> ContextPrograms::hits() const {
  return state_->rings.hits();
}

void ContextPrograms::read_threads(
    const std::function<void(std::uint32_t tid, const sj_thread_name& name)>& take) {
  if (!state_->skeleton) return;
  const std::uint64_t seen = std::atomic_ref(state_->skeleton->bss->names_seen).load();
  if (seen == state_->names_read) return;
  state_->names_read = seen;
  const int fd = bpf_map__fd(state_->skeleton->maps.names);
  std::uint32_t tid = 0;
  for (int more = bpf_map_get_next_key(fd, nullptr, &tid); more == 0;
       more = bpf_map_get_next_key(fd, &tid, &tid)) {
    sj_thread_name name = {};
    if (bpf_map_lookup_elem(fd, &tid, &name) == 0) take(tid, name);
  }
}

bool ContextPrograms::saw_syscall(std::uint32_t number) const {
  return state_->skeleton && number < SJ_MAX_SYSCALLS &&
         std::atomic_ref(state_->skeleton->bss->syscalls_seen[number]).load() != 0;
}

}  // namespace sojourn::capture
