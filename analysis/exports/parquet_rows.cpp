#include "analysis/exports/parquet_rows.h"

#include <type_traits>

#include <zlib.h>

#include "analysis/exports/little_endian.h"
#include "analysis/exports/safe_text.h"

namespace sojourn::exports {

namespace {

constexpr std::string_view kParquetMagic = "PAR1";

// The numbers of parquet.thrift.
enum class PhysicalType : std::uint8_t { kBoolean = 0, kInt64 = 2, kByteArray = 6 };
constexpr std::int64_t kOptional = 1;
constexpr std::int64_t kUtf8 = 0;
constexpr std::int64_t kUint64 = 14;
constexpr std::int64_t kInt64 = 18;
constexpr std::int64_t kPlain = 0;
constexpr std::int64_t kRle = 3;
constexpr std::int64_t kGzip = 2;

PhysicalType physical(CellType type) {
  if (type == CellType::kBool) return PhysicalType::kBoolean;
  return type == CellType::kText ? PhysicalType::kByteArray : PhysicalType::kInt64;
}

// A structure in Thrift's compact form. Fields come in the order of their numbers.
class Thrift {
 public:
  void number(int field, std::int64_t value, bool is_long = false) {
    begin_field(field, is_long ? 6 : 5);
    zigzag(value);
  }
  void text(int field, std::string_view value) {
    begin_field(field, 8);
    bytes(value);
  }
  // Writes a nested structure with all of its fields.
  void structure(int field, const Thrift& value) {
    begin_field(field, 12);
    item(value);
  }
  // Begins a list of `items` of a type: 5: numbers, 8: texts, 12: structures.
  void list(int field, std::size_t items, std::uint8_t type) {
    begin_field(field, 9);
    if (items < 15) {
      out_ += static_cast<char>(items << 4U | type);
    } else {
      out_ += static_cast<char>(0xF0U | type);
      varint(items);
    }
  }
  void item(std::int64_t value) { zigzag(value); }
  void item(std::string_view value) { bytes(value); }
  void item(const Thrift& value) { out_ += value.complete(); }

  std::string complete() const { return out_ + '\0'; }

 private:
  void begin_field(int field, std::uint8_t type) {
    out_ += static_cast<char>(static_cast<unsigned>(field - last_) << 4U | type);
    last_ = field;
  }
  void varint(std::uint64_t value) {
    for (; value >= 0x80; value >>= 7U) out_ += static_cast<char>(value | 0x80U);
    out_ += static_cast<char>(value);
  }
  void zigzag(std::int64_t value) {
    varint(static_cast<std::uint64_t>(value) << 1U ^ static_cast<std::uint64_t>(value >> 63));
  }
  void bytes(std::string_view value) {
    varint(value.size());
    out_ += value;
  }

  std::string out_;
  int last_ = 0;
};

void put_bit(std::string& out, std::size_t at, bool is_set) {
  if (at % 8 == 0) out += '\0';
  if (is_set) out.back() = static_cast<char>(static_cast<unsigned char>(out.back()) | 1U << at % 8);
}

Result<std::string> gzipped(const std::string& plain) {
  constexpr int kGzipWindow = 15 + 16;
  constexpr int kMemory = 8;
  z_stream stream{};
  if (deflateInit2(&stream, Z_DEFAULT_COMPRESSION, Z_DEFLATED, kGzipWindow, kMemory,
                   Z_DEFAULT_STRATEGY) != Z_OK)
    return fail("gzip {} bytes: out of memory", plain.size());
  std::string packed(deflateBound(&stream, static_cast<uLong>(plain.size())), '\0');
  // zlib only reads through this pointer, although its type allows writing.
  stream.next_in = reinterpret_cast<Bytef*>(const_cast<char*>(plain.data()));
  stream.avail_in = static_cast<uInt>(plain.size());
  stream.next_out = reinterpret_cast<Bytef*>(packed.data());
  stream.avail_out = static_cast<uInt>(packed.size());
  const int done = deflate(&stream, Z_FINISH);
  packed.resize(stream.total_out);
  deflateEnd(&stream);
  if (done != Z_STREAM_END) return fail("gzip {} bytes: {}", plain.size(), done);
  return packed;
}

Thrift schema_element(const Column& column) {
  Thrift element;
  element.number(1, static_cast<std::int64_t>(physical(column.type)));
  element.number(3, kOptional);
  element.text(4, utf8_text(column.name));
  if (column.type == CellType::kText) element.number(6, kUtf8);
  if (column.type == CellType::kUnsigned) element.number(6, kUint64);
  if (column.type == CellType::kInteger) element.number(6, kInt64);
  return element;
}

}  // namespace

Result<void> ParquetRows::write(std::string_view bytes) {
  written_ += bytes.size();
  return write_(bytes);
}

Result<void> ParquetRows::begin(std::span<const Column> columns) {
  columns_.assign(columns.begin(), columns.end());
  values_.resize(columns_.size());
  return write(kParquetMagic);
}

Result<void> ParquetRows::row(std::span<const Cell> cells) {
  for (std::size_t at = 0; at < cells.size(); ++at) {
    Values& values = values_[at];
    put_bit(values.is_there, rows_, !std::holds_alternative<std::monostate>(cells[at]));
    std::visit(
        [&](const auto& value) {
          using Value = std::remove_cvref_t<decltype(value)>;
          if constexpr (std::is_same_v<Value, bool>) {
            put_bit(values.plain, values.bools++, value);
          } else if constexpr (std::is_integral_v<Value>) {
            put_in(values.plain, static_cast<std::uint64_t>(value), 8);
          } else if constexpr (std::is_same_v<Value, std::string_view>) {
            const std::string text = utf8_text(value);
            put_in(values.plain, text.size(), 4);
            values.plain += text;
          }
        },
        cells[at]);
  }
  return ++rows_ == kGroupRows ? write_group() : Result<void>();
}

void ParquetRows::note(std::string_view key, std::string_view value) {
  notes_.emplace_back(key, utf8_text(value));
}

Result<void> ParquetRows::write_group() {
  Group& group = groups_.emplace_back();
  group.rows = rows_;
  for (Values& values : values_) {
    SJ_TRY(chunk, write_chunk(values));
    group.chunks.push_back(chunk);
    values = {};
  }
  rows_ = 0;
  return {};
}

// Writes a page: which rows have a value, as one run of bits, and those values.
Result<ParquetRows::Chunk> ParquetRows::write_chunk(const Values& values) {
  std::string levels;
  for (std::size_t run = values.is_there.size() << 1U | 1U; run != 0; run >>= 7U)
    levels += static_cast<char>(run >= 0x80 ? run | 0x80U : run);
  levels += values.is_there;
  std::string page;
  put_in(page, levels.size(), 4);
  page += levels;
  page += values.plain;
  SJ_TRY(packed, gzipped(page));
  Thrift of_data;
  of_data.number(1, static_cast<std::int64_t>(rows_));
  of_data.number(2, kPlain);
  of_data.number(3, kRle);
  of_data.number(4, kRle);
  Thrift header;
  header.number(1, 0);
  header.number(2, static_cast<std::int64_t>(page.size()));
  header.number(3, static_cast<std::int64_t>(packed.size()));
  header.structure(5, of_data);
  const std::string head = header.complete();
  const Chunk chunk = {.offset = written_,
                       .plain_bytes = head.size() + page.size(),
                       .packed_bytes = head.size() + packed.size()};
  SJ_CHECK(write(head));
  SJ_CHECK(write(packed));
  return chunk;
}

std::string ParquetRows::footer() const {
  Thrift file;
  file.number(1, 1);
  file.list(2, columns_.size() + 1, 12);
  Thrift root;
  root.text(4, "sojourn");
  root.number(5, static_cast<std::int64_t>(columns_.size()));
  file.item(root);
  std::uint64_t rows = 0;
  for (const Column& column : columns_) file.item(schema_element(column));
  for (const Group& group : groups_) rows += group.rows;
  file.number(3, static_cast<std::int64_t>(rows), true);
  file.list(4, groups_.size(), 12);
  for (const Group& group : groups_) {
    Thrift described;
    described.list(1, group.chunks.size(), 12);
    std::uint64_t bytes = 0;
    for (std::size_t at = 0; at < group.chunks.size(); ++at) {
      const Chunk& chunk = group.chunks[at];
      bytes += chunk.plain_bytes;
      Thrift about;
      about.number(1, static_cast<std::int64_t>(physical(columns_[at].type)));
      about.list(2, 2, 5);
      about.item(kPlain);
      about.item(kRle);
      about.list(3, 1, 8);
      about.item(std::string_view(utf8_text(columns_[at].name)));
      about.number(4, kGzip);
      about.number(5, static_cast<std::int64_t>(group.rows), true);
      about.number(6, static_cast<std::int64_t>(chunk.plain_bytes), true);
      about.number(7, static_cast<std::int64_t>(chunk.packed_bytes), true);
      about.number(9, static_cast<std::int64_t>(chunk.offset), true);
      Thrift column;
      column.number(2, static_cast<std::int64_t>(chunk.offset), true);
      column.structure(3, about);
      described.item(column);
    }
    described.number(2, static_cast<std::int64_t>(bytes), true);
    described.number(3, static_cast<std::int64_t>(group.rows), true);
    file.item(described);
  }
  file.list(5, notes_.size(), 12);
  for (const auto& [key, value] : notes_) {
    Thrift pair;
    pair.text(1, key);
    pair.text(2, value);
    file.item(pair);
  }
  file.text(6, "sojourn");
  return file.complete();
}

Result<void> ParquetRows::finish() {
  if (rows_ != 0) SJ_CHECK(write_group());
  const std::string described = footer();
  SJ_CHECK(write(described));
  std::string end;
  put_in(end, described.size(), 4);
  end += kParquetMagic;
  return write(end);
}

}  // namespace sojourn::exports
