// A script's worker process, from outside: started with the script, asked, and ended. It is asked
// by one thread at a time. Whatever the script does, an answer or an error comes: a worker that
// takes too long is killed. Its destruction kills it too.
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
  // What scripts print, in pieces.
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

  // Never Answer::kFailed: that is an error. After an error nothing can be asked.
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
  Exchange* exchange_ = nullptr;  // in it
  base::Fd connection_;
  pid_t pid_ = -1;
  Registration registration_;
};

}  // namespace sojourn::scripts
