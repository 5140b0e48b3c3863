// Expressions of maps: the steps that they compile to, followed here as the BPF programs follow
// them, and the errors of invalid ones.
#include "userspace/coarse/map/expression.h"

#include <array>
#include <cstring>
#include <random>
#include <string>

#include <catch2/catch_test_macros.hpp>

namespace sojourn::coarse {
namespace {

constexpr std::uint8_t kRdi = 14;
constexpr std::uint8_t kRsi = 13;
constexpr std::uint8_t kRsp = 19;

// A target's registers, and a memory that begins at an address of its own.
struct Machine {
  static constexpr std::uint64_t kBegin = 0x7f0000001000;
  std::array<std::uint64_t, 21> registers{};
  std::array<std::uint8_t, 256> memory{};

  std::uint64_t read(std::uint64_t address, std::size_t bytes) const {
    REQUIRE(address >= kBegin);
    REQUIRE(address - kBegin + bytes <= memory.size());
    std::uint64_t value = 0;
    std::memcpy(&value, memory.data() + (address - kBegin), bytes);
    return value;
  }
  template <typename Value>
  void store(std::uint64_t at, Value value) {
    std::memcpy(memory.data() + at, &value, sizeof(value));
  }
};

std::uint64_t cut(std::uint64_t value, unsigned low_bit, unsigned bits, bool is_signed) {
  const unsigned unused = 64 - bits;
  value = value >> low_bit << unused;
  return is_signed ? static_cast<std::uint64_t>(static_cast<std::int64_t>(value) >> unused)
                   : value >> unused;
}

std::uint64_t evaluate(const Machine& machine, const Lowered& lowered) {
  const sj_arg& arg = lowered.arg;
  if (arg.kind == SJ_ARG_REG)
    return cut(machine.registers.at(arg.base), 0, 8U * arg.bytes, arg.is_signed != 0);
  if (arg.kind == SJ_ARG_MEMORY) {
    const std::uint64_t address =
        machine.registers.at(arg.base) + static_cast<std::uint64_t>(arg.displacement);
    return cut(machine.read(address, arg.bytes), 0, 8U * arg.bytes, arg.is_signed != 0);
  }
  REQUIRE(arg.kind == SJ_ARG_CHAIN);
  REQUIRE(lowered.chains.size() == 1);
  std::uint64_t value = machine.registers.at(arg.base);
  for (std::size_t at = 0; at < arg.shift; ++at) {
    const sj_step& step = lowered.chains[0].step[at];
    value += static_cast<std::uint64_t>(step.add);
    if (step.bytes != 0) value = machine.read(value, step.bytes);
    value = cut(value, step.low_bit, step.bits, step.is_signed != 0);
  }
  return value;
}

Lowered compiled(const std::string& text, std::int64_t stack_bytes = 0) {
  CAPTURE(text);
  const auto expression = parse_expression(text);
  if (!expression) FAIL(expression.error().what);
  auto lowered = lower(*expression, start_of_argument(expression->argument), stack_bytes);
  if (!lowered) FAIL(lowered.error().text());
  return std::move(*lowered);
}

Machine example() {
  Machine machine;
  machine.registers[kRdi] = Machine::kBegin;
  machine.registers[kRsi] = 0xfedcba98'8000ff80;
  machine.registers[kRsp] = Machine::kBegin + 128;
  machine.store(0, std::uint64_t{Machine::kBegin + 64});
  machine.store(8, std::uint32_t{0xcafe8001});
  machine.store(64, std::int16_t{-5});
  machine.store(72, std::uint64_t{0x1122334455667788});
  machine.store(136, std::uint64_t{42});  // arg6
  machine.store(144, std::uint64_t{43});
  return machine;
}

TEST_CASE("an expression means the same as in C") {
  const Machine machine = example();
  const auto value = [&](const std::string& text) { return evaluate(machine, compiled(text)); };
  CHECK(value("arg1") == 0xfedcba98'8000ff80);
  CHECK(value("(u16)arg1") == 0xff80);
  CHECK(value("(s16)arg1") == static_cast<std::uint64_t>(-128));
  CHECK(value("(int8_t) arg1") == static_cast<std::uint64_t>(-128));
  CHECK(value("(u64)(s8)arg1") == static_cast<std::uint64_t>(-128));
  CHECK(value("(u32)(s8)arg1") == 0xffffff80);
  CHECK(value("arg1 + 0x80 - 1") == 0xfedcba98'8000ffff);
  CHECK(value("(u8)(arg1 + 1)") == 0x81);
  CHECK(value("*(u32*)(arg0 + 8)") == 0xcafe8001);
  CHECK(value("*(i32*)(arg0 + 8)") == 0xffffffffcafe8001);
  CHECK(value("(u16)*(u32*)(arg0+8)") == 0x8001);
  CHECK(value("(s16)*(u32*)(arg0+8)") == 0xffffffffffff8001);
  CHECK(value("*(u32*)(arg0 + 8) + 1") == 0xcafe8002);
  CHECK(value("*(s16*)*(u64*)arg0") == static_cast<std::uint64_t>(-5));
  CHECK(value("**(s16**)arg0") == static_cast<std::uint64_t>(-5));
  CHECK(value("*(u64*)(*(u64*)arg0 + 8)") == 0x1122334455667788);
  CHECK(value("*(u8*)( *(u64*)(arg0) + 9 )") == 0x77);
  CHECK(value("((((arg0))))") == Machine::kBegin);
}

TEST_CASE("arguments beyond the sixth are on the stack, wherever the stack pointer is by then") {
  Machine machine = example();
  CHECK(evaluate(machine, compiled("arg6")) == 42);
  CHECK(evaluate(machine, compiled("(u8)arg7")) == 43);
  machine.registers[kRsp] -= 24;
  CHECK(evaluate(machine, compiled("arg6", 24)) == 42);
}

TEST_CASE("plain forms need no steps") {
  CHECK(compiled("arg0").arg.kind == SJ_ARG_REG);
  CHECK(compiled("(u16)arg0").arg.bytes == 2);
  CHECK(compiled("*(u32*)(arg0+0x48)").arg.kind == SJ_ARG_MEMORY);
  CHECK(compiled("*(u32*)(arg0+0x48)").arg.displacement == 0x48);
  CHECK(compiled("*(s8*)(arg0-1)").arg.displacement == -1);
}

void check_refused(const std::string& text, std::size_t at, const std::string& words) {
  CAPTURE(text);
  const auto expression = parse_expression(text);
  REQUIRE_FALSE(expression);
  CAPTURE(expression.error().what);
  CHECK(expression.error().at == at);
  CHECK(expression.error().what.contains(words));
}

TEST_CASE("an invalid expression is refused at its first wrong character") {
  check_refused("", 0, "expected an argument");
  check_refused("8", 0, "expected an argument");
  check_refused("arg64", 0, "beyond arg63");
  check_refused("arg99999999999999", 0, "beyond arg63");
  check_refused("pdu->", 5, "expected a member's name");
  check_refused("pdu.8", 4, "expected a member's name");
  check_refused("pdu[x]", 4, "expected a number");
  check_refused("pdu[1", 5, "expected ']'");
  check_refused("*pdu->sn", 0, "the width is missing");
  check_refused(std::string(300, 'x'), 300, "longer than 256");
  check_refused("*arg0", 0, "the width is missing");
  check_refused("(u32arg0", 8, "expected ')'");
  check_refused("(u32 arg0", 5, "expected '*' or ')'");
  check_refused("(arg0", 5, "expected ')'");
  check_refused("*(u32*)arg0 junk", 12, "from here on");
  check_refused("arg0 + arg1", 7, "expected a number");
  check_refused("arg0 + 0x", 7, "expected a number");
  check_refused("arg0 + 99999999999999999999", 7, "beyond 63 bits");
  check_refused("*((u32*)arg0 + 1)", 13, "pointer's own unit");
  check_refused("(u24)arg0", 5, "from here on");
}

TEST_CASE("more steps than a hit can follow are refused") {
  std::string text = "(u64)arg0";
  for (int depth = 0; depth < SJ_MAX_STEPS; ++depth) text = "*(u64*)(" + text + " + 8)";
  REQUIRE(parse_expression(text));
  const auto is_lowered = [](const std::string& one) {
    const auto expression = parse_expression(one);
    REQUIRE(expression);
    return lower(*expression, start_of_argument(expression->argument), 0).has_value();
  };
  CHECK(is_lowered(text));
  check_refused("*(u64*)" + text, 0, "more than 8 steps");
  check_refused(std::string(100'000, '('), 32, "nested deeper than");
  check_refused("(u8" + std::string(100'000, '*') + ")arg0", 100'003, "stars");
  // One on the stack takes a step itself.
  text.replace(text.find("arg0"), 4, "arg6");
  CHECK_FALSE(is_lowered(text));
}

TEST_CASE("a variable keeps its name, and has its own width unless it is cast") {
  const auto plain = parse_expression(" pdu -> inner . sn [ 0x10 ] ");
  REQUIRE(plain);
  CHECK(plain->variable == "pdu->inner.sn[16]");
  CHECK(plain->is_as_declared);
  CHECK(plain->steps.empty());
  const auto cast = parse_expression("(u16)arguments");
  REQUIRE(cast);
  CHECK(cast->variable == "arguments");
  CHECK_FALSE(cast->is_as_declared);
  CHECK(cast->bytes == 2);
  const auto behind = parse_expression("*(s32*)(pdu->data + 12)");
  REQUIRE(behind);
  CHECK(behind->variable == "pdu->data");
  CHECK_FALSE(behind->is_as_declared);

  // A member of 2 bytes with a sign, behind a pointer in rsi.
  const ValueStart start{.base = kRsi,
                         .steps = {read_of(8, 8, false), read_of(4, 2, true)},
                         .bytes = 2,
                         .is_signed = true};
  Machine machine = example();
  machine.registers[kRsi] = Machine::kBegin;
  machine.store(8, std::uint64_t{Machine::kBegin + 64});
  machine.store(68, std::int16_t{-9});
  const auto value = [&](const std::string& text) {
    const auto lowered = lower(*parse_expression(text), start, 0);
    REQUIRE(lowered);
    return evaluate(machine, *lowered);
  };
  CHECK(value("pdu->delta") == static_cast<std::uint64_t>(-9));
  CHECK(value("(u16)pdu->delta") == 0xfff7);
  CHECK(value("pdu->delta + 10") == 1);
}

TEST_CASE("no garbage of the language's own words is more than an error") {
  constexpr std::array<const char*, 14> kWords = {
      "arg0", "arg6", "(", ")", "*", "(u8*)", "(s32)", "+", "-", "8", "0x", "u64", " ", "->"};
  std::mt19937 random(1);
  int understood = 0;
  for (int round = 0; round < 20'000; ++round) {
    std::string text;
    for (auto words = random() % 12; words-- > 0;) text += kWords[random() % kWords.size()];
    const auto expression = parse_expression(text);
    if (!expression) {
      CHECK(expression.error().at <= text.size());
      continue;
    }
    ++understood;
    const auto lowered = lower(*expression, start_of_argument(expression->argument), 0);
    if (lowered) CHECK((lowered->arg.kind != SJ_ARG_CHAIN || lowered->arg.shift <= SJ_MAX_STEPS));
  }
  CHECK(understood > 100);
}

}  // namespace
}  // namespace sojourn::coarse
