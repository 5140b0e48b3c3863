#include "userspace/capture/context/descriptors.h"

#include <string_view>

#include "userspace/tracee/procfs.h"

namespace sojourn::capture {

namespace {

constexpr std::chrono::seconds kPeriod{1};
constexpr std::size_t kMax = 4096;  // of a process: looking takes a microsecond each

}  // namespace

void Descriptors::name_socket(std::uint64_t inode, std::string name) {
  sockets_[inode] = std::move(name);
  next_ = {};  // a socket's descriptor may have been reported without its name
}

// Returns the link's text, or "udp 127.0.0.1:2152" for a "socket:[1234]" whose name is known.
std::string Descriptors::words(const std::string& link) const {
  constexpr std::string_view kSocket = "socket:[";
  if (!link.starts_with(kSocket) || !link.ends_with(']')) return link;
  const auto inode = tracee::parse_number(
      std::string_view(link).substr(kSocket.size(), link.size() - kSocket.size() - 1));
  const auto known = inode ? sockets_.find(*inode) : sockets_.end();
  return known == sockets_.end() ? link : known->second;
}

void Descriptors::look(const tracee::Process& process, model::Context& into) {
  std::size_t looked = 0;
  for (const tracee::Link& link : tracee::read_links(process.proc("fd"))) {
    if (++looked > kMax) return;
    const auto number = tracee::parse_number(link.name);
    if (!number) continue;
    std::string& known = descriptors_[{process.pid(), *number}];
    std::string name = words(link.leads_to);
    if (known == name) continue;
    known = name;
    into.names.push_back({.kind = model::NameKind::kDescriptor,
                          .id = *number,
                          .name = std::move(name),
                          .pid = static_cast<std::uint64_t>(process.pid()),
                          .state = {}});
  }
}

model::Context Descriptors::news(std::span<const tracee::Process* const> processes) {
  model::Context news;
  const auto now = std::chrono::steady_clock::now();
  if (now < next_) return news;
  next_ = now + kPeriod;
  for (const tracee::Process* process : processes)
    if (process->alive()) look(*process, news);
  return news;
}

}  // namespace sojourn::capture
