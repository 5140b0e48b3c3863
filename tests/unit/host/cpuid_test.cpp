// Descriptions that processors gave, as recorded.
#include "userspace/host/cpuid.h"

#include <catch2/catch_test_macros.hpp>

namespace sojourn::host {
namespace {

Cpuid of(std::string_view text) {
  auto cpuid = Cpuid::recorded(text);
  REQUIRE(cpuid.has_value());
  return *cpuid;
}

constexpr const char* kGuest = R"(CPU:
   0x00000000 0x00: eax=0x00000010 ebx=0x68747541 ecx=0x444d4163 edx=0x69746e65
   0x00000001 0x00: eax=0x00b00f21 ebx=0x00020800 ecx=0xfffa3203 edx=0x178bfbff
   0x40000000 0x00: eax=0x40000001 ebx=0x4b4d564b ecx=0x564b4d56 edx=0x0000004d
   0x80000000 0x00: eax=0x80000021 ebx=0x68747541 ecx=0x444d4163 edx=0x69746e65
   0x80000001 0x00: eax=0x00b00f21 ebx=0x40000000 ecx=0x00c003f7 edx=0x2fd3fbff
   0x80000002 0x00: eax=0x20444d41 ebx=0x43595045 ecx=0x00000000 edx=0x00000000
   0x80000007 0x00: eax=0x00000000 ebx=0x00000000 ecx=0x00000000 edx=0x00000100
)";

TEST_CASE("a recorded guest is read: brand, hypervisor, counter") {
  const Cpuid cpuid = of(kGuest);
  CHECK(cpuid.brand() == "AMD EPYC");
  CHECK(cpuid.is_virtual());
  CHECK(cpuid.hypervisor() == "KVMKVMKVM");
  CHECK(cpuid.has_rdtscp());
  CHECK(cpuid.has_invariant_counter());
  CHECK_FALSE(cpuid.leaf(0x16));           // above the highest leaf
  CHECK_FALSE(cpuid.leaf(0x8000001d, 0));  // below it, but not recorded
}

TEST_CASE("a processor that reports next to nothing has next to nothing") {
  const Cpuid cpuid =
      of("0x00000000 0x00: eax=0x00000000 ebx=0x00000000 ecx=0x00000000 edx=0x00000000");
  CHECK(cpuid.brand().empty());
  CHECK_FALSE(cpuid.is_virtual());
  CHECK(cpuid.hypervisor().empty());
  CHECK_FALSE(cpuid.has_rdtscp());
  CHECK_FALSE(cpuid.has_invariant_counter());
}

TEST_CASE("letters that no text has do not come through") {
  const Cpuid cpuid =
      of("0x80000000 0x00: eax=0x80000004 ebx=0x0 ecx=0x0 edx=0x0\n"
         "0x80000002 0x00: eax=0x1b5b1b5b ebx=0x41414141 ecx=0x07070707 edx=0x0a0a0a0a\n");
  CHECK(cpuid.brand() == "[[AAAA");
}

TEST_CASE("an invalid recording is refused, and invalid lines are skipped") {
  CHECK_FALSE(Cpuid::recorded(""));
  CHECK_FALSE(Cpuid::recorded("0x00000000 0x00: eax=nonsense"));
  CHECK_FALSE(Cpuid::recorded("0xfffffffff 0x00: eax=0x0 ebx=0x0 ecx=0x0 edx=0x0"));
  CHECK(Cpuid::recorded("hello\n0x0 0x0: eax=0x1 ebx=0x2 ecx=0x3 edx=0x4\n:::\n"));
}

TEST_CASE("this machine's own words can be asked for") {
  const Cpuid cpuid = Cpuid::of_this_machine();
#if defined(__x86_64__)
  CHECK(cpuid.leaf(0).has_value());
  CHECK_FALSE(cpuid.leaf(0x0fffffff));
#else
  CHECK_FALSE(cpuid.leaf(0));
#endif
}

}  // namespace
}  // namespace sojourn::host
