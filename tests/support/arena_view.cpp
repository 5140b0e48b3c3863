#include "tests/support/arena_view.h"

#include <filesystem>
#include <stdexcept>
#include <string>
#include <utility>

#include <fcntl.h>
#include <sojourn/ring_abi.h>
#include <sys/mman.h>
#include <sys/stat.h>

#include "userspace/base/fd.h"

namespace sojourn::test {

namespace {

std::string arena_file(pid_t pid) {
  const std::string directory = "/proc/" + std::to_string(pid) + "/fd";
  for (const auto& entry : std::filesystem::directory_iterator(directory)) {
    std::error_code error;
    const auto file = std::filesystem::read_symlink(entry.path(), error);
    if (!error && file.string().find(SJ_ARENA_NAME) != std::string::npos)
      return entry.path().string();
  }
  throw std::runtime_error("process " + std::to_string(pid) + " has no arena");
}

}  // namespace

ArenaView::ArenaView(pid_t pid) : pid_(pid) {
  const base::Fd fd(open(arena_file(pid).c_str(), O_RDONLY | O_CLOEXEC));
  struct stat status = {};
  if (!fd || fstat(fd.get(), &status) != 0) throw std::runtime_error("the arena cannot be opened");
  const auto size = static_cast<std::size_t>(status.st_size);
  void* const base = mmap(nullptr, size, PROT_READ, MAP_SHARED | MAP_NORESERVE, fd.get(), 0);
  if (base == MAP_FAILED) throw std::runtime_error("the arena cannot be mapped");
  file_ = {static_cast<const std::byte*>(base), size};
}

ArenaView::~ArenaView() {
  munmap(const_cast<std::byte*>(file_.data()), file_.size());
}

std::span<const std::byte> ArenaView::bytes() const {
  const auto& arena = *reinterpret_cast<const sj_arena*>(file_.data());
  return file_.first(arena.queues_offset + SJ_QUEUE_TABLES * arena.queue_table_stride);
}

capture::Queues ArenaView::queues(pid_t pid) const {
  auto queues = capture::read_queues(file_, pid);
  if (!queues) throw std::runtime_error(queues.error().text());
  return std::move(*queues);
}

std::vector<capture::Queue> ArenaView::named(std::string_view name) const {
  std::vector<capture::Queue> found;
  for (capture::Queue& queue : queues().queues)
    if (queue.name == name) found.push_back(std::move(queue));
  return found;
}

capture::Queue ArenaView::one(std::string_view name) const {
  auto found = named(name);
  if (found.size() != 1)
    throw std::runtime_error(std::to_string(found.size()) + " queues " + std::string(name));
  return std::move(found.front());
}

}  // namespace sojourn::test
