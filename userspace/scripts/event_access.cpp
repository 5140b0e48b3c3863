// `e`: the current event. A name is looked up in a table of Lua's, which gives a number; the number
// and the event's point give the place of the value. No text is compared, and no object is made.
#include <array>
#include <string>
#include <vector>

#include "userspace/scripts/script_api.h"

namespace sojourn::scripts {

namespace {

enum class Word : std::uint8_t { kTime, kDirection, kPoint, kSrc, kDest, kTid, kCpu, kStream };
constexpr std::array kWords = {"t_ns", "dir", "point", "src", "dest", "tid", "cpu", "stream"};
constexpr std::size_t kTextsOfPoint = 4;  // kDirection to kDest

// The index of a point's text in the table of texts.
lua_Integer text_at(std::size_t point, Word word) {
  return static_cast<lua_Integer>(point * kTextsOfPoint + static_cast<std::size_t>(word) -
                                  static_cast<std::size_t>(Word::kDirection) + 1);
}

void add_texts(lua_State* lua, const model::Schema& schema, const std::vector<std::string>& names) {
  lua_createtable(lua, static_cast<int>(schema.points.size() * kTextsOfPoint), 0);
  for (std::size_t id = 0; id < schema.points.size(); ++id) {
    const model::Point& point = schema.points[id];
    const char direction = model::letter(point.direction);
    lua_pushlstring(lua, &direction, 1);
    lua_rawseti(lua, -2, text_at(id, Word::kDirection));
    lua_pushlstring(lua, point.src.data(), point.src.size());
    lua_rawseti(lua, -2, text_at(id, Word::kSrc));
    lua_pushlstring(lua, point.dest.data(), point.dest.size());
    lua_rawseti(lua, -2, text_at(id, Word::kDest));
    lua_pushlstring(lua, names[id].data(), names[id].size());
    lua_rawseti(lua, -2, text_at(id, Word::kPoint));
  }
}

}  // namespace

const char EventAccess::kKey = 0;

// Names to numbers: words first, fields behind them. A word hides a field of its name.
int EventAccess::open(lua_State* lua) {
  const ScriptEngine& engine = engine_of(lua);
  lua_newuserdatauv(lua, 0, 0);
  lua_createtable(lua, 0, 2);
  lua_createtable(lua, 0, static_cast<int>(kWords.size() + engine.fields_.size()));
  for (std::size_t field = 0; field < engine.fields_.size(); ++field) {
    lua_pushinteger(lua, static_cast<lua_Integer>(kWords.size() + field));
    lua_setfield(lua, -2, engine.fields_[field].c_str());
  }
  for (std::size_t word = 0; word < kWords.size(); ++word) {
    lua_pushinteger(lua, static_cast<lua_Integer>(word));
    lua_setfield(lua, -2, kWords[word]);
  }
  add_texts(lua, engine.schema_, engine.point_names_);
  lua_pushcclosure(lua, index, 2);
  lua_setfield(lua, -2, "__index");
  lua_pushliteral(lua, "event");
  lua_setfield(lua, -2, "__metatable");
  lua_setmetatable(lua, -2);
  lua_rawsetp(lua, LUA_REGISTRYINDEX, &kKey);
  return 0;
}

int EventAccess::index(lua_State* lua) {
  const ScriptEngine& engine = engine_of(lua);
  const Exchange& exchange = engine.exchange_;
  const std::uint32_t row = engine.row_;
  if (row >= exchange.rows) return luaL_error(lua, "there is no event now");
  lua_pushvalue(lua, 2);
  if (lua_rawget(lua, lua_upvalueindex(1)) != LUA_TNUMBER)
    return luaL_error(lua, "no point of the trace has a field \"%s\"",
                      luaL_tolstring(lua, 2, nullptr));
  const auto number = static_cast<std::size_t>(lua_tointeger(lua, -1));
  const model::PointId point = exchange.point[row];
  if (number >= kWords.size()) {
    const std::int8_t at =
        engine.field_at_[(number - kWords.size()) * engine.schema_.points.size() + point];
    const std::uint64_t* const values = exchange.values + exchange.first_value[row];
    const std::int8_t unread = engine.unread_at_[point];
    if (at == ScriptEngine::kNoField) {
      lua_pushnil(lua);
    } else if (at >= ScriptEngine::kColumnBase) {
      const auto column = static_cast<std::size_t>(at - ScriptEngine::kColumnBase);
      lua_pushinteger(lua, static_cast<lua_Integer>(exchange.columns[column][row]));
    } else if (unread != ScriptEngine::kNoField && (values[unread] >> at & 1U) != 0) {
      lua_pushnil(lua);
    } else {
      lua_pushinteger(lua, static_cast<lua_Integer>(values[at]));
    }
    return 1;
  }
  switch (static_cast<Word>(number)) {
    case Word::kTime:
      lua_pushinteger(lua, static_cast<lua_Integer>(exchange.ts_ns[row]));
      return 1;
    case Word::kTid:
      lua_pushinteger(lua, exchange.tid[row]);
      return 1;
    case Word::kStream:
      lua_pushinteger(lua, exchange.stream[row]);
      return 1;
    case Word::kCpu: {
      const std::uint32_t stream = exchange.stream[row];
      if (stream < kMaxStreams && exchange.cpu[stream] >= 0)
        lua_pushinteger(lua, exchange.cpu[stream]);
      else
        lua_pushnil(lua);
      return 1;
    }
    default:
      lua_rawgeti(lua, lua_upvalueindex(2), text_at(point, static_cast<Word>(number)));
      return 1;
  }
}

}  // namespace sojourn::scripts
