#include "analysis/page/page_profile.h"

#include <algorithm>
#include <cstdint>
#include <map>
#include <tuple>
#include <utility>

#include <nlohmann/json.hpp>

#include "analysis/present/profile/profile_content.h"
#include "analysis/profile/stack_names.h"
#include "analysis/profile/work_parts.h"
#include "analysis/trace/reader.h"

namespace sojourn::page {

using nlohmann::ordered_json;

namespace {

// Adds the stacks. A stack occurs once for each hop and thread that has it.
void add_stacks(const present::ProfileContent& content, ordered_json& document) {
  std::map<std::uint16_t, std::size_t> hops;  // their indices in "hops"
  for (const auto& [place, amount] : profile::parts_by_place(content.work, content.wanted))
    hops.emplace(place, hops.size());
  using StackKey = std::tuple<std::size_t, std::uint32_t, std::uint32_t>;  // hop, thread, stack
  std::map<StackKey, profile::SampleSum> stacks;
  for (const auto& [key, amount] : content.work.stacks())
    stacks[{hops.at(key.at.place), key.at.tid, key.stack}].add(amount);

  std::map<std::uint32_t, std::size_t> numbers;
  auto names = ordered_json::array();
  auto list = ordered_json::array();
  for (const auto& [key, amount] : stacks) {
    const auto& [hop, tid, stack] = key;
    auto functions = ordered_json::array();
    for (const std::uint32_t function : content.names.functions_of(stack)) {
      const auto [known, is_new] = numbers.try_emplace(function, numbers.size());
      if (is_new) {
        const profile::Function& about = content.names.function(function);
        names.push_back(
            {{"function", about.name}, {"module", about.module}, {"kernel", about.is_kernel}});
      }
      functions.push_back(known->second);
    }
    list.push_back({{"hop", hop},
                    {"tid", tid},
                    {"functions", std::move(functions)},
                    {"ns", amount.weight},
                    {"samples", amount.samples}});
  }
  document["names"] = std::move(names);
  document["stacks"] = std::move(list);
}

}  // namespace

Result<ordered_json> profile_of(Executor& executor, pipeline::TraceInput& input,
                                profile::SampledWork::SampleFilter wanted,
                                const pipeline::Progress& progress) {
  trace::Reader& reader = input.reader();
  const auto& counters = reader.profile().counters;
  const auto counter = std::ranges::find(counters, model::kProfile, &model::Counter::name);
  if (counter == counters.end()) return ordered_json{{"missing", ""}};
  if (!counter->missing.empty()) return ordered_json{{"missing", counter->missing}};
  profile::SampledWork work(reader.schema(), input.topology(), reader.profile(), std::move(wanted));
  SJ_CHECK(pipeline::read_events(executor, reader,
                                 {.progress = progress, .consume = [&](const auto& events) {
                                    work.consume(events);
                                    return true;
                                  }}));
  work.finish();
  const profile::StackNames names(reader.profile());
  const present::ProfileContent content = {
      .target = reader.target(),
      .counter = *counter,
      .work = work,
      .names = names,
      .schema = reader.schema(),
      .threads = profile::thread_names(reader.context()),
      .wanted = [](const profile::ThreadLocation&) { return true; }};
  ordered_json document = present::profile_json(content);
  add_stacks(content, document);
  return document;
}

}  // namespace sojourn::page
