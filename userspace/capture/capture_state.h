// What a Capture consists of, for its parts: capture.cpp takes it from attaching to the finished
// file, capture_losses.cpp knows what was kept and what was not; capture_members.cpp knows the
// processes, capture_comings.cpp those that come, capture_family.cpp their children,
// capture_code.cpp what they load and capture_launch.cpp what a script starts; capture_control.cpp
// does what it is asked meanwhile, capture_budget.cpp keeps it cheap and capture_hits.cpp tells of
// points that are hit too often or never. What belongs to one subject alone is in
// capture_processes.h and capture_events.h.
#pragma once

#include <chrono>
#include <cstdint>
#include <memory>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <vector>

#include <poll.h>

#include "analysis/base/result.h"
#include "userspace/capture/bpf/calibrate.h"
#include "userspace/capture/budget.h"
#include "userspace/capture/capture_events.h"
#include "userspace/capture/capture_processes.h"
#include "userspace/capture/capture_session.h"
#include "userspace/capture/control/control_socket.h"
#include "userspace/capture/control/trigger.h"
#include "userspace/capture/hit_watch.h"
#include "userspace/capture/output/async_destroyer.h"
#include "userspace/capture/output/capture_output.h"
#include "userspace/capture/output/dumps.h"
#include "userspace/capture/output/sink.h"
#include "userspace/capture/output/thread_names.h"
#include "userspace/capture/rings/ring_directory.h"
#include "userspace/target/code_watch.h"

namespace sojourn::capture {

// Far enough ahead that every CPU sees a gate's new time before that time comes.
constexpr std::uint64_t kGateLead = 1'000'000;

// Sets the instant from which on what these sources have counts, the same for all; at the latest
// `latest_ns`, also where that has passed.
Result<std::uint64_t> open_together(std::span<const std::unique_ptr<Source>> sources,
                                    std::uint64_t latest_ns = UINT64_MAX);

// Between looks for code that comes, and while a program is being loaded.
constexpr std::uint64_t kCodePeriodNs = 1'000'000'000;
constexpr std::uint64_t kCodeSoonNs = 20'000'000;

struct WrittenFile {
  std::string path;  // empty: there is none
  std::uint64_t bytes = 0;
};

struct NotKept {
  std::uint64_t lost = 0;
  std::uint64_t filtered = 0;
};
NotKept not_kept(const model::Ledger& ledger);

// Members in the order in which they are acquired: the probes go first when this is destroyed.
struct Capture::State {
  State() = default;
  State(const State&) = delete;
  State& operator=(const State&) = delete;
  ~State() {
    // A capture that did not come to its open mark must not leave an empty trace.
    if (sink && about.open_ns == 0) sink->abandon();
    // They look at what is destroyed before the members are.
    for (const auto& member : members)
      if (member->finding.valid()) member->finding.wait();
  }

  std::vector<std::unique_ptr<Member>> members;  // they outlive the sources
  LateJoiners late_joiners;
  Family family;
  CodeLooks code_looks;
  Launch launch;
  Retired retired;
  AsyncDestroyer async_destroyer;
  std::size_t unarmed_written = 0;
  model::Schema schema;  // of all members at the start; later the output's
  Options options;
  model::Capture about;
  Coverage coverage;
  std::uint64_t end_ns = UINT64_MAX;  // by the duration
  std::uint64_t tracer_cpu_at_open = 0;
  std::uint64_t next_second_ns = UINT64_MAX;

  std::optional<TriggerWatch> watch;  // of a flight recorder
  std::optional<Sink> sink;
  std::optional<CaptureOutput> output;
  std::vector<std::unique_ptr<Source>> sources;  // the engines first
  std::vector<Engine*> engines;
  std::vector<RingEngine*> rings;  // of them
  std::vector<BpfEngine*> bpf;
  std::vector<std::vector<Source*>> others;  // by options.others: those that it made
  std::optional<BpfCosts> bpf_costs;
  std::optional<HitCost> ring_cost;
  std::optional<ControlSocket> control;  // missing where the machine has no abstract sockets
  std::optional<Dumps> dumps;            // of a flight recorder
  std::optional<Budget> budget;
  std::uint64_t next_budget_ns = 0;
  bool told_of_no_costs = false;
  bool told_of_no_helper = false;
  std::uint64_t probes_seen_ns = 0;  // they were there
  std::size_t shed_written = 0;
  std::optional<HitWatch> hit_watch;  // once it is open
  std::uint64_t next_hits_ns = 0;
  std::size_t hot_told = 0;
  WrittenFile last_file;  // of the dumps
  unsigned dumps_done = 0;

  std::uint64_t lost_so_far = 0;  // as of the last second
  bool is_held = false;  // in memory, by a flight recorder, until a trigger starts the file
  LossWords loss_words;
  Triggered triggered;
  std::string left_before;  // of a killed capture, by its new name

  Result<void> join_members(std::vector<Subject> subjects);
  Result<void> make_sources();
  void measure_costs();
  Result<void> open_sink();
  Result<void> arm();
  Result<void> open_gate();
  bool is_open() const { return about.open_ns != 0; }
  void close_at(std::uint64_t monotonic_ns);

  // The processes and their sources, see capture_members.cpp, capture_comings.cpp,
  // capture_family.cpp, capture_code.cpp. `made` are new sources.
  using Sources = std::vector<std::unique_ptr<Source>>;
  Result<void> make_engines(Member& member, target::Points& points, Sources& made);
  Result<void> make_others(Member& member, Sources& made);
  void forget_engines(const Sources& made, Member& member);
  void note_costs(Member& member);
  void note_ring_costs(const target::Points& points);
  void note_cost(std::size_t point, std::uint64_t ps);
  void note_engine(const Engine& engine);
  void listen_for_ctl();
  bool is_alive() const;  // any of them
  std::uint64_t target_cpu_ns();
  std::optional<RingAdvice> ring_advice() const;
  void add_pidfds(std::vector<pollfd>& watched) const;
  Result<void> end_members(std::span<const pollfd> watched, const Listener& listener);
  Result<void> poll_members(const Listener& listener);
  Result<void> look_for_processes(const Listener& listener);
  Result<Joined> admit(target::Process& process, Newcomer newcomer, const Listener& listener);
  void tell_coming(const Listener& listener, const std::string& words);
  Result<void> follow();
  Result<void> poll_family(const Listener& listener);
  Result<void> look_at_child(Child child, const Listener& listener);
  void note_brief(const FamilyEvent& child, std::uint64_t until_ns, const Listener& listener);
  void tell_of_brief(pid_t pid, const Listener& listener);
  void note_met();
  Member* member_of(pid_t pid);  // that lives
  void note_program(Member& member, std::uint64_t since_ns);
  void note_beginning(Member& member, std::uint64_t from_ns, std::uint64_t since_ns);
  void tell_of(const Member& member, const Listener& listener);
  Result<void> retire_ended();
  Result<bool> retire(Member& member);
  void forget_retired();
  std::optional<target::Points> points_like(const Member& parent,
                                            const target::Process& child) const;
  Result<void> look_for_new_rings(Member& member);
  bool has_all_rings(const Member& member, const target::Points& points) const;
  Result<target::Points> find_points(const target::Process& process) const;
  void begin_finding(Member& member);
  Result<void> take_in_code(Member& member, const Listener& listener);
  bool try_code_again(Member& member);
  Result<void> number_points(target::Points& points);
  Result<std::uint64_t> begin_member(Member& member, Sources& made);
  Result<std::uint64_t> begin_code(Member& member, target::Points& fresh, Sources& made);
  Result<std::uint64_t> join_running(Member& member, Sources& made);
  void note_unarmed(const model::UnarmedSpan& span);
  void write_unarmed();
  static std::set<model::PointId> points_of(const target::Points& points);
  std::set<model::PointId> late_points(const Member& member, const target::Points& points) const;

  // What a script starts, see capture_launch.cpp.
  bool waits_for_program() const;
  Result<bool> has_launched_more(const Listener& listener);
  Result<void> poll_launch(const Listener& listener);
  void look_at_left_rings(const Listener& listener, bool is_end);
  static bool is_making_rings(const target::Process& process);
  static void put_to_rest(const ArenaFile& file);
  void note_missed(const ArenaFile& file, const Listener& listener);
  void check_first_points(const model::Schema& found, const Listener& listener);

  std::vector<BudgetPoint> budget_points() const;
  Result<void> set_budget();
  void extend_budget(const Listener& listener);
  Result<void> keep_budget(const Listener& listener);
  Result<void> switch_points(const std::vector<model::PointId>& points, bool on);
  void write_shed();

  Result<std::vector<std::uint64_t>> hits_by_point();
  std::vector<WatchedPoint> watched_points() const;
  std::vector<model::PointId> without_switched(std::vector<model::PointId> points) const;
  std::vector<std::string> point_names(const std::vector<model::PointId>& points) const;
  void tell_hot(const std::vector<HitWatch::Hot>& hot, const Listener& listener);
  Result<void> poll_hits(const Listener& listener);
  Result<std::vector<std::string>> never_hit();

  Result<void> poll_helpers(const Listener& listener);
  Result<void> every_second(const Listener& listener);
  void name_threads(ThreadNames::Look what);
  Result<void> poll_losses(const Listener& listener);
  void ask_dump(const std::string& why, std::optional<int> client = {});
  void unpin_history();
  Result<void> begin_dump();
  Result<void> poll_dumps(const Listener& listener);
  Result<void> poll_triggers(const Listener& listener);
  void move_watermark(const Listener& listener);
  Result<void> fire(std::size_t trigger, const Listener& listener);
  Result<void> act(const Trigger& trigger, const Listener& listener);
  void ask_dump_by_trigger(const Trigger& trigger, const Listener& listener);
  void start_file();
  Result<void> poll_start();
  Result<void> wait_for_start();
  Result<void> check_triggers();
  void switch_by_trigger(const Trigger& trigger, const Listener& listener);
  Result<std::size_t> switch_by_pattern(const std::string& pattern, bool on);
  void switch_back();
  std::set<model::PointId> switched_points() const;
  Result<void> obey(const ControlSocket::Request& request);
  std::string status() const;
  void on_signal(int signal);
  void note_dump(const Dumps::Done& done);
  Result<WrittenFile> end_file();

  Result<bool> poll();
  void flush();
  std::chrono::microseconds poll_period() const;
  std::uint64_t events() const;
  std::uint64_t other_events() const;
  struct GivenUp {
    std::uint64_t events = 0;
    std::uint64_t other_events = 0;
  };
  GivenUp given_up() const;
  Result<model::Ledger> losses() const;
  Result<bool> poll_with_room();  // waits for the disk where it is behind
  Result<void> drain_rest();
  // Everything that began before now is in the sink afterwards, however fast more comes.
  Result<void> catch_up();
};

}  // namespace sojourn::capture
