// The interface for scripts: functions by which they register others, and two objects for events
// and journeys. Lua calls each of these functions (lua_state.h says what that means).
#pragma once

#include "userspace/scripts/script_engine.h"

namespace sojourn::scripts {

inline ScriptEngine& engine_of(lua_State* lua) {
  return **static_cast<ScriptEngine**>(lua_getextraspace(lua));
}

// filter(), filter_journeys(), column(), activity(), marker(), on(), known(), print(), and names of
// times.
struct ScriptApi {
  static int open(lua_State* lua);
  static int filter(lua_State* lua);
  static int filter_journeys(lua_State* lua);
  static int column(lua_State* lua);
  static int activity(lua_State* lua);
  static int marker(lua_State* lua);
  static int on(lua_State* lua);
  static int known(lua_State* lua);
  static int print(lua_State* lua);

 private:
  using Kind = ScriptEngine::Kind;
  static void check_loading(lua_State* lua, const char* what);
  static void add_function(lua_State* lua, int at, Kind kind, int points_at);
  static bool choose_points(ScriptEngine& engine, const char* pattern,
                            std::vector<model::PointId>& into);
  static void place_column(ScriptEngine& engine, const std::vector<model::PointId>& points);
  static int register_for_points(lua_State* lua, Kind kind, const char* what);
  static int register_made(lua_State* lua, bool is_activity, const char* what);
  static int make(lua_State* lua);
  static const char* name_at(lua_State* lua, int at, const char* what);
};

// `e`. open() leaves it in the registry, under the address of kKey.
struct EventAccess {
  static const char kKey;
  static int open(lua_State* lua);
  static int index(lua_State* lua);
};

// `j`, in the same way.
struct JourneyAccess {
  static const char kKey;
  static int open(lua_State* lua);
  static int index(lua_State* lua);
  static int longest_stay(lua_State* lua);
};

// Converts a script's value for a field: a whole number, or true and false as 1 and 0. Returns
// false for other values.
bool is_field_value(lua_State* lua, int at, std::uint64_t& value);
// Returns the reason why it is no value, in words.
const char* wrong_value(lua_State* lua, int at);
// Returns the value, or raises an error that names `what` and `name`.
std::uint64_t field_value(lua_State* lua, int at, const char* what, const char* name);

}  // namespace sojourn::scripts
