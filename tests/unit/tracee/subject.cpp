#include "subject.h"

#include <csignal>
#include <filesystem>
#include <stdexcept>
#include <utility>

namespace subject {

std::string path(const std::string& name) {
  return std::string(SUBJECTS) + "/" + name;
}
bool exists(const std::string& name) {
  return std::filesystem::exists(path(name));
}

Running::Running(std::vector<std::string> arguments) : child_(std::move(arguments)) {
  if (!child_.wait_for_output("ready")) throw std::runtime_error("subject did not start");
}

void Running::end() {
  child_.signal(SIGKILL);
  child_.wait();
}

}  // namespace subject
