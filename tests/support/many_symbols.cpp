#include "tests/support/many_symbols.h"

#include <cstring>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <stdexcept>
#include <vector>

#include <elf.h>
#include <fmt/format.h>

namespace sojourn::test {

namespace {

constexpr std::uint64_t kNowhere = 0x40000000;  // behind all code of the programs that are copied
constexpr std::uint64_t kFunctionBytes = 48;

std::string read_all(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(file), {}};
}

template <typename T>
T at(const std::string& bytes, std::size_t offset) {
  T value{};
  if (offset + sizeof value > bytes.size()) throw std::runtime_error("it ends too early");
  std::memcpy(&value, bytes.data() + offset, sizeof value);
  return value;
}

template <typename T>
void put(std::string& bytes, std::size_t offset, const T& value) {
  std::memcpy(bytes.data() + offset, &value, sizeof value);
}

// "_ZN3net12layer_0000017...6method_0000123Ev", names as namespaces and classes make them long.
std::string name_of(std::size_t number, std::size_t bytes) {
  std::string name = "_ZN6srsran";
  const auto add = [&](const std::string& word) { name += fmt::format("{}{}", word.size(), word); };
  add(fmt::format("layer_{:04}", number / 997));
  while (name.size() + 40 < bytes) add(fmt::format("adapter_between_layers_{}", name.size()));
  add(fmt::format("handle_number_{}", number));
  return name + "EjRKNS_11byte_bufferE";
}

}  // namespace

void copy_with_symbols(const std::string& from, const std::string& to, std::size_t count,
                       std::size_t name_bytes) {
  std::string bytes = read_all(from);
  const auto header = at<Elf64_Ehdr>(bytes, 0);
  std::size_t table_at = 0;
  for (std::size_t index = 0; index < header.e_shnum; ++index) {
    const std::size_t here = header.e_shoff + index * sizeof(Elf64_Shdr);
    if (at<Elf64_Shdr>(bytes, here).sh_type == SHT_SYMTAB) table_at = here;
  }
  if (table_at == 0) throw std::runtime_error(from + " has no symbols");
  auto table = at<Elf64_Shdr>(bytes, table_at);
  const std::size_t names_at = header.e_shoff + table.sh_link * sizeof(Elf64_Shdr);
  auto names = at<Elf64_Shdr>(bytes, names_at);

  std::string texts = bytes.substr(names.sh_offset, names.sh_size);
  std::string rows = bytes.substr(table.sh_offset, table.sh_size);
  for (std::size_t number = 0; number < count; ++number) {
    Elf64_Sym symbol{};
    symbol.st_name = static_cast<Elf64_Word>(texts.size());
    symbol.st_info = ELF64_ST_INFO(STB_LOCAL, STT_FUNC);
    symbol.st_shndx = 1;
    symbol.st_value = kNowhere + number * kFunctionBytes;
    symbol.st_size = kFunctionBytes;
    rows.append(reinterpret_cast<const char*>(&symbol), sizeof symbol);
    texts += name_of(number, name_bytes);
    texts += '\0';
  }
  bytes.resize((bytes.size() + 7) / 8 * 8);
  table.sh_offset = bytes.size();
  table.sh_size = rows.size();
  bytes += rows;
  names.sh_offset = bytes.size();
  names.sh_size = texts.size();
  bytes += texts;
  put(bytes, table_at, table);
  put(bytes, names_at, names);
  std::ofstream file(to, std::ios::binary);
  file << bytes;
  file.close();
  if (!file) throw std::runtime_error("write " + to);
  std::filesystem::permissions(to, std::filesystem::status(from).permissions());
}

}  // namespace sojourn::test
