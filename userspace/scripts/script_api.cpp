#include "userspace/scripts/script_api.h"

#include <algorithm>
#include <bit>
#include <cstring>
#include <string_view>

#include "analysis/model/pattern.h"

namespace sojourn::scripts {

namespace {

constexpr std::size_t kMaxFunctions = 1000;
constexpr std::size_t kMaxNameLength = 64;

bool is_name(std::string_view text) {
  return !text.empty() && text.size() <= kMaxNameLength &&
         text.find_first_not_of(
             "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_-.") ==
             std::string_view::npos;
}

}  // namespace

bool is_field_value(lua_State* lua, int at, std::uint64_t& value) {
  if (lua_isboolean(lua, at)) {
    value = lua_toboolean(lua, at) != 0 ? 1 : 0;
    return true;
  }
  int is_whole = 0;
  value = static_cast<std::uint64_t>(lua_tointegerx(lua, at, &is_whole));
  return is_whole != 0 && lua_type(lua, at) == LUA_TNUMBER;
}

const char* wrong_value(lua_State* lua, int at) {
  return lua_type(lua, at) == LUA_TNUMBER ? "one with a fraction" : luaL_typename(lua, at);
}

std::uint64_t field_value(lua_State* lua, int at, const char* what, const char* name) {
  std::uint64_t value = 0;
  if (!is_field_value(lua, at, value))
    luaL_error(lua, "%s %s: a whole number is wanted, not %s", what, name, wrong_value(lua, at));
  return value;
}

int ScriptApi::open(lua_State* lua) {
  constexpr luaL_Reg kFunctions[] = {{"filter", filter}, {"filter_journeys", filter_journeys},
                                     {"column", column}, {"activity", activity},
                                     {"marker", marker}, {"on", on},
                                     {"known", known},   {"print", print}};
  for (const luaL_Reg& function : kFunctions) {
    lua_pushcfunction(lua, function.func);
    lua_setglobal(lua, function.name);
  }
  constexpr std::pair<const char*, lua_Integer> kTimes[] = {
      {"us", 1'000}, {"ms", 1'000'000}, {"sec", 1'000'000'000}};
  for (const auto& [name, ns] : kTimes) {
    lua_pushinteger(lua, ns);
    lua_setglobal(lua, name);
  }
  lua_pushinteger(lua, static_cast<lua_Integer>(engine_of(lua).open_ns_));
  lua_setglobal(lua, "open_ns");
  return 0;
}

void ScriptApi::check_loading(lua_State* lua, const char* what) {
  if (!engine_of(lua).is_loading_)
    luaL_error(lua, "%s() is called while the script is read, not by a function of it", what);
}

// Returns false if no point matches. It holds objects, so it calls nothing of Lua.
bool ScriptApi::choose_points(ScriptEngine& engine, const char* pattern,
                              std::vector<model::PointId>& into) {
  const auto& points = engine.schema_.points;
  const std::string glob = pattern == nullptr ? "" : pattern;
  for (std::size_t id = 0; id < points.size(); ++id)
    if (pattern == nullptr ? model::is_of_target(points[id].direction)
                           : model::matches_pattern(points[id], glob))
      into.push_back(static_cast<model::PointId>(id));
  return pattern == nullptr || !into.empty();
}

// `points_at`: where on the stack the pattern is; 0: nowhere.
void ScriptApi::add_function(lua_State* lua, int at, Kind kind, int points_at) {
  luaL_checktype(lua, at, LUA_TFUNCTION);
  ScriptEngine& engine = engine_of(lua);
  if (engine.functions_.size() == kMaxFunctions)
    luaL_error(lua, "more than %d functions", static_cast<int>(kMaxFunctions));
  lua_Debug about;
  lua_pushvalue(lua, at);
  lua_getinfo(lua, ">S", &about);
  const char* const pattern = points_at == 0 ? nullptr : luaL_checkstring(lua, points_at);
  lua_pushvalue(lua, at);
  const int reference = luaL_ref(lua, LUA_REGISTRYINDEX);
  engine.functions_.emplace_back();
  ScriptEngine::Function& function = engine.functions_.back();
  function.kind = kind;
  function.reference = reference;
  function.line = about.linedefined > 0 ? static_cast<std::uint32_t>(about.linedefined) : 0;
  if (kind == Kind::kJourneyFilter) return;
  engine.registration_.sees_events = true;
  if (!choose_points(engine, pattern, function.points))
    luaL_error(lua, "no point of the trace matches \"%s\"", pattern);
}

// f(function) or f(pattern, function).
int ScriptApi::register_for_points(lua_State* lua, Kind kind, const char* what) {
  check_loading(lua, what);
  if (lua_gettop(lua) == 1 && lua_isfunction(lua, 1))
    add_function(lua, 1, kind, 0);
  else
    add_function(lua, 2, kind, 1);
  return 0;
}

int ScriptApi::filter(lua_State* lua) {
  register_for_points(lua, Kind::kFilter, "filter");
  engine_of(lua).registration_.filters_events = true;
  return 0;
}

int ScriptApi::on(lua_State* lua) {
  return register_for_points(lua, Kind::kHandler, "on");
}

int ScriptApi::filter_journeys(lua_State* lua) {
  check_loading(lua, "filter_journeys");
  add_function(lua, 1, Kind::kJourneyFilter, 0);
  engine_of(lua).registration_.filters_journeys = true;
  return 0;
}

const char* ScriptApi::name_at(lua_State* lua, int at, const char* what) {
  if (lua_type(lua, at) != LUA_TSTRING) luaL_error(lua, "%s: its name is missing", what);
  const char* const name = lua_tostring(lua, at);
  if (!is_name(name))
    luaL_error(lua, "%s \"%s\": a name has letters, digits, '_', '-' and '.'", what, name);
  return name;
}

// Places a column behind the point's own fields and the earlier columns.
void ScriptApi::place_column(ScriptEngine& engine, const std::vector<model::PointId>& points) {
  const std::size_t all = engine.schema_.points.size();
  const std::size_t earlier = engine.column_at_.size() / std::max<std::size_t>(all, 1);
  engine.column_at_.resize(engine.column_at_.size() + all, ScriptEngine::kNoField);
  for (const model::PointId point : points) {
    std::size_t at = engine.schema_.points[point].fields.size();
    for (std::size_t column = 0; column < earlier; ++column)
      if (engine.column_at_[column * all + point] != ScriptEngine::kNoField) ++at;
    engine.column_at_[earlier * all + point] = static_cast<std::int8_t>(at);
  }
}

// column{name = "slice", points = "D *", role = "global", value = function(e) ... end}
int ScriptApi::column(lua_State* lua) {
  check_loading(lua, "column");
  luaL_checktype(lua, 1, LUA_TTABLE);
  for (lua_pushnil(lua); lua_next(lua, 1) != 0; lua_pop(lua, 1)) {
    const char* const key = lua_type(lua, -2) == LUA_TSTRING ? lua_tostring(lua, -2) : "?";
    if (std::strcmp(key, "name") != 0 && std::strcmp(key, "points") != 0 &&
        std::strcmp(key, "role") != 0 && std::strcmp(key, "value") != 0)
      return luaL_error(lua, "column: it has name, points, role and value, and no \"%s\"", key);
  }
  lua_settop(lua, 1);
  lua_getfield(lua, 1, "name");
  const char* const name = name_at(lua, 2, "column");
  lua_getfield(lua, 1, "role");
  const char* const role = luaL_optstring(lua, 3, "global");
  const auto known_role = model::role_from_name(role);
  if (!known_role)
    return luaL_error(lua, "column %s: a role is global, local or property, not \"%s\"", name,
                      role);
  ScriptEngine& engine = engine_of(lua);
  const std::size_t number = engine.registration_.columns.size();
  if (number == kMaxColumns)
    return luaL_error(lua, "more than %d columns", static_cast<int>(kMaxColumns));
  for (const model::Point& point : engine.schema_.points)
    if (point.field(name)) return luaL_error(lua, "column %s: points have such a field", name);
  for (const ColumnPlan& other : engine.registration_.columns)
    if (other.name == name) return luaL_error(lua, "column %s: there is one already", name);
  lua_getfield(lua, 1, "value");
  if (!lua_isfunction(lua, 4)) return luaL_error(lua, "column %s: its value is no function", name);
  lua_getfield(lua, 1, "points");
  add_function(lua, 4, Kind::kColumn, lua_isnil(lua, 5) ? 0 : 5);
  ScriptEngine::Function& function = engine.functions_.back();
  function.column = static_cast<std::uint32_t>(number);
  engine.registration_.columns.push_back({name, *known_role, function.points});
  engine.fields_.emplace_back(name);
  engine.field_at_.resize(engine.fields_.size() * engine.schema_.points.size(),
                          ScriptEngine::kNoField);
  for (const model::PointId point : function.points)
    engine.field_at(engine.fields_.size() - 1, point) =
        static_cast<std::int8_t>(ScriptEngine::kColumnBase + static_cast<int>(number));
  place_column(engine, function.points);
  return 0;
}

// activity(name [, attributes]) and marker(name [, attributes]): a function that makes one.
int ScriptApi::register_made(lua_State* lua, bool is_activity, const char* what) {
  check_loading(lua, what);
  const char* const name = name_at(lua, 1, what);
  ScriptEngine& engine = engine_of(lua);
  if (engine.registration_.made.size() == kMaxMade)
    return luaL_error(lua, "more than %d activities and markers", static_cast<int>(kMaxMade));
  for (const MadePlan& other : engine.registration_.made)
    if (other.name == name) return luaL_error(lua, "%s %s: there is one already", what, name);
  const bool has_attributes = !lua_isnoneornil(lua, 2);
  if (has_attributes) luaL_checktype(lua, 2, LUA_TTABLE);
  const lua_Integer count = has_attributes ? luaL_len(lua, 2) : 0;
  if (count >= static_cast<lua_Integer>(model::kMaxFields))
    return luaL_error(lua, "%s %s: more than %d attributes", what, name,
                      static_cast<int>(model::kMaxFields) - 1);
  engine.registration_.made.push_back({name, {}, is_activity});
  MadePlan& plan = engine.registration_.made.back();
  for (lua_Integer at = 1; at <= count; ++at) {
    lua_geti(lua, 2, at);
    const char* const attribute = name_at(lua, -1, "attribute");
    if (attribute == model::kDurationField || std::strchr(attribute, '.') != nullptr ||
        std::ranges::find(plan.attributes, attribute) != plan.attributes.end())
      return luaL_error(lua, "%s %s: \"%s\" cannot be an attribute's name here", what, name,
                        attribute);
    plan.attributes.emplace_back(attribute);
    lua_pop(lua, 1);
  }
  lua_pushinteger(lua, static_cast<lua_Integer>(engine.registration_.made.size() - 1));
  lua_pushcclosure(lua, make, 1);
  return 1;
}

int ScriptApi::activity(lua_State* lua) {
  return register_made(lua, true, "activity");
}

int ScriptApi::marker(lua_State* lua) {
  return register_made(lua, false, "marker");
}

// An activity's (begin_ns, attributes...), or a marker's (attributes...). Its end is the current
// event.
int ScriptApi::make(lua_State* lua) {
  ScriptEngine& engine = engine_of(lua);
  const auto which = static_cast<std::uint32_t>(lua_tointeger(lua, lua_upvalueindex(1)));
  const MadePlan& plan = engine.registration_.made[which];
  if (!engine.is_handler_ || engine.row_ == ScriptEngine::kNoRow)
    return luaL_error(lua, "%s: it is made by a function of on()", plan.name.c_str());
  if (lua_gettop(lua) != static_cast<int>(plan.values()))
    return luaL_error(lua, "%s: %d values, where %d are wanted%s", plan.name.c_str(),
                      lua_gettop(lua), static_cast<int>(plan.values()),
                      plan.is_activity ? ": when it began, then its attributes" : "");
  if (++engine.made_by_event_ > kMaxMadeByEvent)
    return luaL_error(lua, "more than %d activities and markers by one event",
                      static_cast<int>(kMaxMadeByEvent));
  Exchange& exchange = engine.exchange_;
  std::uint64_t* into = exchange.made + exchange.made_words;
  *into++ = std::bit_cast<std::uint64_t>(MadeHead{.row = engine.row_, .which = which});
  int at = 1;
  if (plan.is_activity) {
    const std::uint64_t now_ns = exchange.ts_ns[engine.row_];
    const std::uint64_t began_ns = field_value(lua, at++, plan.name.c_str(), "began");
    if (began_ns > now_ns)
      return luaL_error(lua, "%s: it would begin after its end", plan.name.c_str());
    *into++ = now_ns - began_ns;
  }
  for (const std::string& attribute : plan.attributes)
    *into++ = field_value(lua, at++, plan.name.c_str(), attribute.c_str());
  exchange.made_words = static_cast<std::uint32_t>(into - exchange.made);
  return 0;
}

// Returns whether some point has such a field, for scripts that work on several kinds of traces.
int ScriptApi::known(lua_State* lua) {
  const char* const name = luaL_checkstring(lua, 1);
  const auto& fields = engine_of(lua).fields_;
  lua_pushboolean(lua, std::ranges::find(fields, name) != fields.end() ? 1 : 0);
  return 1;
}

int ScriptApi::print(lua_State* lua) {
  Exchange& exchange = engine_of(lua).exchange_;
  const auto add = [&exchange](const char* text, std::size_t bytes) {
    const std::size_t room = kTextBytes - exchange.text_bytes;
    const std::size_t taken = std::min(bytes, room);
    std::memcpy(exchange.text + exchange.text_bytes, text, taken);
    exchange.text_bytes += static_cast<std::uint32_t>(taken);
    exchange.text_lost += static_cast<std::uint32_t>(bytes - taken);
  };
  const int count = lua_gettop(lua);
  for (int at = 1; at <= count; ++at) {
    std::size_t bytes = 0;
    const char* const text = luaL_tolstring(lua, at, &bytes);
    if (at > 1) add("\t", 1);
    add(text, bytes);
    lua_pop(lua, 1);
  }
  add("\n", 1);
  return 0;
}

}  // namespace sojourn::scripts
