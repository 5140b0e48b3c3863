#include "userspace/scripts/script_engine.h"

#include <algorithm>
#include <cstring>
#include <utility>

#include "analysis/model/unread.h"
#include "userspace/scripts/script_api.h"

namespace sojourn::scripts {

namespace {

// The room that one event may need for its activities and markers.
constexpr std::size_t kReserve = kMaxMadeByEvent * (1 + model::kMaxFields);
static_assert(kReserve < kMadeWords);

}  // namespace

ScriptEngine::ScriptEngine(Exchange& exchange, const model::Schema& schema, std::uint64_t open_ns)
    : exchange_(exchange), schema_(schema), open_ns_(open_ns) {
  learn_fields();
}

void ScriptEngine::learn_fields() {
  for (const model::Point& point : schema_.points) {
    point_names_.push_back(point.name());
    for (const model::Field& field : point.fields)
      if (std::ranges::find(fields_, field.name) == fields_.end()) fields_.push_back(field.name);
    const auto unread = model::unread_field(point);
    unread_at_.push_back(unread ? static_cast<std::int8_t>(*unread) : kNoField);
  }
  field_at_.assign(fields_.size() * schema_.points.size(), kNoField);
  for (std::size_t field = 0; field < fields_.size(); ++field)
    for (std::size_t point = 0; point < schema_.points.size(); ++point)
      if (const auto at = schema_.points[point].field(fields_[field]))
        field_at(field, point) = static_cast<std::int8_t>(*at);
}

Result<void> ScriptEngine::load(const ScriptSource& source, std::size_t max_bytes) {
  SJ_TRY(state, LuaState::create(source.name, max_bytes));
  state_.emplace(std::move(state));
  lua_State* const lua = state_->get();
  *static_cast<ScriptEngine**>(lua_getextraspace(lua)) = this;
  lua_pushcfunction(lua, ScriptApi::open);
  SJ_CHECK(state_->call(0, 0));
  SJ_CHECK(state_->compile(source.text));
  is_loading_ = true;
  auto called = state_->call(0, 0);
  is_loading_ = false;
  SJ_CHECK(std::move(called));
  plan_calls();
  // Columns are fields now, so `e` must know them.
  lua_pushcfunction(lua, EventAccess::open);
  SJ_CHECK(state_->call(0, 0));
  lua_pushcfunction(lua, JourneyAccess::open);
  SJ_CHECK(state_->call(0, 0));
  const std::vector<std::byte> packed = pack(registration_);
  if (packed.size() > sizeof(exchange_.made)) return fail("{}: registers too much", source.name);
  std::memcpy(exchange_.made, packed.data(), packed.size());
  exchange_.made_words = static_cast<std::uint32_t>(packed.size());
  return {};
}

void ScriptEngine::plan_calls() {
  calls_.assign(schema_.points.size(), {});
  for (const Kind kind : {Kind::kFilter, Kind::kColumn, Kind::kHandler})
    for (std::uint32_t which = 0; which < functions_.size(); ++which)
      if (functions_[which].kind == kind)
        for (const model::PointId point : functions_[which].points) calls_[point].push_back(which);
}

Result<bool> ScriptEngine::begin_events() {
  std::memset(exchange_.keep, 1, exchange_.rows);
  row_ = 0;
  call_ = 0;
  made_by_event_ = 0;
  return go_on();
}

// Called under one protected call for the whole batch: one for each event would cost more than a
// simple function does.
Result<bool> ScriptEngine::go_on() {
  exchange_.made_words = 0;
  state_->allow();
  lua_State* const lua = state_->get();
  while (row_ < exchange_.rows) {
    lua_pushcfunction(lua, [](lua_State* in) {
      engine_of(in).run_rows(in);
      return 0;
    });
    auto called = state_->call(0, 0);
    is_handler_ = false;
    if (called) break;
    const auto& calls = calls_[exchange_.point[row_]];
    Function* const failed = call_ < calls.size() ? &functions_[calls[call_]] : nullptr;
    // Filters and columns change the events. A failed detector or activity leaves them as they are.
    if (failed == nullptr || failed->kind != Kind::kHandler)
      return std::unexpected(std::move(called).error());
    failed->is_ended = true;
    note_error(called.error());
    ++call_;
    ++exchange_.turn;  // each function has the whole time limit
    state_->allow();
  }
  exchange_.line = 0;
  const bool is_done = row_ >= exchange_.rows;
  if (is_done) row_ = kNoRow;
  return is_done;
}

void ScriptEngine::note_error(const Error& error) {
  if (exchange_.notice[0] != '\0') return;
  const std::string& text = error.text();
  const std::size_t bytes = std::min(text.size(), sizeof(exchange_.notice) - 1);
  std::memcpy(exchange_.notice, text.data(), bytes);
  exchange_.notice[bytes] = '\0';
}

void ScriptEngine::run_rows(lua_State* lua) {
  luaL_checkstack(lua, 8, nullptr);
  lua_rawgetp(lua, LUA_REGISTRYINDEX, &EventAccess::kKey);
  for (; row_ < exchange_.rows; ++row_, call_ = 0, made_by_event_ = 0) {
    if (exchange_.made_words > kMadeWords - kReserve) return;
    const auto& calls = calls_[exchange_.point[row_]];
    for (; call_ < calls.size(); ++call_) {
      const Function& function = functions_[calls[call_]];
      if (function.is_ended) continue;
      if (!call_for_row(lua, function)) break;
    }
  }
}

// Returns false if the event is dropped.
bool ScriptEngine::call_for_row(lua_State* lua, const Function& function) {
  exchange_.line = function.line;
  is_handler_ = function.kind == Kind::kHandler;
  lua_rawgeti(lua, LUA_REGISTRYINDEX, function.reference);
  lua_pushvalue(lua, 1);
  lua_call(lua, 1, is_handler_ ? 0 : 1);
  if (is_handler_) return true;
  if (function.kind == Kind::kColumn) {
    // The function has returned, so an error of Lua would lack its line.
    if (!is_field_value(lua, -1, exchange_.columns[function.column][row_])) {
      lua_pushfstring(lua, "%s:%d: column %s: a whole number is wanted, not %s",
                      state_->name().c_str(), static_cast<int>(function.line),
                      registration_.columns[function.column].name.c_str(), wrong_value(lua, -1));
      lua_error(lua);
    }
    lua_pop(lua, 1);
    return true;
  }
  const bool keep = lua_toboolean(lua, -1) != 0;
  exchange_.keep[row_] = keep ? 1 : 0;
  lua_pop(lua, 1);
  return keep;
}

Result<void> ScriptEngine::judge_journey() {
  lua_State* const lua = state_->get();
  exchange_.keep[0] = 1;
  state_->allow();
  is_journey_ = true;
  for (const Function& function : functions_) {
    if (function.kind != Kind::kJourneyFilter) continue;
    exchange_.line = function.line;
    lua_rawgeti(lua, LUA_REGISTRYINDEX, function.reference);
    lua_rawgetp(lua, LUA_REGISTRYINDEX, &JourneyAccess::kKey);
    SJ_CHECK(state_->call(1, 1));
    exchange_.keep[0] = lua_toboolean(lua, -1) != 0 ? 1 : 0;
    lua_pop(lua, 1);
    if (exchange_.keep[0] == 0) break;
  }
  is_journey_ = false;
  exchange_.line = 0;
  return {};
}

}  // namespace sojourn::scripts
