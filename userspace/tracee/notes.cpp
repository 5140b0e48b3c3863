#include "userspace/tracee/notes.h"

#include <cstring>
#include <optional>
#include <utility>

#include <sojourn/note_abi.h>

#include "userspace/tracee/procfs.h"

namespace sojourn::tracee {

namespace {

constexpr std::uint32_t kUsdt = 3;  // NT_STAPSDT, the only version that was ever in use
constexpr std::size_t kMaxWords = 4096;

// Takes values off the front of a note's description. Returns nothing from the first one on that
// does not fit.
class Description {
 public:
  explicit Description(std::span<const std::byte> bytes) : bytes_(bytes) {}

  template <typename T>
  std::optional<T> value() {
    if (bytes_.size() < sizeof(T)) return std::nullopt;
    T value;
    std::memcpy(&value, bytes_.data(), sizeof value);
    bytes_ = bytes_.subspan(sizeof value);
    return value;
  }

  std::optional<std::string> text() {
    const std::string_view rest(reinterpret_cast<const char*>(bytes_.data()), bytes_.size());
    const std::size_t end = rest.find('\0');
    if (end == std::string_view::npos) return std::nullopt;
    bytes_ = bytes_.subspan(end + 1);
    return std::string(rest.substr(0, end));
  }

 private:
  std::span<const std::byte> bytes_;
};

// Returns the distance by which prelink moved the sections. Prelink does not change the notes, but
// it moves the section .stapsdt.base, whose old address is in every note.
std::uint64_t moved_by(const Section* base, std::uint64_t noted_base) {
  return base != nullptr && noted_base != 0 ? base->address - noted_base : 0;
}

std::optional<UsdtNote> parse_usdt(const Section* base_section, std::span<const std::byte> bytes) {
  Description description(bytes);
  const auto site = description.value<std::uint64_t>();
  const auto base = description.value<std::uint64_t>();
  const auto semaphore = description.value<std::uint64_t>();
  auto provider = description.text();
  auto name = description.text();
  auto arguments = description.text();
  if (!semaphore || !provider || !name || !arguments) return std::nullopt;
  const std::uint64_t moved = moved_by(base_section, *base);
  return UsdtNote{.noted_site = *site,
                  .site = *site + moved,
                  .semaphore = *semaphore == 0 ? 0 : *semaphore + moved,
                  .provider = std::move(*provider),
                  .name = std::move(*name),
                  .arguments = std::move(*arguments)};
}

// `site`: which member of the note has the point's address.
template <typename Fixed>
Result<std::pair<Fixed, SelfDescription>> parse_self_description(const ElfFile& file,
                                                                 std::span<const std::byte> bytes,
                                                                 std::uint64_t Fixed::* site) {
  Description description(bytes);
  const auto version = Description(bytes).value<std::uint16_t>();
  if (version && *version != SJ_NOTE_VERSION)
    return fail(
        "self-description of version {}, but this program knows version {} only: use a sojourn of "
        "the version that the points were built with",
        *version, SJ_NOTE_VERSION);
  const auto fixed = description.value<Fixed>();
  auto point_words = description.text();
  auto field_words = description.text();
  auto source_file = description.text();
  if (!fixed || !point_words || !field_words || !source_file)
    return fail("self-description cut short");
  // A point that the linker dropped may have lost its words as well, which are not needed.
  if (fixed->fields_address != 0 && file.in_code((*fixed).*site)) {
    SJ_TRY(words, file.string_at(fixed->fields_address, kMaxWords));
    field_words = std::move(words);
  }
  return std::pair(*fixed, SelfDescription{.site = (*fixed).*site,
                                           .line = fixed->line,
                                           .arguments = fixed->arguments,
                                           .point_words = std::move(*point_words),
                                           .field_words = std::move(*field_words),
                                           .source_file = std::move(*source_file)});
}

Result<SelfDescription> parse_point_note(const ElfFile& file, std::span<const std::byte> bytes) {
  SJ_TRY(parsed, parse_self_description(file, bytes, &sj_note_point::site));
  return std::move(parsed.second);
}

Result<RingNote> parse_ring_note(const ElfFile& file, std::span<const std::byte> bytes) {
  SJ_TRY(parsed, parse_self_description(file, bytes, &sj_note_ring::id));
  auto& [fixed, description] = parsed;
  if (fixed.arguments > SJ_POINT_MAX_ARGUMENTS)
    return fail("self-description with {} arguments", fixed.arguments);
  return RingNote{.description = std::move(description),
                  .flag = fixed.flag,
                  .sizes = {fixed.size, fixed.size + fixed.arguments}};
}

}  // namespace

Result<ProbeNotes> read_probe_notes(const ElfFile& file) {
  SJ_TRY(all, file.notes());
  const Section* base_section = file.section(".stapsdt.base");
  ProbeNotes notes;
  for (const Note& note : all) {
    if (note.owner == "stapsdt" && note.type == kUsdt) {
      if (auto usdt = parse_usdt(base_section, note.description))
        notes.usdt.push_back(std::move(*usdt));
      else
        notes.malformed.emplace_back("USDT note cut short");
    } else if (note.owner == SJ_NOTE_NAME && note.type == SJ_NOTE_POINT) {
      if (auto description = parse_point_note(file, note.description))
        notes.descriptions.push_back(std::move(*description));
      else
        notes.malformed.push_back(description.error().text());
    } else if (note.owner == SJ_NOTE_NAME && note.type == SJ_NOTE_RING) {
      if (auto ring = parse_ring_note(file, note.description))
        notes.rings.push_back(std::move(*ring));
      else
        notes.malformed.push_back(ring.error().text());
    }
  }
  return notes;
}

}  // namespace sojourn::tracee
