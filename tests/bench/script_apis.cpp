// Three ways for a script to look at an event, by the time of the interpreter alone: one object `e`
// with the fields as its members, a function for each field, and the fields as arguments of the
// script's function. `script-apis` prints the median of rounds in turns, in processor time.
#include <algorithm>
#include <array>
#include <cstdint>
#include <ctime>
#include <string>
#include <vector>

#include <fmt/core.h>
#include <lua.hpp>

namespace {

constexpr std::uint32_t kRows = 4096;
constexpr int kBatches = 100;
constexpr int kRounds = 15;

struct Columns {
  std::array<std::uint64_t, kRows * 2> values{};
  std::uint32_t row = 0;
};
Columns columns;

int member(lua_State* lua) {
  lua_pushvalue(lua, 2);
  lua_rawget(lua, lua_upvalueindex(1));
  const auto field = static_cast<std::size_t>(lua_tointeger(lua, -1));
  lua_pushinteger(lua, static_cast<lua_Integer>(columns.values[columns.row * 2 + field]));
  return 1;
}

int call(lua_State* lua) {
  const auto field = static_cast<std::size_t>(lua_tointeger(lua, lua_upvalueindex(1)));
  lua_pushinteger(lua, static_cast<lua_Integer>(columns.values[columns.row * 2 + field]));
  return 1;
}

// Leaves `e`, and sets rnti() and len().
void open_ways(lua_State* lua) {
  lua_newuserdatauv(lua, 0, 0);
  lua_newtable(lua);
  lua_newtable(lua);
  constexpr std::array kNames = {"rnti", "len"};
  for (std::size_t field = 0; field < kNames.size(); ++field) {
    lua_pushinteger(lua, static_cast<lua_Integer>(field));
    lua_setfield(lua, -2, kNames[field]);
    lua_pushinteger(lua, static_cast<lua_Integer>(field));
    lua_pushcclosure(lua, call, 1);
    lua_setglobal(lua, kNames[field]);
  }
  lua_pushcclosure(lua, member, 1);
  lua_setfield(lua, -2, "__index");
  lua_setmetatable(lua, -2);
}

struct Way {
  const char* name;
  const char* one_field;
  const char* two_fields;
  int arguments;  // 1: `e`; 2: the fields
};
constexpr std::array kWays = {
    Way{"e.rnti", "return function(e) return e.rnti == 17921 end",
        "return function(e) return e.rnti == 17921 and e.len > 100 end", 1},
    Way{"rnti()", "local rnti = rnti return function() return rnti() == 17921 end",
        "local rnti, len = rnti, len return function() return rnti() == 17921 and len() > 100 end",
        0},
    Way{"function(rnti)", "return function(rnti, len) return rnti == 17921 end",
        "return function(rnti, len) return rnti == 17921 and len > 100 end", 2},
};

// `e` is at 1, the function at 2.
int run_batches(lua_State* lua) {
  const auto arguments = lua_tointeger(lua, 3);
  lua_Integer kept = 0;
  for (int batch = 0; batch < kBatches; ++batch)
    for (columns.row = 0; columns.row < kRows; ++columns.row) {
      lua_pushvalue(lua, 2);
      if (arguments == 1) lua_pushvalue(lua, 1);
      for (int field = 0; arguments == 2 && field < 2; ++field)
        lua_pushinteger(lua, static_cast<lua_Integer>(
                                 columns.values[columns.row * 2 + static_cast<unsigned>(field)]));
      lua_call(lua, arguments == 0 ? 0 : static_cast<int>(arguments), 1);
      kept += lua_toboolean(lua, -1);
      lua_pop(lua, 1);
    }
  lua_pushinteger(lua, kept);
  return 1;
}

double cpu_ns() {
  timespec now{};
  clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &now);
  return static_cast<double>(now.tv_sec) * 1e9 + static_cast<double>(now.tv_nsec);
}

double measure(lua_State* lua, const char* text, int arguments) {
  lua_pushcfunction(lua, run_batches);
  lua_pushvalue(lua, 1);
  if (luaL_dostring(lua, text) != LUA_OK) return 0;
  lua_pushinteger(lua, arguments);
  const double start = cpu_ns();
  if (lua_pcall(lua, 3, 1, 0) != LUA_OK) fmt::print("{}\n", lua_tostring(lua, -1));
  const double took = cpu_ns() - start;
  lua_settop(lua, 1);
  return took / (static_cast<double>(kRows) * kBatches);
}

}  // namespace

int main() {
  for (std::size_t row = 0; row < kRows; ++row) {
    columns.values[row * 2] = row % 4 == 0 ? 17921 : 17922;
    columns.values[row * 2 + 1] = row % 1500;
  }
  lua_State* const lua = luaL_newstate();
  luaL_openlibs(lua);
  open_ways(lua);
  std::array<std::array<std::vector<double>, 2>, kWays.size()> times;
  for (int round = 0; round < kRounds; ++round)
    for (std::size_t way = 0; way < kWays.size(); ++way) {
      times[way][0].push_back(measure(lua, kWays[way].one_field, kWays[way].arguments));
      times[way][1].push_back(measure(lua, kWays[way].two_fields, kWays[way].arguments));
    }
  for (std::size_t way = 0; way < kWays.size(); ++way) {
    for (auto& all : times[way]) std::ranges::sort(all);
    fmt::print("{:<16} one field {:6.1f} ns an event   two {:6.1f} ns\n", kWays[way].name,
               times[way][0][kRounds / 2], times[way][1][kRounds / 2]);
  }
  lua_close(lua);
  return 0;
}
