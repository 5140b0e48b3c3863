#include "userspace/coarse/suggest.h"

#include <algorithm>
#include <utility>

#include <fmt/format.h>

#include "userspace/target/procfs.h"
#include "userspace/target/selection.h"

namespace sojourn::coarse {

namespace {

// In TOML's quotes. Names were made printable before.
std::string toml_string(std::string_view text) {
  std::string words = "\"";
  for (const char c : text) {
    if (c == '"' || c == '\\') words += '\\';
    words += c;
  }
  return words + '"';
}

std::string base_name(const std::string& file) {
  return file.substr(file.rfind('/') + 1);
}

// By file, then by name, as layers lie together so.
std::vector<std::size_t> in_order(const Found& found) {
  std::vector<std::size_t> order(found.mapped.size());
  for (std::size_t at = 0; at < order.size(); ++at) order[at] = at;
  const auto key = [&](std::size_t at) {
    const MappedSite& site = found.mapped[at];
    return std::pair(found.points.sites[site.site].file, std::string_view(site.function));
  };
  std::ranges::sort(order, {}, key);
  return order;
}

std::string entry(const Found& found, const MappedSite& site, std::string_view comment,
                  std::string_view in_front) {
  const target::Site& where = found.points.sites[site.site];
  return fmt::format(
      "\n# {1}\n{0}[[point]]\n{0}function = {2}\n{0}library = {3}\n", in_front, comment,
      toml_string(site.function),
      toml_string(target::printable(base_name(found.points.files[where.file].name))));
}

}  // namespace

Result<Found> find_data_path(const target::Process& process) {
  SJ_TRY(found, find_guesses(process, kMostSuggestions));
  // One point for each function: what comes first may have taken a place that another has, too.
  std::vector<bool> wanted(found.points.schema.points.size());
  std::vector<MappedSite> mapped;
  std::vector<target::Site> sites;
  for (MappedSite& site : found.mapped) {
    const target::Site& where = found.points.sites[site.site];
    if (wanted[where.point] || mapped.size() == kMostSuggestions) continue;
    wanted[where.point] = true;
    site.site = sites.size();
    sites.push_back(where);
    mapped.push_back(std::move(site));
  }
  found.points.sites = std::move(sites);
  found.mapped = std::move(mapped);
  found.points = target::select(std::move(found.points), wanted);
  return found;
}

std::string suggested_map(const Found& found, std::span<const Call> calls,
                          const std::string& about) {
  std::string hit;
  std::string hot;
  std::string idle;
  for (const std::size_t at : in_order(found)) {
    const MappedSite& site = found.mapped[at];
    const Call& call = calls[found.points.sites[site.site].point];
    if (call.is_too_hot)
      hot +=
          entry(found, site, fmt::format("{:.0f} calls a second: too many", call.a_second), "# ");
    else if (call.a_second > 0)
      hit += entry(found, site, fmt::format("{:.0f} calls a second", call.a_second), "");
    else
      idle += fmt::format("# {}\n", site.function);
  }
  std::string text = fmt::format(
      "about = {}\n\n# Functions that look like the data path, by their names. Throw out what is "
      "not, and say "
      "of the\n# others from where a unit comes and where it goes (direction, src, dest), and what "
      "it is "
      "known by\n# (sn = \"*(u32*)(arg1 + 8)\", local = [\"sn\"]): docs/coarse-tracing.md.\n",
      toml_string(about));
  text += hit;
  if (!hot.empty()) text += "\n# Called so often that tracing would be felt:\n" + hot;
  if (!idle.empty()) text += "\n# Not called while it was looked at:\n" + idle;
  return text;
}

}  // namespace sojourn::coarse
