#include "userspace/symbols/demangle.h"

#include <cstdlib>
#include <memory>

#include <cxxabi.h>

namespace sojourn::symbols {

namespace {

constexpr std::size_t kMaxDemangledBytes = 8192;  // of a name; longer ones are cut

struct FreeName {
  void operator()(char* text) const { std::free(text); }
};

}  // namespace

std::string demangled(std::string_view name) {
  std::string text(name.substr(0, kMaxDemangledBytes));
  if (!name.starts_with("_Z") || name.size() > kMaxDemangledBytes) return text;
  int failed = 0;
  const std::unique_ptr<char, FreeName> said(
      abi::__cxa_demangle(text.c_str(), nullptr, nullptr, &failed));
  if (failed != 0 || said == nullptr) return text;
  return std::string(said.get()).substr(0, kMaxDemangledBytes);
}

}  // namespace sojourn::symbols
