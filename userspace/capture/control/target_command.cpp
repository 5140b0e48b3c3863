#include "userspace/capture/control/target_command.h"

#include <algorithm>
#include <cerrno>
#include <climits>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <memory>
#include <span>
#include <utility>

#include <elf.h>
#include <fcntl.h>
#include <sys/wait.h>
#include <unistd.h>

#include "userspace/base/fail_errno.h"
#include "userspace/tracee/elf_file.h"

namespace sojourn::capture {

namespace {

// The bytes that let the held child run.
constexpr char kAsItIs = 1;
constexpr char kRingsArmed = 2;

Result<std::string> find_program(const std::string& name) {
  if (name.contains('/')) {
    if (access(name.c_str(), X_OK) != 0) return fail_errno("run {}", name);
    return name;
  }
  // NOLINTNEXTLINE(concurrency-mt-unsafe): before any thread starts
  const char* path = std::getenv("PATH");
  std::string_view rest = path != nullptr ? path : "/usr/local/bin:/usr/bin:/bin";
  while (!rest.empty()) {
    const auto colon = rest.find(':');
    std::string candidate = fmt::format("{}/{}", rest.substr(0, colon), name);
    std::error_code ignored;
    if (access(candidate.c_str(), X_OK) == 0 &&
        std::filesystem::is_regular_file(candidate, ignored))
      return candidate;
    rest = colon == std::string_view::npos ? std::string_view{} : rest.substr(colon + 1);
  }
  return fail("run {}: not found in PATH", name);
}

// The text after "#!" in a script's first line, as far as the kernel reads it; empty: no script.
std::string named_interpreter(const std::string& script) {
  constexpr std::size_t kKernelReads = 256;
  std::string line(kKernelReads, '\0');
  std::ifstream file(script, std::ios::binary);
  file.read(line.data(), static_cast<std::streamsize>(line.size()));
  line.resize(static_cast<std::size_t>(file.gcount()));
  if (!line.starts_with("#!")) return {};
  line.resize(std::min(line.find('\n'), line.size()));
  const auto begin = line.find_first_not_of(" \t", 2);
  if (begin == std::string::npos) return {};
  const auto end = line.find_first_of(std::string_view(" \t\0", 3), begin);
  return line.substr(begin, end == std::string::npos ? end : end - begin);
}

// The file that the kernel will execute: the program, or a script's interpreter, which may be a
// script again.
Result<std::string> executed_for(const std::string& program) {
  constexpr int kKernelFollows = 5;
  std::string file = program;
  for (int depth = 0; depth <= kKernelFollows; ++depth) {
    if (tracee::ElfFile::has_magic(file)) return file;
    std::string interpreter = named_interpreter(file);
    if (interpreter.empty())
      return fail("run {}: {}neither an ELF program nor a script that begins with #!", program,
                  file == program ? "" : "its interpreter " + file + " is ");
    if (access(interpreter.c_str(), X_OK) != 0)
      return fail_errno("run {}: its interpreter {}", program, interpreter);
    file = std::move(interpreter);
  }
  return fail("run {}: its interpreter is a script, whose interpreter is a script, and so on",
              program);
}

struct ClosePipe {
  void operator()(FILE* pipe) const { fclose(pipe); }
};

// The path in a line of the dynamic loader's listing: "\tlibm.so.6 => /usr/lib/libm.so.6 (0x...)".
std::string library_path(std::string_view line) {
  const auto arrow = line.find("=> ");
  std::string_view path = arrow == std::string_view::npos ? line : line.substr(arrow + 3);
  while (path.starts_with('\t') || path.starts_with(' ')) path.remove_prefix(1);
  path = path.substr(0, path.find(" ("));
  while (path.ends_with('\n')) path.remove_suffix(1);
  // Skips the kernel's own library (linux-vdso.so.1), and "not found". A relative path is valid,
  // because the command starts in the same directory.
  return path.contains('/') ? std::string(path) : std::string();
}

// The dynamic loader that the program names; empty if it needs none.
std::string loader_of(const std::string& program) {
  const auto elf = tracee::ElfFile::open(program, program);
  if (!elf) return {};
  const auto& segments = elf->segments();
  const auto named = std::ranges::find(segments, PT_INTERP, &tracee::Segment::type);
  if (named == segments.end() || named->file_bytes > PATH_MAX) return {};
  std::string loader(named->file_bytes, '\0');
  if (!elf->read(named->offset, std::as_writable_bytes(std::span(loader)))) return {};
  return loader.substr(0, loader.find('\0'));
}

// The loader itself says which libraries it would load: it knows search paths, caches and preloads.
// It is asked by an option of its own: under musl's loader a program would run where glibc's lists.
std::vector<std::string> libraries_of(const std::string& program) {
  const std::string loader = loader_of(program);
  if (loader.empty()) return {};
  int ends[2];
  if (pipe2(ends, O_CLOEXEC) != 0) return {};
  base::Fd read_end(ends[0]);
  base::Fd write_end(ends[1]);
  const pid_t child = fork();
  if (child < 0) return {};
  if (child == 0) {
    dup2(write_end.get(), STDOUT_FILENO);
    execl(loader.c_str(), loader.c_str(), "--list", program.c_str(), nullptr);
    _exit(127);
  }
  write_end = base::Fd();
  std::vector<std::string> libraries;
  const int listing = dup(read_end.get());
  if (listing < 0) return {};
  if (const std::unique_ptr<FILE, ClosePipe> lines(fdopen(listing, "r")); lines) {
    char* line = nullptr;
    std::size_t capacity = 0;
    while (getline(&line, &capacity, lines.get()) > 0)
      if (std::string path = library_path(line); !path.empty())
        libraries.push_back(std::move(path));
    std::free(line);
  }
  waitpid(child, nullptr, 0);
  return libraries;
}

}  // namespace

TargetCommand::TargetCommand(TargetCommand&& other) noexcept
    : argv_(std::move(other.argv_)),
      files_(std::move(other.files_)),
      pid_(std::exchange(other.pid_, -1)),
      go_(std::move(other.go_)),
      failed_(std::move(other.failed_)),
      released_(other.released_),
      is_script_(other.is_script_),
      rings_(std::move(other.rings_)) {}

TargetCommand::~TargetCommand() {
  if (pid_ <= 0 || released_) return;
  kill(pid_, SIGKILL);
  waitpid(pid_, nullptr, 0);
}

namespace {

void set_rings_armed(const std::string& directory, const TargetCommand::RingSizes& sizes) {
  // NOLINTBEGIN(concurrency-mt-unsafe): forked before any thread starts
  setenv("SJ_RINGS", "armed", 1);
  if (!directory.empty()) setenv("SJ_RING_DIR", directory.c_str(), 1);
  // Sizes go by the environment: threads take their rings before the tracer finds the arena.
  if (sizes.ring_bytes != 0) setenv("SJ_RING_BYTES", std::to_string(sizes.ring_bytes).c_str(), 1);
  if (sizes.memory_ceiling != 0)
    setenv("SJ_RING_MEMORY", std::to_string(sizes.memory_ceiling).c_str(), 1);
  // NOLINTEND(concurrency-mt-unsafe)
}

}  // namespace

Result<TargetCommand> TargetCommand::prepare(std::vector<std::string> argv,
                                             const RingSizes& sizes) {
  SJ_TRY(program, find_program(argv.front()));
  SJ_TRY(executed, executed_for(program));
  TargetCommand command;
  command.argv_ = std::move(argv);
  command.is_script_ = executed != program;
  command.files_ = {executed};
  std::ranges::move(libraries_of(executed), std::back_inserter(command.files_));

  // Without a directory the rings of a command that ends at once are lost.
  // NOLINTNEXTLINE(concurrency-mt-unsafe): before any thread starts
  if (std::getenv("SJ_RING_DIR") == nullptr)
    if (auto rings = RingDirectory::make()) command.rings_.emplace(std::move(*rings));

  int go[2];
  int failed[2];
  if (pipe2(go, O_CLOEXEC) != 0) return fail_errno("make a pipe");
  base::Fd go_read(go[0]);
  command.go_ = base::Fd(go[1]);
  if (pipe2(failed, O_CLOEXEC) != 0) return fail_errno("make a pipe");
  command.failed_ = base::Fd(failed[0]);
  base::Fd failed_write(failed[1]);

  std::vector<char*> pointers;
  pointers.reserve(command.argv_.size() + 1);
  for (std::string& argument : command.argv_) pointers.push_back(argument.data());
  pointers.push_back(nullptr);

  command.pid_ = fork();
  if (command.pid_ < 0) return fail_errno("fork for {}", command.argv_.front());
  if (command.pid_ == 0) {
    close(command.go_.get());
    char how = 0;
    if (read(go_read.get(), &how, 1) != 1) _exit(127);  // the tracer is gone: run nothing
    if (how == kRingsArmed) set_rings_armed(command.ring_directory(), sizes);
    sigset_t none;
    sigemptyset(&none);
    pthread_sigmask(SIG_SETMASK, &none, nullptr);
    for (const int ignored : {SIGPIPE, SIGXFSZ}) signal(ignored, SIG_DFL);
    execv(program.c_str(), pointers.data());
    const int code = errno;
    (void)!write(failed_write.get(), &code, sizeof(code));
    _exit(127);
  }
  return command;
}

Result<void> TargetCommand::release(bool arm_rings) {
  const char how = arm_rings ? kRingsArmed : kAsItIs;
  if (write(go_.get(), &how, 1) != 1) return fail_errno("start {}", argv_.front());
  released_ = true;
  int code = 0;
  if (read(failed_.get(), &code, sizeof(code)) == sizeof(code)) {
    waitpid(pid_, nullptr, 0);
    return fail("run {}: {}", argv_.front(), std::generic_category().message(code));
  }
  return {};
}

}  // namespace sojourn::capture
