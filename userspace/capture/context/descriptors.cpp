#include "userspace/capture/context/descriptors.h"

#include <filesystem>
#include <string_view>
#include <system_error>

#include "userspace/target/procfs.h"

namespace sojourn::capture {

namespace {

constexpr std::chrono::seconds kPeriod{1};
constexpr std::size_t kMost = 4096;  // of a process: looking takes a microsecond each

}  // namespace

void Descriptors::name_socket(std::uint64_t inode, std::string name) {
  sockets_[inode] = std::move(name);
  next_ = {};  // its descriptor may have been told without
}

// "udp 127.0.0.1:2152" where that is known of a "socket:[1234]".
std::string Descriptors::words(const std::string& link) const {
  constexpr std::string_view kSocket = "socket:[";
  if (!link.starts_with(kSocket) || !link.ends_with(']')) return link;
  const auto inode = target::parse_number(
      std::string_view(link).substr(kSocket.size(), link.size() - kSocket.size() - 1));
  const auto known = inode ? sockets_.find(*inode) : sockets_.end();
  return known == sockets_.end() ? link : known->second;
}

void Descriptors::look(const target::Process& process, model::Context& into) {
  std::error_code gone;
  std::size_t looked = 0;
  for (const auto& entry : std::filesystem::directory_iterator(process.proc("fd"), gone)) {
    if (++looked > kMost) return;
    const auto number = target::parse_number(entry.path().filename().string());
    const auto link = target::read_link(entry.path().string());
    if (!number || !link) continue;  // it was just closed
    std::string& known = descriptors_[{process.pid(), *number}];
    std::string name = words(*link);
    if (known == name) continue;
    known = name;
    into.names.push_back({.kind = model::NameKind::kDescriptor,
                          .id = *number,
                          .name = std::move(name),
                          .pid = static_cast<std::uint64_t>(process.pid()),
                          .state = {}});
  }
}

model::Context Descriptors::news(std::span<const target::Process* const> processes) {
  model::Context news;
  const auto now = std::chrono::steady_clock::now();
  if (now < next_) return news;
  next_ = now + kPeriod;
  for (const target::Process* process : processes)
    if (process->alive()) look(*process, news);
  return news;
}

}  // namespace sojourn::capture
