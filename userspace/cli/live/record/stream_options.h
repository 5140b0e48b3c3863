// `sojourn record --listen --stream --unread-only --text --tls-... --token-file --flush-every`: the
// readers of the trace while it is written.
#pragma once

#include <string>
#include <vector>

#include "analysis/base/result.h"
#include "userspace/capture/api.h"
#include "userspace/cli/arguments.h"

namespace sojourn::cli {

class StreamOptions {
 public:
  void define(Arguments& arguments);
  // Refuses options that exclude each other.
  void check() const;
  Result<void> apply(capture::Options& options) const;

 private:
  void define_tls(Arguments& arguments);

  std::vector<std::string> listen_;
  std::vector<std::string> connect_;
  bool unread_only_ = false;
  bool text_ = false;
  std::string tls_cert_;
  std::string tls_key_;
  std::string tls_ca_;
  std::string token_file_;
  std::string flush_period_;
};

// Prints the addresses for readers, with the commands to use.
void tell_streams(const capture::Capture& capture);
// Prints the blocks that readers did not get.
void tell_streamed(const capture::Outcome& outcome);

}  // namespace sojourn::cli
