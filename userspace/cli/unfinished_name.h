// The name of a file that is not complete yet: whoever gives it up removes the file, and so does a
// signal that ends the program (signals that are ignored stay so; SIGKILL asks nobody). One thread
// owns an UnfinishedName; a program has a few at a time.
#pragma once

#include <memory>
#include <string>

#include "analysis/base/result.h"

namespace sojourn::cli {

class UnfinishedName {
 public:
  // A new one in the path's directory. No file has it yet.
  static Result<UnfinishedName> beside(const std::string& path);
  UnfinishedName(UnfinishedName&&) noexcept = default;
  UnfinishedName& operator=(UnfinishedName&&) = delete;
  ~UnfinishedName();

  const std::string& text() const { return *name_; }

  // The file has another name by now.
  void forget() &&;

 private:
  explicit UnfinishedName(std::unique_ptr<const std::string> name) : name_(std::move(name)) {}

  std::unique_ptr<const std::string> name_;  // where signal handlers know it to be
};

}  // namespace sojourn::cli
