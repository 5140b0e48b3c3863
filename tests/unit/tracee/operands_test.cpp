#include "userspace/tracee/operands.h"

#include <catch2/catch_test_macros.hpp>
#include <catch2/matchers/catch_matchers_string.hpp>

using namespace sojourn;
using tracee::Machine;

namespace {

constexpr std::uint64_t kQueue = 0x5555'0000'4120;

Result<std::uint64_t> lookup(std::string_view name) {
  if (name == "queue" || name == "queue.0") return kQueue;
  return fail("no symbol '{}' in subject", name);
}

Result<std::vector<sj_arg>> parse(std::string_view text, Machine machine) {
  return tracee::parse_operands(text, machine, lookup);
}

struct Case {
  std::string_view text;
  sj_arg arg;
};

constexpr std::uint8_t kNone = SJ_NO_REG;

sj_arg constant(std::int64_t value, std::uint8_t bytes, bool is_signed) {
  return {value, SJ_ARG_CONST, kNone, kNone, 0, bytes, is_signed, 0, 0};
}
sj_arg in_register(std::uint8_t word, std::uint8_t bytes, bool is_signed,
                   std::uint8_t low_bit = 0) {
  return {0, SJ_ARG_REG, word, kNone, 0, bytes, is_signed, low_bit, 0};
}
sj_arg in_memory(std::uint8_t base, std::uint8_t index, std::uint8_t shift,
                 std::int64_t displacement, std::uint8_t bytes, bool is_signed) {
  return {displacement, SJ_ARG_MEMORY, base, index, shift, bytes, is_signed, 0, 0};
}

bool equal(const sj_arg& a, const sj_arg& b) {
  return a.displacement == b.displacement && a.kind == b.kind && a.base == b.base &&
         a.index == b.index && a.shift == b.shift && a.bytes == b.bytes &&
         a.is_signed == b.is_signed && a.low_bit == b.low_bit && a.number == b.number;
}

void check(const std::vector<Case>& cases, Machine machine) {
  for (const Case& one : cases) {
    CAPTURE(one.text);
    const auto args = parse(one.text, machine);
    if (!args) FAIL(args.error().text());
    REQUIRE(args->size() == 1);
    const sj_arg& arg = args->front();
    CAPTURE(arg.displacement, arg.kind, arg.base, arg.index, arg.shift, arg.bytes, arg.is_signed,
            arg.low_bit);
    CHECK(equal(arg, one.arg));
  }
}

std::vector<Case> x86_64_cases() {
  return {
      {"8@%rax", in_register(10, 8, false)},
      {"-4@%eax", in_register(10, 4, true)},
      {"-4@%rax", in_register(10, 4, true)},
      {"2@%ax", in_register(10, 2, false)},
      {"1@%al", in_register(10, 1, false)},
      {"1@%ah", in_register(10, 1, false, 8)},
      {"2@%ah", in_register(10, 1, false, 8)},
      {"-1@%dh", in_register(12, 1, true, 8)},
      {"8@%eax", in_register(10, 4, false)},
      {"8@%r15", in_register(0, 8, false)},
      {"4@%r8d", in_register(9, 4, false)},
      {"2@%r10w", in_register(7, 2, false)},
      {"1@%r9b", in_register(8, 1, false)},
      {"8@%rbp", in_register(4, 8, false)},
      {"1@%bpl", in_register(4, 1, false)},
      {"8@%rsp", in_register(19, 8, false)},
      {"1@%sil", in_register(13, 1, false)},
      {"4@%edi", in_register(14, 4, false)},
      {"8@$5", constant(5, 8, false)},
      {"8@$0x10", constant(16, 8, false)},
      {"8@$-5", constant(-5, 8, false)},
      {"-4@$-5", constant(-5, 4, true)},
      {"4@$-1", constant(0xffff'ffff, 4, false)},
      {"-1@$255", constant(-1, 1, true)},
      {"8@$18446744073709551615", constant(-1, 8, false)},
      {"8@$-9223372036854775808", constant(INT64_MIN, 8, false)},
      {"8@$queue", constant(kQueue, 8, false)},
      {"8@$queue+8", constant(kQueue + 8, 8, false)},
      {"4@8(%rsp)", in_memory(19, kNone, 0, 8, 4, false)},
      {"8@(%rax)", in_memory(10, kNone, 0, 0, 8, false)},
      {"8@(%rax,%rbx)", in_memory(10, 5, 0, 0, 8, false)},
      {"8@(%rax,%rbx,4)", in_memory(10, 5, 2, 0, 8, false)},
      {"8@( %rax , %rbx , 8 )", in_memory(10, 5, 3, 0, 8, false)},
      {"1@-3(,%rcx,2)", in_memory(kNone, 11, 1, -3, 1, false)},
      {"-4@-0x14(%rbp)", in_memory(4, kNone, 0, -20, 4, true)},
      {"8@8+16(%rbp)", in_memory(4, kNone, 0, 24, 8, false)},
      {"4@queue(%rip)", in_memory(kNone, kNone, 0, kQueue, 4, false)},
      {"8@queue+8(%rip)", in_memory(kNone, kNone, 0, kQueue + 8, 8, false)},
      {"8@8+queue(%rip)", in_memory(kNone, kNone, 0, kQueue + 8, 8, false)},
      {"8@queue-8(%rip)", in_memory(kNone, kNone, 0, kQueue - 8, 8, false)},
      {"8@queue", in_memory(kNone, kNone, 0, kQueue, 8, false)},
      {"2@queue.0(%rip)", in_memory(kNone, kNone, 0, kQueue, 2, false)},
      {"8@queue(,%rdi,8)", in_memory(kNone, 14, 3, kQueue, 8, false)},
      {"8@queue+4(%rdi)", in_memory(14, kNone, 0, kQueue + 4, 8, false)},
  };
}

std::vector<Case> arm64_cases() {
  return {
      {"8@x0", in_register(0, 8, false)},
      {"-4@w1", in_register(1, 4, true)},
      {"-4@x30", in_register(30, 4, true)},
      {"8@w2", in_register(2, 4, false)},
      {"8@sp", in_register(31, 8, false)},
      {"8@xzr", constant(0, 8, false)},
      {"-4@wzr", constant(0, 4, true)},
      {"4@5", constant(5, 4, false)},
      {"8@#5", constant(5, 8, false)},
      {"8@#-0x10", constant(-16, 8, false)},
      {"-4@-5", constant(-5, 4, true)},
      {"8@queue", constant(kQueue, 8, false)},
      {"8@queue+16", constant(kQueue + 16, 8, false)},
      {"8@[x0]", in_memory(0, kNone, 0, 0, 8, false)},
      {"8@[sp, 16]", in_memory(31, kNone, 0, 16, 8, false)},
      {"8@[sp,#16]", in_memory(31, kNone, 0, 16, 8, false)},
      {"8@[x0, -8]", in_memory(0, kNone, 0, -8, 8, false)},
      {"8@[ x29 , 8 ]", in_memory(29, kNone, 0, 8, 8, false)},
      {"8@[x29,x1]", in_memory(29, 1, 0, 0, 8, false)},
      {"8@[x0, x1, lsl 3]", in_memory(0, 1, 3, 0, 8, false)},
      {"8@[x0, x1, lsl #2]", in_memory(0, 1, 2, 0, 8, false)},
      {"4@[x3, #:lo12:queue]", in_memory(3, kNone, 0, kQueue & 0xfff, 4, false)},
      {"4@[x3, :lo12:queue+4]", in_memory(3, kNone, 0, (kQueue + 4) & 0xfff, 4, false)},
  };
}

struct Refusal {
  std::string_view text;
  std::string_view why;
};

void check_refused(const std::vector<Refusal>& cases, Machine machine) {
  for (const Refusal& one : cases) {
    CAPTURE(one.text);
    const auto args = parse(one.text, machine);
    REQUIRE_FALSE(args);
    CHECK_THAT(args.error().text(), Catch::Matchers::ContainsSubstring(std::string(one.why)));
    CHECK_THAT(args.error().text(), Catch::Matchers::StartsWith("operand '"));
  }
}

}  // namespace

TEST_CASE("every operand form of x86-64 becomes the place that the assembler means") {
  check(x86_64_cases(), Machine::kX86_64);
}

TEST_CASE("every operand form of arm64 becomes the place that the assembler means") {
  check(arm64_cases(), Machine::kArm64);
}

TEST_CASE("operands are separated by any spaces, except inside brackets") {
  const auto x86 = parse(" 8@%rdi  -4@-4(%rbp, %rax, 2)\t1@$7 ", Machine::kX86_64);
  REQUIRE(x86);
  REQUIRE(x86->size() == 3);
  CHECK(equal((*x86)[1], in_memory(4, 10, 1, -4, 4, true)));
  CHECK(equal((*x86)[2], constant(7, 1, false)));
  const auto arm = parse("8@x0 8@[sp, 16] 4@5", Machine::kArm64);
  REQUIRE(arm);
  CHECK(arm->size() == 3);
}

TEST_CASE("no operands at all is a probe without arguments") {
  REQUIRE(parse("", Machine::kX86_64));
  CHECK(parse("", Machine::kX86_64)->empty());
  CHECK(parse("   ", Machine::kArm64)->empty());
}

TEST_CASE("an operand that cannot be read exactly is refused with the reason on x86-64") {
  check_refused(
      {
          {"8f@%xmm0", "floating-point"},
          {"8@%xmm0", "floating-point or vector"},
          {"4@%st", "floating-point or vector"},
          {"8@%k1", "floating-point or vector"},
          {"16@%rax", "not 1, 2, 4 or 8 bytes"},
          {"3@%rax", "not 1, 2, 4 or 8 bytes"},
          {"%rax", "does not begin with a width"},
          {"8", "does not begin with a width"},
          {"-@%rax", "not 1, 2, 4 or 8 bytes"},
          {"8@", "neither a number nor a symbol"},
          {"8@%", "not a register"},
          {"8@%rxx", "not a register"},
          {"8@%x0", "not a register"},
          {"8@5", "bare number"},
          {"8@$", "neither a number"},
          {"8@$0x", "not a number"},
          {"8@$12ab", "not a number"},
          {"8@$99999999999999999999", "beyond 64 bits"},
          {"8@(%rax", "expected ')'"},
          {"8@(%eax)", "less than 64 bits"},
          {"8@(%rax,%rsp)", "cannot be an index"},
          {"8@(%rax,%rip)", "cannot be an index"},
          {"8@(%rax,%rbx,3)", "scale"},
          {"8@(%rax,%rbx,16)", "scale"},
          {"8@()", "without a register"},
          {"8@8(%rip)", "without a symbol"},
          {"8@%fs:16", "thread-local"},
          {"8@queue@GOTPCREL(%rip)", "dynamic linker"},
          {"8@nowhere(%rip)", "no symbol 'nowhere'"},
          {"8@$queue-queue", "symbols"},
          {"8@%rax,", "not understood"},
          {"8@%rax8@%rbx", "not a register"},
          {"8@(%rax)8@%rbx", "not understood"},
          {"8@[x0]", "neither a number"},
      },
      Machine::kX86_64);
}

TEST_CASE("an operand that cannot be read exactly is refused with the reason on arm64") {
  check_refused(
      {
          {"8f@d0", "floating-point"},
          {"8@d0", "floating-point or vector"},
          {"8@q31", "floating-point or vector"},
          {"8@x31", "no symbol 'x31'"},
          {"8@[x0, w1, sxtw 2]", "extended"},
          {"8@[x0, w1, uxtw]", "extended"},
          {"8@[x0, w1]", "32 bits"},
          {"8@[x0, x1, lsl 5]", "shift"},
          {"8@[x0, x1, lsl]", "shift"},
          {"8@[w0]", "not a register that holds an address"},
          {"8@[xzr]", "not a register that holds an address"},
          {"8@[x0, 8]!", "not understood"},
          {"8@[x0], 8", "not understood"},
          {"8@[x0", "expected ']'"},
          {"8@[x0, :got:queue]", "relocation"},
          {"8@%rax", "neither a number"},
          {"8@[]", "not a register that holds an address"},
      },
      Machine::kArm64);
}

TEST_CASE("an operand's error shows the operand and the column, not its neighbours") {
  const auto args = parse("8@%rdi 4@8(%rsp,%zax, 2) 8@%rsi", Machine::kX86_64);
  REQUIRE_FALSE(args);
  CHECK(args.error().text() == "operand '4@8(%rsp,%zax, 2)', column 11: not a register of x86-64");
}

TEST_CASE("an operand's error cannot drive a terminal") {
  const auto args = parse("8@\x1b[2J", Machine::kX86_64);
  REQUIRE_FALSE(args);
  CHECK(args.error().text().find('\x1b') == std::string::npos);
}

TEST_CASE("a probe has at most as many arguments as a record has room for") {
  std::string text;
  for (int index = 0; index < SJ_MAX_ARGS; ++index) text += "8@%rax ";
  REQUIRE(parse(text, Machine::kX86_64));
  const auto args = parse(text + "8@%rax", Machine::kX86_64);
  REQUIRE_FALSE(args);
  CHECK_THAT(args.error().text(), Catch::Matchers::ContainsSubstring("more than 16"));
}

TEST_CASE("an operand cut off anywhere is read or refused, and never grows") {
  for (const Machine machine : {Machine::kX86_64, Machine::kArm64}) {
    for (const Case& one : machine == Machine::kX86_64 ? x86_64_cases() : arm64_cases()) {
      for (std::size_t length = 0; length < one.text.size(); ++length) {
        // A copy of its own, so that reading past its end shows.
        const std::vector<char> cut(one.text.begin(),
                                    one.text.begin() + static_cast<std::ptrdiff_t>(length));
        const auto args = parse(std::string_view(cut.data(), cut.size()), machine);
        CAPTURE(one.text, length);
        if (args)
          CHECK(args->size() <= 1);
        else
          CHECK_FALSE(args.error().text().empty());
      }
    }
  }
}
