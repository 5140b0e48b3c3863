// A script in the worker: reads it, keeps its registrations, and calls its functions for the events
// or the journeys in the exchange. The script sees events through the one object `e`, which refers
// to the current row: no object is made for an event. One thread owns a ScriptEngine.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "analysis/base/result.h"
#include "analysis/model/schema.h"
#include "userspace/scripts/exchange.h"
#include "userspace/scripts/lua_state.h"
#include "userspace/scripts/registration.h"
#include "userspace/scripts/script_source.h"

namespace sojourn::scripts {

class ScriptEngine {
 public:
  // The arguments must outlive it, and it must not move.
  ScriptEngine(Exchange& exchange, const model::Schema& schema, std::uint64_t open_ns);
  ScriptEngine(const ScriptEngine&) = delete;
  ScriptEngine& operator=(const ScriptEngine&) = delete;

  // Reads the script and writes its registrations into the exchange.
  Result<void> load(const ScriptSource& source, std::size_t max_bytes);
  // Handles the events in the exchange. Returns false if the results so far must be taken before it
  // goes on.
  Result<bool> begin_events();
  Result<bool> go_on();
  // The journey in the exchange.
  Result<void> judge_journey();

  // See LuaState::stop().
  void stop() {
    if (state_) state_->stop();
  }

 private:
  friend struct ScriptApi;      // the functions that scripts call
  friend struct EventAccess;    // `e`
  friend struct JourneyAccess;  // `j`

  enum class Kind : std::uint8_t { kFilter, kColumn, kHandler, kJourneyFilter };
  struct Function {
    Kind kind = Kind::kHandler;
    std::uint32_t column = 0;  // kColumn
    int reference = 0;         // in Lua's registry
    std::uint32_t line = 0;    // its begin
    bool is_ended = false;     // by an error
    std::vector<model::PointId> points;
  };

  static constexpr std::uint32_t kNoRow = UINT32_MAX;
  static constexpr std::int8_t kNoField = -1;
  static constexpr std::int8_t kColumnBase = 64;

  void learn_fields();
  void plan_calls();
  void run_rows(lua_State* lua);
  // The index among a step's values of the field that field_at() returned.
  std::size_t place_in_step(std::int8_t at, model::PointId point) const {
    if (at < kColumnBase) return static_cast<std::size_t>(at);
    const auto column = static_cast<std::size_t>(at - kColumnBase);
    return static_cast<std::size_t>(column_at_[column * schema_.points.size() + point]);
  }
  bool call_for_row(lua_State* lua, const Function& function);
  void note_error(const Error& error);
  std::int8_t& field_at(std::size_t field, std::size_t point) {
    return field_at_[field * schema_.points.size() + point];
  }

  Exchange& exchange_;
  const model::Schema& schema_;
  std::uint64_t open_ns_;
  std::optional<LuaState> state_;
  Registration registration_;
  bool is_loading_ = false;

  std::vector<std::string> point_names_;
  std::vector<std::string> fields_;     // names, of the schema and of columns
  std::vector<std::int8_t> field_at_;   // by field and point: where among its values
  std::vector<std::int8_t> unread_at_;  // by point
  std::vector<std::int8_t> column_at_;  // by column and point: where in the events behind
  std::vector<Function> functions_;
  std::vector<std::vector<std::uint32_t>> calls_;  // by point, filters before columns before others

  // The current event.
  std::uint32_t row_ = kNoRow;
  std::uint32_t call_ = 0;  // in its list
  std::uint32_t made_by_event_ = 0;
  bool is_handler_ = false;  // a handler runs, which may make activities
  bool is_journey_ = false;  // there is one to look at
};

}  // namespace sojourn::scripts
