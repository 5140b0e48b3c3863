// A C++ program whose functions have arguments that only debug information can find by name:
// members of bases, of arrays and of bit fields, records in registers, objects passed by their
// address, and functions whose cold part the compiler puts elsewhere. Runs until SIGTERM.
#include <csignal>
#include <cstdint>
#include <cstdio>
#include <memory>
#include <stdexcept>
#include <string>

#include <unistd.h>

#ifdef __clang__
#define OPAQUE [[gnu::noinline, gnu::used]]
#else
#define OPAQUE [[gnu::noipa, gnu::used]]
#endif

namespace named {

struct Numbered {
  std::uint64_t number;
};
struct Kept {
  virtual ~Kept() = default;
  std::uint32_t kept;
};
struct Header {
  std::uint16_t sn;
  unsigned low : 5, middle : 9, high : 18;
  int below : 6;
};
struct Unit : Numbered, Kept {
  Header header;
  Header* other;
  std::int16_t grid[2][3];
  union {
    std::uint32_t word;
    std::uint16_t half[2];
  };
};
struct Slot {  // in one register
  std::uint32_t count;
  std::uint8_t numerology;
  std::int8_t shift;
};
struct Span {  // in two
  const std::uint8_t* data;
  std::uint64_t bytes;
};
struct Owner {  // by its address, though it is one pointer
  std::unique_ptr<Header> held;
};

template <typename What>
void use(const What& what) {
  asm volatile("" : : "r"(&what) : "memory");
}

// Has a part that hardly ever runs, and arguments on the stack.
OPAQUE void members(const Unit& unit, int a, int b, int c, int d, int e, int f, short g) {
  if (a < 0) throw std::runtime_error("no unit");
  use(unit);
  use(a + b + c + d + e + f + g);
}

OPAQUE void records(Slot slot, Span span, int after) {
  use(slot);
  use(span);
  use(after);
}

OPAQUE void owner(Owner object, int n) {
  use(object);
  use(n);
}

// The result has an address, passed in front of the arguments.
OPAQUE std::string name(int n, const Unit* unit) {
  use(n);
  return std::string(unit->header.sn % 3 + 60, 'x');
}
OPAQUE Owner held(int n, const Unit* unit) {
  use(n);
  return {std::make_unique<Header>(unit->header)};
}

}  // namespace named

namespace {
volatile unsigned seldom = 0;
}
[[gnu::cold, gnu::noinline]] static void count_seldom() {
  seldom = seldom + 1;
}

// One that people name as the linker does, and which has a seldom part, too.
extern "C" OPAQUE int coarse_seldom(int n) {
  if (n % 5 == 0) count_seldom();
  return n;
}

namespace {
volatile std::sig_atomic_t is_ended = 0;
}

int main() {
  std::signal(SIGTERM, [](int) { is_ended = 1; });
  named::Header other{.sn = 77, .low = 3, .middle = 100, .high = 5, .below = -3};
  named::Unit unit{};
  unit.number = 99;
  unit.kept = 88;
  unit.other = &other;
  unit.grid[1][2] = -12;
  unit.word = 0x50006;
  std::puts("ready");
  std::fflush(stdout);
  for (int n = 0; is_ended == 0; ++n) {
    unit.header = {
        .sn = static_cast<std::uint16_t>(n), .low = 17, .middle = 300, .high = 1, .below = -7};
    const std::uint8_t byte = 0;
    named::members(unit, n, 2, 3, 4, 5, 600, -7);
    named::records({static_cast<std::uint32_t>(n), 3, -4}, {&byte, 1}, n + 1);
    named::owner(named::held(n, &unit), n);
    named::use(named::name(n, &unit));
    coarse_seldom(n);
    usleep(300);
  }
}
