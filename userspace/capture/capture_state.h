// What a Capture consists of, for its parts: capture.cpp takes it from attaching to the finished
// file, capture_control.cpp does what it is asked meanwhile, capture_budget.cpp keeps it cheap.
#pragma once

#include <chrono>
#include <cstdint>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <vector>

#include "analysis/base/result.h"
#include "userspace/capture/budget.h"
#include "userspace/capture/capture.h"
#include "userspace/capture/control_socket.h"
#include "userspace/capture/dumps.h"
#include "userspace/capture/outlet.h"
#include "userspace/capture/sink.h"
#include "userspace/capture/trigger.h"

namespace sojourn::capture {

// Members in the order in which they are acquired: the probes go first when this is destroyed.
struct Capture::State {
  State() = default;
  State(const State&) = delete;
  State& operator=(const State&) = delete;
  ~State() {
    // A capture that did not come to its open mark must not leave an empty trace.
    if (sink && about.open_ns == 0) sink->abandon();
  }

  const target::Process* process = nullptr;
  Options options;
  model::Capture about;
  Coverage coverage;
  std::uint64_t end_ns = UINT64_MAX;  // by the duration
  std::uint64_t tracer_cpu_at_open = 0;
  std::uint64_t target_cpu_at_open = 0;
  std::uint64_t target_cpu_last = 0;  // the newest reading: an exited target has none
  std::uint64_t next_second_ns = UINT64_MAX;

  std::optional<Watch> watch;  // of a flight recorder
  std::optional<Sink> sink;
  std::optional<Outlet> outlet;
  std::vector<std::unique_ptr<Source>> sources;  // the engines first
  std::vector<Engine*> engines;
  RingEngine* rings = nullptr;  // where it is one of them
  BpfEngine* bpf = nullptr;
  std::optional<ControlSocket> control;  // missing where the machine has no abstract sockets
  std::optional<Dumps> dumps;            // of a flight recorder
  std::optional<Budget> budget;
  std::uint64_t next_budget_ns = 0;
  std::size_t shed_written = 0;
  std::string last_path;
  unsigned dumps_done = 0;

  // What triggers did, see capture_control.cpp.
  struct Start {
    std::mutex mutex;
    std::optional<Result<model::Capture>> about;
  };
  const target::Points* target_points = nullptr;  // of those who started the capture
  std::uint64_t lost_so_far = 0;                  // as of the last second
  bool is_held = false;  // in memory, by a flight recorder, until a trigger starts the file
  std::uint64_t lost_told = 0;
  std::vector<std::uint64_t> rests_until_ns;  // by trigger
  unsigned dumps_triggered = 0;
  std::uint64_t stop_at_ns = UINT64_MAX;  // when both have come
  std::uint64_t stop_at_events = 0;
  std::shared_ptr<Start> starting;
  struct Watermark {
    std::uint64_t marked_ns = 0;  // when the sources were marked; 0: they are not
    std::uint64_t next_ns = 0;
    std::uint64_t told = 0;  // of events that were left out
    std::uint64_t next_word_ns = 0;
  };
  Watermark watermark;

  Result<void> make_sources(const target::Points& points);
  void measure_costs(const target::Points& points);
  Result<void> open_sink(const target::Points& points);
  Result<void> arm();
  void open_gate();
  bool is_open() const { return about.open_ns != 0; }
  void close_at(std::uint64_t monotonic_ns);

  Result<void> set_budget(const target::Points& points);
  Result<void> keep_budget(const Listener& listener);
  Result<void> switch_points(const std::vector<model::PointId>& points, bool on);
  void write_shed();

  Result<void> every_second(const Listener& listener);
  void ask_dump(const std::string& why, std::optional<int> client = {});
  Result<void> begin_dump();
  Result<void> look_after_dumps(const Listener& listener);
  Result<void> look_after_triggers(const Listener& listener);
  void move_watermark(const Listener& listener);
  Result<void> fire(std::size_t trigger, const Listener& listener);
  Result<void> act(const Trigger& trigger, const Listener& listener);
  void ask_dump_by_trigger(const Trigger& trigger, const Listener& listener);
  void start_file();
  Result<void> look_after_start();
  Result<void> wait_for_start();
  Result<void> check_triggers();
  void switch_by_trigger(const Trigger& trigger, const Listener& listener);
  Result<void> obey(const ControlSocket::Request& request);
  std::string status() const;
  void on_signal(int signal);
  Result<std::string> end_file();

  Result<bool> poll();
  void flush();
  std::chrono::microseconds poll_period() const;
  std::uint64_t events() const;
  std::uint64_t other_events() const;
  Result<model::Ledger> losses() const;
  Result<bool> poll_with_room();  // waits for the disk where it is behind
  Result<void> drain_rest();
  // Everything that began before now is in the sink afterwards, however fast more comes.
  Result<void> catch_up();
};

}  // namespace sojourn::capture
