// The name of a file that is not complete yet, or of an empty directory for one. The destructor
// removes it, and so does a signal that ends the program, except SIGKILL (ignored signals stay
// ignored). One thread owns an UnfinishedName; a program has a few at a time.
#pragma once

#include <memory>
#include <string>

#include "analysis/base/result.h"

namespace sojourn::cli {

class UnfinishedName {
 public:
  // Makes a new name in the path's directory that no file has yet.
  static Result<UnfinishedName> beside(const std::string& path);
  // A directory of this program's own, which stays where there are files in it.
  static Result<UnfinishedName> of_directory(const std::string& path);
  UnfinishedName(UnfinishedName&&) noexcept = default;
  UnfinishedName& operator=(UnfinishedName&&) = delete;
  ~UnfinishedName();

  const std::string& text() const { return *name_; }

  // Called when the file has another name: it is not removed any more.
  void forget() &&;

 private:
  static Result<UnfinishedName> keep(std::string name);
  explicit UnfinishedName(std::unique_ptr<const std::string> name) : name_(std::move(name)) {}

  std::unique_ptr<const std::string> name_;  // signal handlers have its address
};

}  // namespace sojourn::cli
