// Points where only C++20 has places for them. Prints "modern ok" and exits 0.
#include <concepts>
#include <coroutine>
#include <cstdint>
#include <cstdio>
#include <exception>

#include <sojourn/point.h>

namespace {

struct Generator {
  struct promise_type {
    int value = 0;
    Generator get_return_object() {
      return {std::coroutine_handle<promise_type>::from_promise(*this)};
    }
    static std::suspend_always initial_suspend() noexcept { return {}; }
    static std::suspend_always final_suspend() noexcept { return {}; }
    std::suspend_always yield_value(int next) {
      value = next;
      return {};
    }
    void return_void() {}
    static void unhandled_exception() { std::terminate(); }
  };
  std::coroutine_handle<promise_type> handle;
};

Generator numbers(std::int16_t from) {
  for (std::int16_t number = from;; ++number) {
    SJ_POINT("D modern.coroutine--modern.end", "number::", number);
    co_yield number;
  }
}

constexpr int twice(int value) {
  SJ_POINT("D modern.constexpr--modern.end", "value::", value);
  return 2 * value;
}
static_assert(twice(4) == 8);

template <std::integral... T>
int sum(T... values) {
  SJ_POINT("D modern.variadic--modern.end", "count.sum::", sizeof...(T), (values + ...));
  return static_cast<int>((values + ...));
}

enum class Cell : std::uint8_t { kFirst = 1 };

struct Unit {
  virtual ~Unit() = default;
  virtual int pass(Cell cell) const {
    SJ_POINT("U modern.method--modern.end", ":cell:", cell);
    return [](auto inner) {
      SJ_POINT("U modern.lambda--modern.end", ":cell:", inner);
      return static_cast<int>(inner);
    }(cell);
  }
};

}  // namespace

int main(int count, char**) {
  const Generator generator = numbers(static_cast<std::int16_t>(-count));
  for (int i = 0; i < 3; ++i) generator.handle.resume();
  const int last = generator.handle.promise().value;
  generator.handle.destroy();
  const Unit unit;
  if (last != 1 || twice(count) != 2 || sum(count, 2L) != 3 || sum(short{4}) != 4) return 1;
  if (unit.pass(Cell::kFirst) != 1) return 1;
  std::puts("modern ok");
}
