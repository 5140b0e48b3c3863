// Descriptions of machines whose files were written by hand: complete ones, sparse ones, false
// ones.
#include "userspace/host/machine_reader.h"

#include <filesystem>
#include <fstream>

#include <catch2/catch_test_macros.hpp>

#include "tests/support/child.h"
#include "userspace/host/device_reader.h"
#include "userspace/tracee/cpu_list.h"

namespace sojourn::host {
namespace {

constexpr const char* kNothing =
    "0x00000000 0x00: eax=0x00000000 ebx=0x00000000 ecx=0x00000000 edx=0x00000000";

// A machine's files below a directory of its own.
class Machine {
 public:
  Machine& file(const std::string& path, const std::string& text) {
    const std::filesystem::path whole = directory_.path() + path;
    std::filesystem::create_directories(whole.parent_path());
    std::ofstream(whole, std::ios::binary) << text;
    return *this;
  }
  MachineRoots roots() const {
    return {.proc = directory_.path("proc"),
            .sys = directory_.path("sys"),
            .etc = directory_.path("etc")};
  }
  std::string fact(const std::string& id, const std::string& cpuid = kNothing) const {
    for (const MachineFact& one : read_machine(roots(), Cpuid::recorded(cpuid).value()))
      if (one.id == id) return one.value;
    return "(no such fact)";
  }

 private:
  test::TemporaryDirectory directory_;
};

constexpr const char* kCpus = "/sys/devices/system/cpu";

TEST_CASE("a machine without any files is described, and each unknown fact has the reason") {
  const Machine machine;
  const auto facts = read_machine(machine.roots(), Cpuid::recorded(kNothing).value());
  CHECK(facts.size() > 10);
  std::size_t untold = 0;
  for (const MachineFact& fact : facts) {
    CAPTURE(fact.id);
    CHECK_FALSE(fact.source.empty());
    if (!fact.value.empty()) continue;
    ++untold;
    CHECK((fact.source.starts_with("not in ") || fact.source.starts_with("no ")));
  }
  CHECK(untold > 8);
  CHECK(machine.fact("virtual") == "no");
}

TEST_CASE("a server's processor, caches and frequencies are read from sysfs") {
  Machine machine;
  const std::string cpus = kCpus;
  machine
      .file("/proc/cpuinfo", "model name\t: A Server CPU\nflags\t: tsc constant_tsc nonstop_tsc\n")
      .file(cpus + "/online", "0-3\n")
      .file(cpus + "/isolated", "2-3\n")
      .file(cpus + "/cpu0/cpufreq/base_frequency", "2400000\n")
      .file(cpus + "/cpu0/cpufreq/cpuinfo_max_freq", "3900000\n")
      .file(cpus + "/cpu0/cache/index0/level", "1\n")
      .file(cpus + "/cpu0/cache/index0/type", "Data\n")
      .file(cpus + "/cpu0/cache/index0/size", "48K\n")
      .file(cpus + "/cpu0/cache/index0/coherency_line_size", "64\n")
      .file(cpus + "/cpu0/cache/index0/shared_cpu_list", "0,2\n")
      .file("/sys/class/net/eth0/speed", "25000\n")
      .file("/sys/class/net/lo/speed", "1\n")
      .file("/sys/block/sda/size", "2000000\n")
      .file("/sys/block/sda/queue/rotational", "1\n")
      .file("/sys/block/loop0/size", "8\n")
      .file("/etc/os-release", "NAME=x\nPRETTY_NAME=\"Debian 12\"\n");
  for (const char* cpu : {"0", "2"})
    machine.file(cpus + "/cpu" + cpu + "/topology/thread_siblings_list", "0,2\n");
  for (const char* cpu : {"1", "3"})
    machine.file(cpus + "/cpu" + cpu + "/topology/thread_siblings_list", "1,3\n");
  CHECK(machine.fact("cpu.model") == "A Server CPU");
  CHECK(machine.fact("cpu.count") == "2 cores, 4 threads, SMT on");
  CHECK(machine.fact("cpu.isolated") == "2,3");
  CHECK(machine.fact("freq.base") == "2400 MHz");
  CHECK(machine.fact("freq.turbo") == "3900 MHz");
  CHECK(machine.fact("cache.l1d") == "48 KiB, lines of 64 B, for 2 threads");
  CHECK(machine.fact("net.eth0") == "25000 Mbit/s");
  CHECK(machine.fact("net.lo") == "(no such fact)");
  CHECK(machine.fact("disk.sda") == "1 GB, says that it rotates, nominal speed not told");
  CHECK(machine.fact("disk.loop0") == "(no such fact)");
  CHECK(machine.fact("os.name") == "Debian 12");
  const CpuLayout layout = read_layout(machine.roots());
  CHECK(layout.shares_core(0, 2));
  CHECK_FALSE(layout.shares_core(0, 1));
  CHECK_FALSE(layout.shares_core(9, 0));
}

TEST_CASE("a guest without cache files has its caches from CPUID") {
  const Machine machine;
  const std::string guest = R"(
    0x80000000 0x00: eax=0x80000021 ebx=0x0 ecx=0x0 edx=0x0
    0x8000001d 0x00: eax=0x00000121 ebx=0x02c0003f ecx=0x0000003f edx=0x00000000
    0x8000001d 0x01: eax=0x00000143 ebx=0x03c0003f ecx=0x000003ff edx=0x00000002
    0x8000001d 0x02: eax=0x0001c163 ebx=0x03c0003f ecx=0x00007fff edx=0x00000001
    0x8000001d 0x03: eax=0x00000000 ebx=0x0 ecx=0x0 edx=0x0)";
  CHECK(machine.fact("cache.l1d", guest) == "48 KiB, lines of 64 B, for 1 thread");
  CHECK(machine.fact("cache.l2", guest) == "1024 KiB, lines of 64 B, for 1 thread");
  CHECK(machine.fact("cache.l3", guest) == "32768 KiB, lines of 64 B, for 8 threads");
}

TEST_CASE("base and turbo are CPUID's where there is no cpufreq") {
  const Machine machine;
  const std::string told =
      "0x00000000 0x00: eax=0x00000016 ebx=0x0 ecx=0x0 edx=0x0\n"
      "0x00000016 0x00: eax=0x00000a28 ebx=0x00000e10 ecx=0x00000064 edx=0x00000000\n";
  CHECK(machine.fact("freq.base", told) == "2600 MHz");
  CHECK(machine.fact("freq.turbo", told) == "3600 MHz");
  const std::string zero =
      "0x00000000 0x00: eax=0x00000016 ebx=0x0 ecx=0x0 edx=0x0\n"
      "0x00000016 0x00: eax=0x0 ebx=0x0 ecx=0x0 edx=0x0\n";
  CHECK(machine.fact("freq.base", zero).empty());
}

TEST_CASE("contradicting sources are both reported") {
  Machine machine;
  machine.file("/proc/cpuinfo", "flags\t: tsc\n");
  const std::string has_both =
      "0x80000000 0x00: eax=0x80000007 ebx=0x0 ecx=0x0 edx=0x0\n"
      "0x80000001 0x00: eax=0x0 ebx=0x0 ecx=0x0 edx=0x08000000\n"
      "0x80000007 0x00: eax=0x0 ebx=0x0 ecx=0x0 edx=0x00000100\n";
  CHECK(machine.fact("counter.rdtscp", has_both) == "yes by CPUID, no by /proc/cpuinfo");
  CHECK(machine.fact("counter.invariant", has_both) == "yes by CPUID, no by /proc/cpuinfo");
  machine.file("/proc/cpuinfo", "flags\t: tsc rdtscp constant_tsc nonstop_tsc hypervisor\n");
  CHECK(machine.fact("counter.rdtscp") == "no by CPUID, yes by /proc/cpuinfo");
  CHECK(machine.fact("virtual") == "yes, by whom is not told");
}

TEST_CASE("files that lie are not believed, and never end in nonsense") {
  Machine machine;
  const std::string cpus = kCpus;
  machine.file(cpus + "/online", "0-4294967295\n")
      .file(cpus + "/cpu0/cpufreq/base_frequency", "-5\n")
      .file(cpus + "/cpu0/cpufreq/cpuinfo_max_freq", "0\n")
      .file(cpus + "/cpu0/cache/index0/level", "77\n")
      .file(cpus + "/cpu0/cache/index0/size", "48K\n")
      .file(cpus + "/cpu0/cache/index1/level", "2\n")
      .file(cpus + "/cpu0/cache/index1/size", "99999999999999999999K\n")
      .file("/sys/class/net/eth0/speed", "-1\n")
      .file("/sys/class/net/eth1/speed", "4294967295\n")
      .file("/proc/meminfo", "MemTotal: lots kB\n");
  CHECK(machine.fact("cpu.count").empty());
  CHECK(machine.fact("freq.base").empty());
  CHECK(machine.fact("freq.turbo").empty());
  CHECK(machine.fact("cache").empty());
  CHECK(machine.fact("net.eth0") == "nominal speed not told");
  CHECK(machine.fact("net.eth1") == "nominal speed not told");
  CHECK(machine.fact("memory.total").empty());
}

TEST_CASE("a processor whose list of caches has no end, or is absurd, is believed no further") {
  const Machine machine;
  std::string endless = "0x00000000 0x00: eax=0x00000016 ebx=0x0 ecx=0x0 edx=0x0\n";
  for (int index = 0; index < 64; ++index)
    endless += "0x00000004 0x" + std::string(index < 16 ? "0" : "") +
               std::string(1, "0123456789abcdef"[index / 16]) +
               std::string(1, "0123456789abcdef"[index % 16]) +
               ": eax=0x00000121 ebx=0xffffffff ecx=0xffffffff edx=0x0\n";
  CHECK(read_caches(machine.roots(), Cpuid::recorded(endless).value()).empty());
}

TEST_CASE("lists of CPUs and sizes are read, and invalid ones are empty") {
  CHECK(tracee::parse_cpu_list("0-2,5,4-4") == std::vector<std::uint32_t>{0, 1, 2, 4, 5});
  CHECK(tracee::parse_cpu_list("1,1-2") == std::vector<std::uint32_t>{1, 2});
  CHECK(tracee::parse_cpu_list("").empty());
  CHECK(tracee::parse_cpu_list("3-1").empty());
  CHECK(tracee::parse_cpu_list("0,x").empty());
  CHECK(tracee::parse_cpu_list("0-99999").empty());
  CHECK(parse_size("48K") == 48 * 1024);
  CHECK(parse_size("2M") == 2 << 20);
  CHECK(parse_size("24673484 kB") == 24673484ULL * 1024);
  CHECK(parse_size("7") == 7);
  CHECK(parse_size("K") == 0);
  CHECK(parse_size("7 parsecs") == 0);
}

// One SMBIOS structure with an empty list of texts behind it.
std::string structure(unsigned char type, const std::vector<unsigned char>& body) {
  std::string bytes = {static_cast<char>(type), static_cast<char>(body.size() + 4), 0, 0};
  bytes.append(body.begin(), body.end());
  return bytes + std::string(2, '\0');
}

std::vector<MemoryModule> modules(const std::string& table) {
  return parse_dmi_modules({reinterpret_cast<const unsigned char*>(table.data()), table.size()});
}

TEST_CASE("memory modules are read from the firmware's table") {
  std::vector<unsigned char> body(0x1e);  // up to the configured rate, less the header
  body[0x0a - 4] = 64;                    // bits
  body[0x0c - 4] = 0x00;
  body[0x0d - 4] = 0x40;  // its size: it is there
  body[0x12 - 4] = 0x22;  // DDR5
  body[0x15 - 4] = 0xc0;
  body[0x16 - 4] = 0x12;  // 4800
  body[0x20 - 4] = 0xf0;
  body[0x21 - 4] = 0x0f;  // 4080, as configured
  const auto one = structure(17, body);
  std::vector<unsigned char> absent = body;
  absent[0x0d - 4] = 0;
  const auto found = modules(structure(1, {1, 2}) + one + structure(17, absent) + one);
  REQUIRE(found.size() == 2);
  CHECK(found[0].kind == "DDR5");
  CHECK(found[0].rate_mts == 4080);
  CHECK(found[0].bits == 64);
  Machine machine;
  machine.file("/sys/firmware/dmi/tables/DMI", one + one);
  CHECK(machine.fact("memory.bus") == "2 x DDR5 at 4080 MT/s, 64 bits wide");
}

TEST_CASE("a firmware's table that is cut short or lies about lengths ends where it does") {
  std::vector<unsigned char> body(0x1e);
  body[0x0d - 4] = 0x40;
  const std::string one = structure(17, body);
  for (std::size_t length = 0; length < one.size(); ++length) {
    CAPTURE(length);
    CHECK(modules(one.substr(0, length)).size() <= 1);
  }
  CHECK(modules(std::string("\x11\x00\x00\x00", 4) + one).empty());
  CHECK(modules(std::string("\x11\xff\x00\x00", 4)).empty());
  CHECK(modules(structure(17, {1})).empty());
  CHECK(modules(std::string(1000, '\x11')).size() < 100);
}

}  // namespace
}  // namespace sojourn::host
