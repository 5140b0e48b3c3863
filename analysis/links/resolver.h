// Turns recorded links (analysis/model/links.h) into ids, so that all later stages, above all
// journeys, only need ids: the two ends of a link get a number that no other link has, an address
// gets one for each of its lives, and inherited fields get the value of the call around the hit.
// Memory is that of open calls and living addresses. One thread owns a Resolver.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <unordered_map>
#include <unordered_set>
#include <utility>
#include <vector>

#include "analysis/links/aging_map.h"
#include "analysis/model/capture_info.h"
#include "analysis/model/event.h"
#include "analysis/model/links.h"
#include "analysis/model/schema.h"

namespace sojourn::links {

class Resolver {
 public:
  // `streams`: the process of each stream, as addresses are per process. `shed`: when points were
  // off.
  Resolver(const model::Schema& schema, std::span<const model::Stream> streams,
           std::span<const model::ShedSpan> shed = {});

  void add_stream(const model::Stream& stream) { pids_[stream.id] = stream.pid; }

  // False if the schema has no links.
  bool is_needed() const { return is_needed_; }

  // All events in time order, batch by batch.
  void resolve(model::EventBatch& events);

 private:
  struct LinkField {
    std::size_t field = 0;
    model::Link kind = model::Link::kCall;
    std::uint32_t link = 0;  // equal for equal names
  };
  struct NamedField {
    std::size_t field = 0;
    std::uint32_t name = 0;
  };
  struct InheritedField {
    std::size_t field = 0;
    std::uint32_t name = 0;
    std::size_t how = 0;  // the index of the field that says which call's value it gets
  };
  struct Address {
    std::size_t field = 0;
    std::uint32_t name = 0;
    std::optional<std::size_t> life;  // the index of the field for its life
    bool is_of_own_call = false;      // no value is recorded: it is that of the call that ends
  };
  // The steps that resolve a point's events.
  struct Plan {
    bool is_of_target = false;
    std::size_t values = 0;
    std::optional<std::size_t> stack;
    bool is_exit = false;  // the hit ends the call that was entered with this stack pointer
    std::optional<std::size_t> unread;
    std::vector<LinkField> links;
    std::vector<InheritedField> inherits;
    std::vector<NamedField> offers;  // values that calls inside may inherit
    std::vector<Address> addresses;
  };
  struct Call {
    std::uint64_t stack = 0;
    std::uint64_t since_ns = 0;
    std::vector<std::pair<std::uint32_t, std::uint64_t>> links;      // and their numbers
    std::vector<std::pair<std::uint32_t, std::uint64_t>> values;     // by name
    std::vector<std::pair<std::uint32_t, std::uint64_t>> addresses;  // as they were recorded
  };
  // The last number that a thread gave by a link, and whether it was taken.
  struct Given {
    std::uint32_t link = 0;
    std::uint64_t number = 0;
    bool is_taken = false;
  };
  struct Thread {
    std::vector<Call> calls;  // the innermost last
    std::vector<Given> given;
  };
  struct AddressKey {
    std::int32_t pid = 0;
    std::uint32_t name = 0;
    std::uint64_t address = 0;
    bool operator==(const AddressKey&) const = default;
  };
  struct HashAddress {
    std::size_t operator()(const AddressKey& key) const;
  };

  struct Hit;  // an event, and the thread that hit it

  // Names of auxiliary fields of any point.
  using Names = std::unordered_set<std::string>;

  Plan plan_of(const model::Point& point, const Names& helpers);
  static bool says_anything(const Plan& plan);
  std::uint32_t number_of(const std::string& name);
  void note_sequence(std::uint32_t stream, std::uint64_t seq);
  void note_time(std::uint64_t ts_ns);
  void forget();
  void name_addresses(const Plan& plan, Hit& hit);
  void end_lives(const Plan& plan, const Hit& hit);
  void take(const Plan& plan, Hit& hit);
  void inherit(const Plan& plan, Hit& hit) const;
  void give(const Plan& plan, Hit& hit);
  static void close_calls(Thread& thread, std::uint64_t stack);
  static void close_calls_within(Thread& thread, std::uint64_t stack);
  static const Call* ended_call(const Plan& plan, const Hit& hit);
  static const Call* call_with(const Plan& plan, const Hit& hit,
                               std::vector<std::pair<std::uint32_t, std::uint64_t>> Call::* what,
                               std::uint32_t number, std::uint64_t& value);

  bool is_needed_ = false;
  bool ends_with_calls_ = false;  // there are addresses whose life ends with a call
  std::vector<Plan> plans_;       // by point
  std::unordered_map<std::string, std::uint32_t> numbers_;
  std::unordered_map<std::uint32_t, std::int32_t> pids_;           // by stream
  std::unordered_map<std::uint32_t, std::uint64_t> next_numbers_;  // by stream
  std::vector<std::uint64_t> changes_ns_;  // when points went off or came back, the next one last
  AgingMap<std::uint32_t, Thread> threads_;
  AgingMap<AddressKey, std::uint64_t, HashAddress> lives_;
  // The last number that was given. Numbers are above those of LinkEnd.
  std::uint64_t last_ = static_cast<std::uint64_t>(model::LinkEnd::kTakes);
};

}  // namespace sojourn::links
