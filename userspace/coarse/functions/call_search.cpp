#include "userspace/coarse/functions/call_search.h"

#include <chrono>

#include <nlohmann/json.hpp>

#include "userspace/symbols/bounded_child.h"

namespace sojourn::coarse {

namespace {

using nlohmann::json;

constexpr std::size_t kMaxCallAnswer = 1 << 20;
constexpr std::chrono::seconds kMaxCallTime(20);

}  // namespace

Result<CallsInFile> find_calls(const tracee::ElfFile& file, const std::string& linked,
                               std::optional<std::uint64_t> own) {
  const auto look = [&] {
    const symbols::UnwindTable table(file.fd());
    const CallsInFile found = calls_in(file, table, linked, own);
    json sites = json::array();
    for (const CallSite& site : found.sites) sites.push_back({site.address, site.is_jump});
    return json{
        {"sites", sites}, {"pointers", found.has_pointers}, {"pointed_to", found.is_pointed_to}}
        .dump();
  };
  auto text = symbols::run_in_bounded_child(look, kMaxCallAnswer, kMaxCallTime);
  if (!text) return std::unexpected(std::move(text).error().within(file.name()));
  const json answer = json::parse(*text, nullptr, false);
  CallsInFile found;
  try {
    found.has_pointers = answer.at("pointers").get<bool>();
    found.is_pointed_to = answer.at("pointed_to").get<bool>();
    for (const json& site : answer.at("sites"))
      found.sites.push_back(
          {.address = site.at(0).get<std::uint64_t>(), .is_jump = site.at(1).get<bool>()});
  } catch (const json::exception&) {
    return fail("{}: its calls cannot be read", file.name());
  }
  return found;
}

}  // namespace sojourn::coarse
