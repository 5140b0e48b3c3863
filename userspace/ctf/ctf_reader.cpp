#include "userspace/ctf/ctf_reader.h"

#include <algorithm>
#include <exception>
#include <filesystem>
#include <memory>
#include <string_view>
#include <system_error>
#include <utility>
#include <vector>

#include <babeltrace2/babeltrace.h>

#include "analysis/base/printable.h"

namespace sojourn::ctf {

namespace {

constexpr bt_logging_level kSilent = BT_LOGGING_LEVEL_NONE;
constexpr std::uint64_t kNsPerSecond = 1'000'000'000;
constexpr std::size_t kMaxTraces = 4096;

template <auto put>
struct PutRef {
  template <typename Object>
  void operator()(Object* object) const {
    put(object);
  }
};
using Graph = std::unique_ptr<bt_graph, PutRef<bt_graph_put_ref>>;
using Plugin = std::unique_ptr<const bt_plugin, PutRef<bt_plugin_put_ref>>;
using Value = std::unique_ptr<bt_value, PutRef<bt_value_put_ref>>;

// Returns the library's innermost cause of a failure, which names the file.
std::string last_cause() {
  const bt_error* const error = bt_current_thread_take_error();
  if (error == nullptr) return "babeltrace2 does not say why";
  std::string text;
  if (bt_error_get_cause_count(error) != 0)
    text = printable(bt_error_cause_get_message(bt_error_borrow_cause_by_index(error, 0)));
  bt_error_release(error);
  constexpr std::size_t kMost = 300;
  return text.substr(0, kMost);
}

Result<Plugin> find_plugin(const char* name) {
  const bt_plugin* found = nullptr;
  const auto status = bt_plugin_find(name, BT_FALSE, BT_FALSE, BT_TRUE, BT_TRUE, BT_FALSE, &found);
  if (status != BT_PLUGIN_FIND_STATUS_OK) {
    if (status != BT_PLUGIN_FIND_STATUS_NOT_FOUND) last_cause();
    return fail("babeltrace2's plugin \"{}\" is not installed", name);
  }
  return Plugin(found);
}

// Directories with a file `metadata`, in the order of their names.
Result<std::vector<std::string>> traces_in(const std::string& directory) {
  std::vector<std::string> found;
  std::error_code error;
  if (!std::filesystem::is_directory(directory, error))
    return fail("open {}: {}", directory, error ? error.message() : "not a directory");
  if (std::filesystem::is_regular_file(directory + "/metadata", error)) found.push_back(directory);
  std::filesystem::recursive_directory_iterator at(directory, error);
  for (; !error && at != std::filesystem::recursive_directory_iterator(); at.increment(error))
    if (at->is_directory(error) && std::filesystem::is_regular_file(at->path() / "metadata", error))
      found.push_back(at->path().string());
  if (error) return fail("read {}: {}", directory, error.message());
  if (found.empty()) return fail("{}: no trace: there is no file metadata in it", directory);
  if (found.size() > kMaxTraces) return fail("{}: more than {} traces", directory, kMaxTraces);
  std::ranges::sort(found);
  return found;
}

// Whole nanoseconds.
std::uint64_t nanoseconds(std::uint64_t cycles, std::uint64_t frequency) {
  if (frequency == kNsPerSecond) return cycles;
  return static_cast<std::uint64_t>(static_cast<unsigned __int128>(cycles) * kNsPerSecond /
                                    std::max<std::uint64_t>(frequency, 1));
}

// The receiver of the events that the library passes to its callbacks.
class Sink {
 public:
  explicit Sink(const TakeCtf& take) : take_(take) {}

  // False: an error, which result() has.
  bool take(const bt_message* message) {
    switch (bt_message_get_type(message)) {
      case BT_MESSAGE_TYPE_EVENT:
        result_ = take_event(message);
        break;
      case BT_MESSAGE_TYPE_DISCARDED_EVENTS: {
        std::uint64_t count = 0;
        if (bt_message_discarded_events_get_count(message, &count) ==
            BT_PROPERTY_AVAILABILITY_AVAILABLE)
          take_.lost(count);
        break;
      }
      default:
        break;
    }
    return result_.has_value();
  }
  Result<void> result() { return std::move(result_); }

 private:
  Result<void> take_event(const bt_message* message) {
    const bt_clock_class* const clock =
        bt_message_event_borrow_stream_class_default_clock_class_const(message);
    if (clock != clock_ || is_first_) SJ_CHECK(take_clock(clock));
    const bt_event* const event = bt_message_event_borrow_event_const(message);
    CtfEvent& taken = event_;
    taken.hit.fields.clear();
    taken.hit.tid = 0;
    taken.hit.thread = {};
    taken.unix_ns.reset();
    const char* const name = bt_event_class_get_name(bt_event_borrow_class_const(event));
    taken.hit.event = name == nullptr ? std::string_view("unnamed") : std::string_view(name);
    const bt_clock_snapshot* const now =
        bt_message_event_borrow_default_clock_snapshot_const(message);
    taken.hit.ts_ns =
        nanoseconds(bt_clock_snapshot_get_value(now), bt_clock_class_get_frequency(clock));
    std::int64_t unix_ns = 0;
    if (bt_clock_class_origin_is_unix_epoch(clock) != BT_FALSE &&
        bt_clock_snapshot_get_ns_from_origin(now, &unix_ns) ==
            BT_CLOCK_SNAPSHOT_GET_NS_FROM_ORIGIN_STATUS_OK &&
        unix_ns >= 0)
      taken.unix_ns = static_cast<std::uint64_t>(unix_ns);
    for (const bt_field* const context : {bt_event_borrow_common_context_field_const(event),
                                          bt_event_borrow_specific_context_field_const(event)})
      each_member(context, [&](std::string_view member, const bt_field* field) {
        take_context(member, field);
      });
    each_member(bt_event_borrow_payload_field_const(event),
                [&](std::string_view member, const bt_field* field) {
                  if (auto value = number_of(field)) {
                    value->name = member;
                    taken.hit.fields.push_back(*value);
                  }
                });
    return take_.event(taken);
  }

  Result<void> take_clock(const bt_clock_class* clock) {
    is_first_ = false;
    clock_ = clock;
    CtfClock about;
    if (clock == nullptr) return take_.clock(about);
    const char* const name = bt_clock_class_get_name(clock);
    about.name = name == nullptr ? "unnamed" : printable(name);
    std::int64_t seconds = 0;
    std::uint64_t cycles = 0;
    bt_clock_class_get_offset(clock, &seconds, &cycles);
    if (bt_clock_class_origin_is_unix_epoch(clock) != BT_FALSE && seconds >= 0 &&
        static_cast<std::uint64_t>(seconds) < 9 * kNsPerSecond)
      about.zero_unix_ns = static_cast<std::uint64_t>(seconds) * kNsPerSecond +
                           nanoseconds(cycles, bt_clock_class_get_frequency(clock));
    return take_.clock(about);
  }

  // LTTng's contexts and those of sojourn's own exports.
  void take_context(std::string_view name, const bt_field* field) {
    const auto type = bt_field_get_class_type(field);
    if (name == "vtid" || name == "tid") {
      const auto value = number_of(field);
      if (value && value->value <= UINT32_MAX)
        event_.hit.tid = static_cast<std::uint32_t>(value->value);
    } else if ((name == "procname" || name == "thread") &&
               bt_field_class_type_is(type, BT_FIELD_CLASS_TYPE_STRING) != BT_FALSE) {
      event_.hit.thread = bt_field_string_get_value(field);
    }
  }

  template <typename Take>
  static void each_member(const bt_field* structure, const Take& take) {
    if (structure == nullptr) return;
    const bt_field_class* const of = bt_field_borrow_class_const(structure);
    const std::uint64_t count = bt_field_class_structure_get_member_count(of);
    for (std::uint64_t at = 0; at < count; ++at)
      take(bt_field_class_structure_member_get_name(
               bt_field_class_structure_borrow_member_by_index_const(of, at)),
           bt_field_structure_borrow_member_field_by_index_const(structure, at));
  }

  // Returns whole numbers, including enumerations; nothing for other fields.
  static std::optional<hits::HitField> number_of(const bt_field* field) {
    const auto type = bt_field_get_class_type(field);
    if (bt_field_class_type_is(type, BT_FIELD_CLASS_TYPE_UNSIGNED_INTEGER) != BT_FALSE)
      return hits::HitField{.value = bt_field_integer_unsigned_get_value(field)};
    if (bt_field_class_type_is(type, BT_FIELD_CLASS_TYPE_SIGNED_INTEGER) != BT_FALSE)
      return hits::HitField{
          .value = static_cast<std::uint64_t>(bt_field_integer_signed_get_value(field)),
          .is_signed = true};
    if (bt_field_class_type_is(type, BT_FIELD_CLASS_TYPE_BOOL) != BT_FALSE)
      return hits::HitField{.value = bt_field_bool_get_value(field) != BT_FALSE ? 1U : 0U};
    return std::nullopt;
  }

  const TakeCtf& take_;
  Result<void> result_;
  CtfEvent event_;
  const bt_clock_class* clock_ = nullptr;
  bool is_first_ = true;
};

// No exception may go through the library, which is in C.
bt_graph_simple_sink_component_consume_func_status consume(bt_message_iterator* messages,
                                                           void* data) noexcept {
  bt_message_array_const list = nullptr;
  std::uint64_t count = 0;
  switch (bt_message_iterator_next(messages, &list, &count)) {
    case BT_MESSAGE_ITERATOR_NEXT_STATUS_OK:
      break;
    case BT_MESSAGE_ITERATOR_NEXT_STATUS_END:
      return BT_GRAPH_SIMPLE_SINK_COMPONENT_CONSUME_FUNC_STATUS_END;
    case BT_MESSAGE_ITERATOR_NEXT_STATUS_AGAIN:
      return BT_GRAPH_SIMPLE_SINK_COMPONENT_CONSUME_FUNC_STATUS_AGAIN;
    default:
      return BT_GRAPH_SIMPLE_SINK_COMPONENT_CONSUME_FUNC_STATUS_ERROR;
  }
  auto& sink = *static_cast<Sink*>(data);
  bool goes_on = true;
  for (std::uint64_t at = 0; at < count; ++at) {
    if (goes_on) goes_on = sink.take(list[at]);
    bt_message_put_ref(list[at]);
  }
  return goes_on ? BT_GRAPH_SIMPLE_SINK_COMPONENT_CONSUME_FUNC_STATUS_OK
                 : BT_GRAPH_SIMPLE_SINK_COMPONENT_CONSUME_FUNC_STATUS_ERROR;
}

// Connects a source for each trace to one muxer, which puts their events into the order of time.
Result<void> connect(bt_graph* graph, const std::vector<std::string>& traces, Sink& sink) {
  SJ_TRY(ctf, find_plugin("ctf"));
  SJ_TRY(utils, find_plugin("utils"));
  const auto* const reads = bt_plugin_borrow_source_component_class_by_name_const(ctf.get(), "fs");
  const auto* const muxes =
      bt_plugin_borrow_filter_component_class_by_name_const(utils.get(), "muxer");
  if (reads == nullptr || muxes == nullptr) return fail("babeltrace2 has no source.ctf.fs");
  const bt_component_filter* muxer = nullptr;
  if (bt_graph_add_filter_component(graph, muxes, "muxer", nullptr, kSilent, &muxer) !=
      BT_GRAPH_ADD_COMPONENT_STATUS_OK)
    return fail("{}", last_cause());
  for (const std::string& path : traces) {
    const Value parameters(bt_value_map_create());
    const Value inputs(bt_value_array_create());
    bt_value_array_append_string_element(inputs.get(), path.c_str());
    bt_value_map_insert_entry(parameters.get(), "inputs", inputs.get());
    const bt_component_source* source = nullptr;
    if (bt_graph_add_source_component(graph, reads, path.c_str(), parameters.get(), kSilent,
                                      &source) != BT_GRAPH_ADD_COMPONENT_STATUS_OK)
      return fail("{}: {}", path, last_cause());
    const std::uint64_t ports = bt_component_source_get_output_port_count(source);
    for (std::uint64_t at = 0; at < ports; ++at) {
      // The muxer has one free port more than are connected.
      const std::uint64_t free_port = bt_component_filter_get_input_port_count(muxer) - 1;
      if (bt_graph_connect_ports(
              graph, bt_component_source_borrow_output_port_by_index_const(source, at),
              bt_component_filter_borrow_input_port_by_index_const(muxer, free_port),
              nullptr) != BT_GRAPH_CONNECT_PORTS_STATUS_OK)
        return fail("{}: {}", path, last_cause());
    }
  }
  const bt_component_sink* end = nullptr;
  if (bt_graph_add_simple_sink_component(graph, "sojourn", nullptr, consume, nullptr, &sink,
                                         &end) != BT_GRAPH_ADD_COMPONENT_STATUS_OK ||
      bt_graph_connect_ports(graph, bt_component_filter_borrow_output_port_by_index_const(muxer, 0),
                             bt_component_sink_borrow_input_port_by_index_const(end, 0),
                             nullptr) != BT_GRAPH_CONNECT_PORTS_STATUS_OK)
    return fail("{}", last_cause());
  return {};
}

}  // namespace

Result<void> read_ctf(const std::string& directory, const TakeCtf& take) {
  SJ_TRY(traces, traces_in(directory));
  Sink sink(take);
  const Graph graph(bt_graph_create(0));
  if (graph == nullptr) return fail("read {}: out of memory", directory);
  SJ_CHECK(connect(graph.get(), traces, sink));
  const auto status = bt_graph_run(graph.get());
  if (status == BT_GRAPH_RUN_STATUS_OK) return {};
  std::string why = last_cause();
  SJ_CHECK(sink.result());
  return fail("{}: {}", directory, why);
}

}  // namespace sojourn::ctf
