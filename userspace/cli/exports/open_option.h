// --open of `sojourn export`: gives the export to the page that shows it.
#pragma once

#include <string>

#include "analysis/base/result.h"
#include "userspace/base/fd.h"
#include "userspace/cli/arguments.h"
#include "userspace/cli/exports/perfetto_server.h"

namespace sojourn::cli {

class OpenOption {
 public:
  void define(Arguments& arguments);
  bool given() const { return is_given_; }

  // Prints the address for a browser, and ends when the file was fetched.
  Result<void> serve(PerfettoServer& server, base::Fd file) const;

 private:
  bool is_given_ = false;
  std::string patience_ = "2min";
};

}  // namespace sojourn::cli
