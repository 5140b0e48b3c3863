// `j`: the journey in the exchange, of which the steps are the rows of events.
#include <algorithm>
#include <array>
#include <string_view>

#include "analysis/journeys/journey.h"
#include "userspace/scripts/script_api.h"

namespace sojourn::scripts {

namespace {

using journeys::Outcome;

struct NumberWord {
  const char* name;
  std::uint64_t JourneyNumbers::* number;
};
constexpr std::array kNumbers = {
    NumberWord{"id", &JourneyNumbers::id},
    NumberWord{"start_ns", &JourneyNumbers::start_ns},
    NumberWord{"end_ns", &JourneyNumbers::end_ns},
    NumberWord{"last_out_ns", &JourneyNumbers::last_out_ns},
    NumberWord{"latency_ns", &JourneyNumbers::latency_ns},
    NumberWord{"segments", &JourneyNumbers::segments},
    NumberWord{"retransmissions", &JourneyNumbers::retransmissions},
    NumberWord{"harq_retransmissions", &JourneyNumbers::harq_retransmissions},
    NumberWord{"drops", &JourneyNumbers::drops}};

struct OutcomeWord {
  const char* name;
  Outcome outcome;
};
constexpr std::array kOutcomes = {
    OutcomeWord{"complete", Outcome::kComplete}, OutcomeWord{"censored", Outcome::kCensored},
    OutcomeWord{"incomplete", Outcome::kIncomplete}, OutcomeWord{"dropped", Outcome::kDropped}};

// These numbers follow those of the two tables.
constexpr std::size_t kFirstOutcome = kNumbers.size();
constexpr std::size_t kEvents = kFirstOutcome + kOutcomes.size();
constexpr std::size_t kAmbiguous = kEvents + 1;
constexpr std::size_t kDirection = kEvents + 2;
constexpr std::size_t kAt = kEvents + 3;
constexpr std::size_t kFirstField = kEvents + 4;

void set_word(lua_State* lua, const char* name, std::size_t number) {
  lua_pushinteger(lua, static_cast<lua_Integer>(number));
  lua_setfield(lua, -2, name);
}

// Returns whether a place is that one or inside of it.
bool is_in(std::string_view place, std::string_view of) {
  return place == of ||
         (place.size() > of.size() && place.starts_with(of) && place[of.size()] == '.');
}

}  // namespace

const char JourneyAccess::kKey = 0;

int JourneyAccess::open(lua_State* lua) {
  const ScriptEngine& engine = engine_of(lua);
  lua_newuserdatauv(lua, 0, 0);
  lua_createtable(lua, 0, 2);
  lua_createtable(lua, 0, static_cast<int>(kFirstField + engine.fields_.size()));
  for (std::size_t field = 0; field < engine.fields_.size(); ++field)
    set_word(lua, engine.fields_[field].c_str(), kFirstField + field);
  for (std::size_t at = 0; at < kNumbers.size(); ++at) set_word(lua, kNumbers[at].name, at);
  for (std::size_t at = 0; at < kOutcomes.size(); ++at)
    set_word(lua, kOutcomes[at].name, kFirstOutcome + at);
  set_word(lua, "events", kEvents);
  set_word(lua, "ambiguous", kAmbiguous);
  set_word(lua, "dir", kDirection);
  set_word(lua, "at", kAt);
  lua_pushcfunction(lua, longest_stay);
  lua_pushcclosure(lua, index, 2);
  lua_setfield(lua, -2, "__index");
  lua_pushliteral(lua, "journey");
  lua_setfield(lua, -2, "__metatable");
  lua_setmetatable(lua, -2);
  lua_rawsetp(lua, LUA_REGISTRYINDEX, &kKey);
  return 0;
}

int JourneyAccess::index(lua_State* lua) {
  const ScriptEngine& engine = engine_of(lua);
  const Exchange& exchange = engine.exchange_;
  if (!engine.is_journey_) return luaL_error(lua, "there is no journey now");
  lua_pushvalue(lua, 2);
  if (lua_rawget(lua, lua_upvalueindex(1)) != LUA_TNUMBER)
    return luaL_error(lua, "no point of the trace has a field \"%s\"",
                      luaL_tolstring(lua, 2, nullptr));
  const auto number = static_cast<std::size_t>(lua_tointeger(lua, -1));
  if (number < kNumbers.size()) {
    lua_pushinteger(lua, static_cast<lua_Integer>(exchange.journey.*kNumbers[number].number));
  } else if (number < kEvents) {
    const auto outcome = kOutcomes[number - kFirstOutcome].outcome;
    lua_pushboolean(lua, exchange.journey.outcome == static_cast<std::uint8_t>(outcome) ? 1 : 0);
  } else if (number == kEvents) {
    lua_pushinteger(lua, exchange.rows);
  } else if (number == kAmbiguous) {
    lua_pushboolean(lua, exchange.journey.ambiguous);
  } else if (number == kDirection) {
    const char letter = model::letter(static_cast<model::Direction>(exchange.journey.direction));
    lua_pushlstring(lua, &letter, 1);
  } else if (number == kAt) {
    lua_pushvalue(lua, lua_upvalueindex(2));
  } else {
    // Takes the value of the first event that has the field.
    const std::size_t points = engine.schema_.points.size();
    for (std::uint32_t row = 0; row < exchange.rows; ++row) {
      const model::PointId point = exchange.point[row];
      const std::int8_t at = engine.field_at_[(number - kFirstField) * points + point];
      if (at == ScriptEngine::kNoField) continue;
      const std::uint64_t* const values = exchange.values + exchange.first_value[row];
      const std::int8_t unread = engine.unread_at_[point];
      if (unread != ScriptEngine::kNoField && at < ScriptEngine::kColumnBase &&
          (values[unread] >> at & 1U) != 0)
        continue;
      lua_pushinteger(lua, static_cast<lua_Integer>(values[engine.place_in_step(at, point)]));
      return 1;
    }
    lua_pushnil(lua);
  }
  return 1;
}

// j:at(place): the longest stay of any of its units there, like at() of filters. nil: it was never
// there.
int JourneyAccess::longest_stay(lua_State* lua) {
  const ScriptEngine& engine = engine_of(lua);
  const Exchange& exchange = engine.exchange_;
  std::size_t bytes = 0;
  const char* const text = luaL_checklstring(lua, 2, &bytes);
  if (!engine.is_journey_) return luaL_error(lua, "there is no journey now");
  const std::string_view place(text, bytes);
  const auto& points = engine.schema_.points;
  bool is_known = false;
  std::uint64_t longest_ns = 0;
  for (std::uint32_t at = 0; at < exchange.stays; ++at) {
    const JourneyStay& stay = exchange.stay[at];
    if (!is_in(points[stay.from].dest, place) && !is_in(points[stay.to].src, place)) continue;
    is_known = true;
    longest_ns = std::max(longest_ns, stay.ns);
  }
  if (is_known)
    lua_pushinteger(lua, static_cast<lua_Integer>(longest_ns));
  else if (std::ranges::none_of(points, [&](const model::Point& point) {
             return is_in(point.dest, place) || is_in(point.src, place);
           }))
    return luaL_error(lua, "there is no place \"%s\" in the trace", text);
  else
    lua_pushnil(lua);
  return 1;
}

}  // namespace sojourn::scripts
