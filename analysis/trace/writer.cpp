#include "analysis/trace/writer.h"

#include <algorithm>
#include <cerrno>
#include <cstddef>
#include <cstdio>
#include <optional>
#include <span>
#include <utility>
#include <vector>

#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include "analysis/trace/block.h"
#include "analysis/trace/block_packer.h"
#include "analysis/trace/format.h"
#include "analysis/trace/meta.h"

namespace sojourn::trace {

namespace {

constexpr off_t kHeaderBytes = sizeof(FileHeader);

// The file being written: closes itself, and never holds half a block where that can be helped.
class PartialFile : public ByteSink {
 public:
  static Result<std::unique_ptr<ByteSink>> create(std::string path) {
    struct stat existing{};
    const bool exists = lstat(path.c_str(), &existing) == 0;
    if (exists && S_ISLNK(existing.st_mode))
      return fail("write {}: is a symbolic link: give the name of the file that it points to",
                  path);
    if (exists && !S_ISREG(existing.st_mode))
      return fail("write {}: exists and is not a regular file", path);
    auto file = std::make_unique<PartialFile>(path, path + ".partial");
    SJ_TRY(put_aside, put_abandoned_aside(file->partial_));
    file->put_aside_ = std::move(put_aside);
    // Made anew, never followed or shared: in a world-writable directory the name may be somebody's
    // trap.
    file->fd_ =
        open(file->partial_.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0600);
    if (file->fd_ < 0) return fail_errno("write {}", file->partial_);
    if (flock(file->fd_, LOCK_EX | LOCK_NB) != 0) return fail_errno("lock {}", file->partial_);
    return file;
  }

  PartialFile(std::string path, std::string partial)
      : path_(std::move(path)), partial_(std::move(partial)) {}
  ~PartialFile() override {
    if (fd_ >= 0) close(fd_);
  }

  std::uint64_t size() const override { return size_; }
  const std::string& put_aside() const override { return put_aside_; }

  Result<void> append(std::span<const std::uint8_t> bytes) override {
    std::span<const std::uint8_t> rest = bytes;
    while (!rest.empty()) {
      const ssize_t written = ::write(fd_, rest.data(), rest.size());
      if (written < 0 && errno == EINTR) continue;
      if (written < 0) {
        auto error = size_ == 0 ? fail_errno("write {}", partial_)
                                : fail_errno("write {}, which keeps what came before", partial_);
        // What is there of the block is of no use to a reader.
        if (ftruncate(fd_, static_cast<off_t>(size_)) != 0) return error;
        return error;
      }
      rest = rest.subspan(static_cast<std::size_t>(written));
    }
    size_ += bytes.size();
    return {};
  }

  void abandon() override { unlink(partial_.c_str()); }

  Result<void> finish() override {
    if (fd_ < 0) return fail("write {}: finished already", path_);
    if (close(std::exchange(fd_, -1)) != 0) return fail_errno("write {}", partial_);
    if (std::rename(partial_.c_str(), path_.c_str()) != 0)
      return fail_errno("rename {} to {}", partial_, path_);
    return {};
  }

 private:
  // A file of that name is what a killed capture left, or another one that is still being written:
  // its writer holds a lock. What was left may be all that there is of something: one is kept, and
  // its new name told.
  static Result<std::string> put_abandoned_aside(const std::string& partial) {
    struct stat existing{};
    if (lstat(partial.c_str(), &existing) != 0)
      return errno == ENOENT ? Result<std::string>{} : fail_errno("write {}", partial);
    if (S_ISDIR(existing.st_mode)) return fail("write {}: is a directory", partial);
    if (S_ISREG(existing.st_mode)) {
      const int fd = open(partial.c_str(), O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC);
      const bool is_locked = fd >= 0 && flock(fd, LOCK_EX | LOCK_NB) != 0 && errno == EWOULDBLOCK;
      if (fd >= 0) close(fd);
      if (is_locked) return fail("write {}: another capture is writing it", partial);
    }
    const bool has_blocks = S_ISREG(existing.st_mode) && existing.st_size > kHeaderBytes;
    std::string aside = has_blocks ? partial + "~" : "";
    const int done =
        has_blocks ? std::rename(partial.c_str(), aside.c_str()) : unlink(partial.c_str());
    if (done != 0 && errno != ENOENT) return fail_errno("replace {}", partial);
    return aside;
  }

  std::string path_;
  std::string partial_;
  std::string put_aside_;
  int fd_ = -1;
  std::uint64_t size_ = 0;
};

std::span<const std::uint8_t> as_bytes(const std::string& text) {
  return {reinterpret_cast<const std::uint8_t*>(text.data()), text.size()};
}

template <typename T>
std::span<const std::uint8_t> as_bytes(const T& object) {
  return {reinterpret_cast<const std::uint8_t*>(&object), sizeof(object)};
}

}  // namespace

struct Writer::State {
  explicit State(std::unique_ptr<ByteSink> opened) : sink(std::move(opened)) {}

  std::unique_ptr<ByteSink> sink;
  BlockMaker maker;
  model::Schema schema;
  std::vector<IndexEntry> index;
  BlockPacker packer;
  std::uint64_t events = 0;

  Result<void> append(BlockType type, std::span<const std::uint8_t> raw) {
    SJ_TRY(block, maker.make(type, raw));
    return append(block);
  }

  Result<void> append(std::span<const std::uint8_t> block) {
    IndexEntry entry{.offset = sink->size(), .header = {}};
    std::copy_n(block.begin(), sizeof(BlockHeader), reinterpret_cast<std::uint8_t*>(&entry.header));
    SJ_CHECK(sink->append(block));
    index.push_back(entry);
    events += entry.header.events;
    return {};
  }
};

Writer::Writer(std::unique_ptr<State> state) : state_(std::move(state)) {}
Writer::Writer(Writer&&) noexcept = default;
Writer& Writer::operator=(Writer&&) noexcept = default;
Writer::~Writer() = default;

Result<Writer> Writer::create(const std::string& path) {
  SJ_TRY(file, PartialFile::create(path));
  return create(std::move(file));
}

Result<Writer> Writer::create(std::unique_ptr<ByteSink> sink) {
  auto state = std::make_unique<State>(std::move(sink));
  FileHeader header;
  header.header_crc = checksum(&header, offsetof(FileHeader, header_crc));
  SJ_CHECK(state->sink->append(as_bytes(header)));
  return Writer(std::move(state));
}

const std::string& Writer::put_aside() const {
  return state_->sink->put_aside();
}

Result<void> Writer::write(const model::Schema& schema) {
  const auto& known = state_->schema.points;
  if (known.size() > schema.points.size() ||
      !std::ranges::equal(known, std::span(schema.points).first(known.size())))
    return fail("write a schema that changes points already written");
  SJ_CHECK(state_->append(BlockType::kSchema, as_bytes(to_json(schema))));
  state_->schema = schema;
  return {};
}

Result<void> Writer::write(const model::Target& target) {
  return state_->append(BlockType::kTarget, as_bytes(to_json(target)));
}
Result<void> Writer::write(const model::Host& host) {
  return state_->append(BlockType::kHost, as_bytes(to_json(host)));
}
Result<void> Writer::write(const model::Stream& stream) {
  return state_->append(BlockType::kStream, as_bytes(to_json(stream)));
}
Result<void> Writer::write(const model::ClockPair& clock) {
  return state_->append(BlockType::kClock, as_bytes(to_json(clock)));
}
Result<void> Writer::write(const model::Capture& capture) {
  return state_->append(BlockType::kCapture, as_bytes(to_json(capture)));
}
Result<void> Writer::write(const model::Ledger& ledger) {
  return state_->append(BlockType::kLedger, as_bytes(to_json(ledger)));
}
Result<void> Writer::write(const model::Context& context) {
  return state_->append(BlockType::kContext, as_bytes(to_json(context)));
}

Result<void> Writer::write(const model::Profile& profile) {
  return state_->append(BlockType::kProfile, as_bytes(to_json(profile)));
}

Result<void> Writer::write(const model::QueueChanges& changes) {
  return state_->append(BlockType::kQueues, as_bytes(to_json(changes)));
}

Result<void> Writer::write(const model::Sampling& sampling) {
  return state_->append(BlockType::kSampling, as_bytes(to_json(sampling)));
}

Result<void> Writer::write(const model::EventBatch& events) {
  return state_->packer.pack(events, state_->schema, [this](std::span<const std::uint8_t> block) {
    return state_->append(block);
  });
}

Result<void> Writer::write_block(std::span<const std::uint8_t> block) {
  return state_->append(block);
}

// The schema is written once more: without one no event can be read, and so it stands at both ends
// of the file.
Result<void> Writer::finish() {
  State& state = *state_;
  if (!state.schema.points.empty()) SJ_CHECK(write(model::Schema(state.schema)));
  std::vector<IndexEntry> entries = state.index;
  for (IndexEntry& entry : entries) entry.header.magic = 0;
  // A file of more blocks than an index holds is read by walking it.
  if (entries.size() * sizeof(IndexEntry) <= kMaxPayload) {
    const Trailer trailer{.index_offset = state.sink->size()};
    SJ_CHECK(state.append(BlockType::kIndex, {reinterpret_cast<const std::uint8_t*>(entries.data()),
                                              entries.size() * sizeof(IndexEntry)}));
    SJ_CHECK(state.sink->append(as_bytes(trailer)));
  }
  return state.sink->finish();
}

void Writer::abandon() {
  state_->sink->abandon();
}

std::uint64_t Writer::bytes() const {
  return state_->sink->size();
}
std::uint64_t Writer::events() const {
  return state_->events;
}

}  // namespace sojourn::trace
