// The dumps of a flight recorder: asked for by a trigger, a signal or `sojourn ctl`, due a little
// later, written by the sink's thread as RUN-1.sjt, RUN-2.sjt, ... The capture's thread owns it.
#pragma once

#include <chrono>
#include <cstdint>
#include <future>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <vector>

#include "analysis/base/result.h"
#include "analysis/model/capture_info.h"
#include "analysis/trace/writer.h"
#include "userspace/capture/output/item_store.h"
#include "userspace/capture/output/sink.h"
#include "userspace/capture/output/source.h"

namespace sojourn::capture {

// The length of recording after a trigger: until both limits are reached.
struct Aftermath {
  std::chrono::nanoseconds span{};
  std::uint64_t events = 0;
};

// The contents of a dump in words: "193,941 events, the last 1.2 s".
std::string dump_size_text(std::uint64_t events, std::chrono::nanoseconds span);

// The names of a capture's dumps: of run.sjt run-1.sjt, run-2.sjt, ...
class DumpNames {
 public:
  explicit DumpNames(std::string output) : output_(std::move(output)) {}

  // The next name that no file has.
  std::string next();

 private:
  std::string output_;
  unsigned number_ = 0;
};

class Dumps {
 public:
  // A dump that was written, or was not: then `dumped` says why.
  struct Done {
    std::string path;
    std::string why;
    std::vector<int> clients;  // clients that wait for an answer
    Result<Dumped> dumped;
  };

  // `output` is the name that gets the numbers.
  Dumps(std::string output, Aftermath aftermath)
      : names_(std::make_shared<DumpNames>(std::move(output))), aftermath_(aftermath) {}

  // Asks for a dump. Requests before it is due are one dump together. A client gets an answer.
  void ask(const std::string& why, std::uint64_t now_ns, std::uint64_t events,
           std::optional<int> client = {});
  bool is_due(std::uint64_t now_ns, std::uint64_t events) const;

  // Begins a dump, once everything up to about.close_ns has been pushed to the sink. The held
  // events are written now; descriptions that take long are added later, and then the file gets its
  // name.
  void begin(Sink& sink, model::Capture about, std::vector<Source::Description> descriptions);

  // The dumps that were completed since the last call; adds descriptions that are ready.
  std::vector<Done> take_done(Sink& sink);
  // Waits for descriptions that are not ready, and completes all dumps. Before the sink's end.
  void complete_all(Sink& sink);
  bool is_asked() const { return request_.has_value(); }
  bool is_writing() const { return !writing_.empty(); }

 private:
  struct Request {
    std::string why;
    std::uint64_t due_ns = 0;
    std::uint64_t due_events = 0;
    std::vector<int> clients;
  };
  // Belongs to the sink's thread, except `dumped`, which the capture's thread reads, and `path`
  // once that is set.
  struct File {
    std::string path;
    std::optional<trace::Writer> writer;
    model::Capture about;
    std::mutex mutex;
    std::optional<Result<Dumped>> dumped;

    void end(Result<Dumped> how);
  };
  struct Writing {
    Request request;
    std::shared_ptr<File> file;
    std::future<std::vector<model::Profile>> found;  // until the sink has it
  };
  static void complete(Writing& writing, Sink& sink);

  std::shared_ptr<DumpNames>
      names_;  // used by the sink's thread, which can look into the directory
  Aftermath aftermath_;
  std::optional<Request> request_;
  std::vector<Writing> writing_;
};

}  // namespace sojourn::capture
