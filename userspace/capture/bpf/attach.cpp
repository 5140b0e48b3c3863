#include "userspace/capture/bpf/attach.h"

#include <algorithm>
#include <array>
#include <cerrno>
#include <iterator>
#include <map>
#include <thread>
#include <tuple>
#include <utility>

#include <bpf/bpf.h>
#include <bpf/libbpf.h>
#include <linux/bpf.h>

#include "userspace/base/fd.h"
#include "userspace/tracee/host.h"

namespace sojourn::capture {

std::string_view name(Mechanism mechanism) {
  return mechanism == Mechanism::kUprobeMulti ? "uprobe_multi" : "perf uprobes";
}

void Attachment::DestroyLink::operator()(bpf_link* link) const {
  bpf_link__destroy(link);
}

namespace {

int try_uprobe_multi(int program, pid_t pid) {
  const unsigned long offset = 0;
  LIBBPF_OPTS(bpf_link_create_opts, options);
  options.uprobe_multi.path = "/";
  options.uprobe_multi.offsets = &offset;
  options.uprobe_multi.cnt = 1;
  options.uprobe_multi.pid = static_cast<__u32>(pid);
  const base::Fd link(bpf_link_create(program, -1, BPF_TRACE_UPROBE_MULTI, &options));
  return link ? 0 : errno;
}

}  // namespace

Mechanism best_mechanism(const std::function<int(pid_t)>& try_link) {
  // The first kernels with uprobe_multi took the pid for a thread id, and missed the hits of all
  // other threads. The fix (6.10, commit 46ba0e49b642) also refuses a negative pid, by which fixed
  // kernels are recognised.
  const bool has_link = try_link(0) == EBADF;
  const bool filters_by_process = try_link(-1) == EINVAL;
  return has_link && filters_by_process ? Mechanism::kUprobeMulti : Mechanism::kPerfUprobes;
}

Mechanism best_mechanism() {
  const std::array<bpf_insn, 2> return_zero = {
      bpf_insn{.code = BPF_ALU64 | BPF_MOV | BPF_K,
               .dst_reg = BPF_REG_0,
               .src_reg = 0,
               .off = 0,
               .imm = 0},
      bpf_insn{.code = BPF_JMP | BPF_EXIT, .dst_reg = 0, .src_reg = 0, .off = 0, .imm = 0}};
  LIBBPF_OPTS(bpf_prog_load_opts, options, .expected_attach_type = BPF_TRACE_UPROBE_MULTI);
  const base::Fd program(bpf_prog_load(BPF_PROG_TYPE_KPROBE, "sj_probe", "GPL", return_zero.data(),
                                       return_zero.size(), &options));
  if (!program) return Mechanism::kPerfUprobes;
  return best_mechanism([&](pid_t pid) { return try_uprobe_multi(program.get(), pid); });
}

namespace {

Error attach_error(const tracee::MappedFile& file, const std::string& what, int code,
                   Mechanism mechanism) {
  if (code == EPERM || code == EACCES)
    return Error(
        fmt::format("attach to {}: {}: run as root, or give this program CAP_BPF and {}", file.name,
                    std::generic_category().message(code),
                    mechanism == Mechanism::kUprobeMulti ? "CAP_PERFMON" : "CAP_SYS_ADMIN"));
  if (code == ESRCH)
    return Error(fmt::format("attach to {}: the process ended while attaching", file.name));
  // The kernel's ENOTSUPP, which has no name in user space.
  constexpr int kRefusedInstruction = 524;
  return Error(fmt::format("attach to {} of {}: {}", what, file.name,
                           code == kRefusedInstruction
                               ? "the kernel refuses to probe this instruction"
                               : std::generic_category().message(code)));
}

// The sites of one file, all of them hit when they are reached, or all when functions return.
Result<bpf_link*> attach_sites(const tracee::Points& points, std::span<const std::size_t> sites,
                               pid_t pid, const BpfPrograms& programs) {
  std::vector<unsigned long> offsets;
  std::vector<unsigned long> semaphores;
  std::vector<__u64> cookies;
  for (const std::size_t index : sites) {
    const tracee::Site& site = points.sites[index];
    offsets.push_back(site.offset);
    semaphores.push_back(site.semaphore_offset);
    cookies.push_back(index);
  }
  LIBBPF_OPTS(bpf_uprobe_multi_opts, options, .offsets = offsets.data(),
              .ref_ctr_offsets = semaphores.data(), .cookies = cookies.data(),
              .cnt = offsets.size(), .retprobe = points.sites[sites.front()].is_return);
  const tracee::MappedFile& file = points.files[points.sites[sites.front()].file];
  bpf_link* link = bpf_program__attach_uprobe_multi(programs.program(), pid, file.path.c_str(),
                                                    nullptr, &options);
  if (link == nullptr)
    return std::unexpected(attach_error(file, fmt::format("{} sites", offsets.size()), errno,
                                        Mechanism::kUprobeMulti));
  return link;
}

Result<bpf_link*> attach_site(const tracee::Points& points, std::size_t index,
                              const BpfPrograms& programs) {
  const tracee::Site& site = points.sites[index];
  const tracee::MappedFile& file = points.files[site.file];
  // Perf uprobes are opened for every process: hundreds of perf events in one process make each of
  // its context switches 20 times as expensive.
  constexpr pid_t kEveryProcess = -1;
  LIBBPF_OPTS(bpf_uprobe_opts, options, .ref_ctr_offset = site.semaphore_offset,
              .bpf_cookie = index, .retprobe = site.is_return);
  bpf_link* link = bpf_program__attach_uprobe_opts(programs.program(), kEveryProcess,
                                                   file.path.c_str(), site.offset, &options);
  if (link == nullptr)
    return std::unexpected(attach_error(file, site.probe, errno, Mechanism::kPerfUprobes));
  return link;
}

// Indices of sites that share a link.
using Groups = std::vector<std::vector<std::size_t>>;

Groups group_sites(const tracee::Points& points, Mechanism mechanism) {
  if (mechanism == Mechanism::kPerfUprobes) {
    Groups single;
    for (std::size_t index = 0; index < points.sites.size(); ++index) single.push_back({index});
    return single;
  }
  std::map<std::tuple<std::size_t, std::uint32_t, bool>, std::vector<std::size_t>> by_key;
  for (std::size_t index = 0; index < points.sites.size(); ++index) {
    const tracee::Site& site = points.sites[index];
    by_key[{site.file, site.group, site.is_return}].push_back(index);
  }
  Groups groups;
  for (auto& [key, sites] : by_key) groups.push_back(std::move(sites));
  return groups;
}

}  // namespace

Attachment& Attachment::operator=(Attachment&& other) noexcept {
  std::swap(mechanism_, other.mechanism_);
  std::swap(links_, other.links_);
  return *this;
}

Attachment::~Attachment() {
  destroy(std::move(links_));
}

// Removes links in several threads, because each removal waits some 30 ms for the kernel.
void Attachment::destroy(std::vector<Link> links) {
  constexpr std::size_t kThreads = 32;
  const std::size_t count = std::min(links.size(), kThreads);
  if (count < 2) return;
  std::vector<std::jthread> threads;
  threads.reserve(count);
  for (std::size_t first = 0; first < count; ++first)
    threads.emplace_back([&links, first, count] {
      for (std::size_t at = first; at < links.size(); at += count) links[at].link.reset();
    });
}

Result<Attachment> Attachment::attach(const tracee::Points& points, pid_t pid, Mechanism mechanism,
                                      const BpfPrograms& programs) {
  // The program that perf uprobes run compares pids of the first PID namespace.
  if (mechanism == Mechanism::kPerfUprobes && !tracee::in_first_pid_namespace())
    return fail(
        "attach by perf uprobes from inside a PID namespace: run sojourn on the host, or on a "
        "kernel with "
        "uprobe_multi (Linux 6.10)");
  Attachment attachment(mechanism);
  for (const auto& sites : group_sites(points, mechanism)) {
    SJ_TRY(link, mechanism == Mechanism::kUprobeMulti
                     ? attach_sites(points, sites, pid, programs)
                     : attach_site(points, sites.front(), programs));
    Link owned;
    owned.link.reset(link);
    owned.point = points.sites[sites.front()].point;
    attachment.links_.push_back(std::move(owned));
  }
  return attachment;
}

void Attachment::remove(std::span<const model::PointId> points) {
  const auto kept = std::ranges::stable_partition(links_, [&](const Link& link) {
    return std::ranges::find(points, link.point) == points.end();
  });
  std::vector<Link> gone(std::move_iterator(kept.begin()), std::move_iterator(kept.end()));
  links_.erase(kept.begin(), kept.end());
  destroy(std::move(gone));
}

Result<void> Attachment::add(const tracee::Points& points, std::span<const model::PointId> which,
                             pid_t pid, const BpfPrograms& programs) {
  for (const auto& sites : group_sites(points, mechanism_)) {
    const model::PointId point = points.sites[sites.front()].point;
    if (std::ranges::find(which, point) == which.end()) continue;
    SJ_TRY(link, mechanism_ == Mechanism::kUprobeMulti
                     ? attach_sites(points, sites, pid, programs)
                     : attach_site(points, sites.front(), programs));
    Link owned;
    owned.link.reset(link);
    owned.point = point;
    links_.push_back(std::move(owned));
  }
  return {};
}

}  // namespace sojourn::capture
