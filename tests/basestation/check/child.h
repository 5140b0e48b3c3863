// Runs sj-basestation for its own tests.
#pragma once

#include <string>
#include <vector>

#include "tests/basestation/truth.h"
#include "tests/support/child.h"

namespace sojourn::basestation {

using test::Ended;
using test::TemporaryDirectory;

class Child : public test::Child {
 public:
  explicit Child(std::vector<std::string> arguments);
};

Ended run_station(std::vector<std::string> arguments);

// Runs it with --truth and these arguments, requires a clean end, and reads the truth.
truth::Truth run_for_truth(std::vector<std::string> arguments);

}  // namespace sojourn::basestation
