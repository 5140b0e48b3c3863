// An interpreter for untrusted scripts: bounded memory, no library that reaches outside of it,
// source text only, and errors with file and line. It is for a process that does nothing else
// (worker_process.h). One thread owns a LuaState.
//
// An error of Lua leaves C++ functions without running destructors. So a function that Lua calls
// must not hold an object with a destructor while it calls a function that may fail.
#pragma once

#include <cstddef>
#include <string>

#include <lua.hpp>

#include "analysis/base/result.h"

namespace sojourn::scripts {

class LuaState {
 public:
  // `name`: what errors call the script.
  static Result<LuaState> create(std::string name, std::size_t max_bytes);
  LuaState(LuaState&& other) noexcept;
  LuaState& operator=(LuaState&&) = delete;
  ~LuaState();

  lua_State* get() const { return memory_->lua; }
  const std::string& name() const { return name_; }

  // Compiles it, and leaves the function on the stack.
  Result<void> compile(const std::string& text);
  // Calls the function below its arguments, on the stack. An error is one line.
  Result<void> call(int arguments, int results);

  // Ends the script with an error at its present place, as soon as it is not in a function of C.
  // May be called in a signal's handler.
  void stop();
  void allow();  // lets it go on

 private:
  // The interpreter's memory account; its address stays the same when the owner moves.
  struct Memory {
    lua_State* lua = nullptr;
    std::size_t used = 0;
    std::size_t most = 0;
    char refused_at[128] = "";  // file and line at which memory was last refused
  };

  LuaState(std::string name, Memory* memory) : name_(std::move(name)), memory_(memory) {}
  static void* allocate(void* self, void* block, std::size_t old_bytes, std::size_t bytes);
  static void* refuse(Memory& memory);
  Error error_of(int status);

  std::string name_;
  Memory* memory_;
};

// File and line of the innermost function that has a line: "mutex.lua:12". Empty: none has.
void write_place(lua_State* lua, char* into, std::size_t bytes);

}  // namespace sojourn::scripts
