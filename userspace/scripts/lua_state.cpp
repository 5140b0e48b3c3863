#include "userspace/scripts/lua_state.h"

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <memory>
#include <utility>

#include "analysis/base/printable.h"

namespace sojourn::scripts {

namespace {

// Lua cuts a long path at its beginning.
constexpr std::size_t kMaxName = LUA_IDSIZE - 8;

// load(text [, name]): text only, as bytecode can be made to do what no script may.
int load_text(lua_State* lua) {
  std::size_t bytes = 0;
  const char* const text = luaL_checklstring(lua, 1, &bytes);
  const char* const name = luaL_optstring(lua, 2, "=load");
  if (luaL_loadbufferx(lua, text, bytes, name, "t") == LUA_OK) return 1;
  lua_pushnil(lua);
  lua_insert(lua, -2);
  return 2;
}

// Opens libraries that only compute. Coroutines are left out: they have hooks of their own, and a
// hook stops a script that takes too long.
int open_libraries(lua_State* lua) {
  constexpr luaL_Reg kLibraries[] = {{LUA_GNAME, luaopen_base},
                                     {LUA_TABLIBNAME, luaopen_table},
                                     {LUA_STRLIBNAME, luaopen_string},
                                     {LUA_MATHLIBNAME, luaopen_math},
                                     {LUA_UTF8LIBNAME, luaopen_utf8}};
  for (const luaL_Reg& library : kLibraries) {
    luaL_requiref(lua, library.name, library.func, 1);
    lua_pop(lua, 1);
  }
  for (const char* const name : {"dofile", "loadfile", "collectgarbage", "warn", "print"}) {
    lua_pushnil(lua);
    lua_setglobal(lua, name);
  }
  lua_pushcfunction(lua, load_text);
  lua_setglobal(lua, "load");
  lua_getglobal(lua, LUA_STRLIBNAME);
  lua_pushnil(lua);
  lua_setfield(lua, -2, "dump");
  // A script gets the same random numbers in each run.
  lua_getglobal(lua, LUA_MATHLIBNAME);
  lua_getfield(lua, -1, "randomseed");
  lua_pushinteger(lua, 0);
  lua_call(lua, 1, 0);
  return 0;
}

// An error may be any value.
int make_text(lua_State* lua) {
  if (lua_type(lua, 1) == LUA_TSTRING) return 1;
  char place[128];
  write_place(lua, place, sizeof(place));
  lua_pushfstring(lua, "%s%san error that is a %s, and no text", place,
                  place[0] == '\0' ? "" : ": ", luaL_typename(lua, 1));
  return 1;
}

// stop() sets it as a hook. Lua calls it before the next instruction, even if a pcall() has caught
// the error.
void end_script(lua_State* lua, lua_Debug* /*where*/) {
  char place[128];
  write_place(lua, place, sizeof(place));
  lua_pushfstring(lua, "%s%stook longer than 2 s of processor time", place,
                  place[0] == '\0' ? "" : ": ");
  lua_error(lua);
}

}  // namespace

void write_place(lua_State* lua, char* into, std::size_t bytes) {
  into[0] = '\0';
  lua_Debug about;
  for (int level = 0; lua_getstack(lua, level, &about) != 0; ++level) {
    if (lua_getinfo(lua, "Sl", &about) == 0 || about.currentline <= 0) continue;
    std::snprintf(into, bytes, "%s:%d", about.short_src, about.currentline);
    return;
  }
}

Result<LuaState> LuaState::create(std::string name, std::size_t max_bytes) {
  auto memory = std::make_unique<Memory>();
  memory->most = max_bytes;
  memory->lua = lua_newstate(allocate, memory.get());
  if (memory->lua == nullptr) return fail("there is no memory for a script");
  if (name.size() > kMaxName) name = "..." + name.substr(name.size() - kMaxName + 3);
  LuaState made(std::move(name), memory.release());
  lua_pushcfunction(made.get(), open_libraries);
  SJ_CHECK(made.call(0, 0));
  return made;
}

LuaState::LuaState(LuaState&& other) noexcept
    : name_(std::move(other.name_)), memory_(std::exchange(other.memory_, nullptr)) {}

LuaState::~LuaState() {
  const std::unique_ptr<Memory> owned(memory_);
  if (owned) lua_close(owned->lua);
}

// When Lua is refused memory, it collects garbage and asks again. Its final error has no line, so
// the line is noted here. Looking at the stack takes no memory.
void* LuaState::refuse(Memory& memory) {
  if (memory.lua != nullptr) write_place(memory.lua, memory.refused_at, sizeof(memory.refused_at));
  return nullptr;
}

void* LuaState::allocate(void* self, void* block, std::size_t old_bytes, std::size_t bytes) {
  auto& memory = *static_cast<Memory*>(self);
  if (block == nullptr) old_bytes = 0;  // it is a kind of object then
  if (bytes == 0) {
    std::free(block);
    memory.used -= old_bytes;
    return nullptr;
  }
  if (bytes > old_bytes && bytes - old_bytes > memory.most - std::min(memory.used, memory.most))
    return refuse(memory);
  void* const moved = std::realloc(block, bytes);
  if (moved == nullptr) return refuse(memory);
  memory.used += bytes - old_bytes;
  return moved;
}

Error LuaState::error_of(int status) {
  lua_State* const lua = get();
  std::string text;
  if (status == LUA_ERRMEM)
    text = fmt::format("{}{}not enough memory: a script may have {} MiB", memory_->refused_at,
                       memory_->refused_at[0] == '\0' ? "" : ": ", memory_->most >> 20U);
  else if (const char* const told = lua_tostring(lua, -1); told != nullptr)
    text = told;
  lua_pop(lua, 1);
  if (!text.starts_with(name_)) text = name_ + ": " + text;
  return Error(printable(text));
}

Result<void> LuaState::compile(const std::string& text) {
  const std::string chunk = "@" + name_;
  const int status = luaL_loadbufferx(get(), text.data(), text.size(), chunk.c_str(), "t");
  if (status != LUA_OK) return std::unexpected(error_of(status));
  return {};
}

Result<void> LuaState::call(int arguments, int results) {
  lua_State* const lua = get();
  const int at = lua_gettop(lua) - arguments;
  lua_pushcfunction(lua, make_text);
  lua_insert(lua, at);
  const int status = lua_pcall(lua, arguments, results, at);
  lua_remove(lua, at);
  if (status != LUA_OK) return std::unexpected(error_of(status));
  return {};
}

void LuaState::stop() {
  lua_sethook(get(), end_script, LUA_MASKCALL | LUA_MASKRET | LUA_MASKCOUNT, 1);
}

void LuaState::allow() {
  lua_sethook(get(), nullptr, 0, 0);
}

}  // namespace sojourn::scripts
