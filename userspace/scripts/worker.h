// A script's worker process, seen from its parent: started with the script, asked, and ended. One
// thread at a time asks it. It always gives an answer or an error: a worker that takes too long is
// killed. The destructor kills it too.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <utility>

#include <sys/types.h>

#include "analysis/base/result.h"
#include "analysis/model/schema.h"
#include "userspace/base/fd.h"
#include "userspace/base/mapping.h"
#include "userspace/scripts/exchange.h"
#include "userspace/scripts/registration.h"
#include "userspace/scripts/script_source.h"

namespace sojourn::scripts {

class Worker {
 public:
  // Receives the script's output, in pieces.
  using Say = std::function<void(std::string_view)>;

  // Forks, and has the script read. The source and the schema are used by the child as they are
  // now. `say` may be empty.
  static Result<std::unique_ptr<Worker>> start(const ScriptSource& source,
                                               const model::Schema& schema, std::uint64_t open_ns,
                                               Say say);
  Worker(const Worker&) = delete;
  Worker& operator=(const Worker&) = delete;
  ~Worker();

  const Registration& registration() const { return registration_; }
  Exchange& exchange() { return *exchange_; }
  pid_t pid() const { return pid_; }
  void say(Say say) { say_ = std::move(say); }

  // Never returns Answer::kFailed: that becomes an error. After an error it must not be asked
  // again.
  Result<Answer> ask(Ask what);
  // An error that ended one function of the script only, once; else empty.
  std::string take_notice();

 private:
  Worker(std::string name, Say say) : name_(std::move(name)), say_(std::move(say)) {}
  Result<Answer> wait();
  Error ended();
  Error took_too_long();
  std::string place() const;
  void pass_on_text();

  std::string name_;
  Say say_;
  base::Mapping memory_;
  Exchange* exchange_ = nullptr;  // in the shared memory
  base::Fd connection_;
  pid_t pid_ = -1;
  Registration registration_;
};

}  // namespace sojourn::scripts
