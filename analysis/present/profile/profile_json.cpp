// A profile for programs. Keys are stable; docs/capture.md lists them.
#include <utility>

#include <nlohmann/json.hpp>

#include "analysis/present/profile/profile_content.h"
#include "analysis/profile/work_parts.h"

namespace sojourn::present {

using profile::HotFunction;
using profile::HotFunctions;

namespace {

nlohmann::ordered_json functions_json(const ProfileContent& content, const HotFunctions& hot) {
  auto list = nlohmann::ordered_json::array();
  for (const HotFunction& hot_one : hot.functions) {
    const bool is_known = hot_one.function != profile::kNoFunction;
    const profile::Function about =
        is_known ? content.names.function(hot_one.function) : profile::Function{};
    list.push_back({{"function", about.name},
                    {"module", about.module},
                    {"kernel", about.is_kernel},
                    {"named", about.has_name},
                    {"self_ns", hot_one.self.weight},
                    {"self_samples", hot_one.self.samples},
                    {"total_ns", hot_one.total.weight},
                    {"total_samples", hot_one.total.samples}});
  }
  return list;
}

}  // namespace

nlohmann::ordered_json profile_json(const ProfileContent& content) {
  const HotFunctions hot = hot_functions(content.work, content.names, content.wanted);
  auto places = nlohmann::ordered_json::array();
  for (const auto& [place, amount] : profile::parts_by_place(content.work, content.wanted)) {
    nlohmann::ordered_json dir = nullptr;
    nlohmann::ordered_json at = nullptr;
    if (place != profile::kBetweenUnits) {
      dir = std::string(1, letter(content.work.topology().places[place].direction));
      at = content.work.topology().places[place].name;
    }
    const auto of_place = hot_functions(content.work, content.names,
                                        [&, here = place](const profile::ThreadLocation& one) {
                                          return content.wanted(one) && one.place == here;
                                        });
    places.push_back({{"dir", dir},
                      {"at", at},
                      {"ns", amount.weight},
                      {"samples", amount.samples},
                      {"functions", functions_json(content, of_place)}});
  }
  auto between = nlohmann::ordered_json::array();
  for (const auto& [ends, amount] : profile::parts_between_units(content.work, content.wanted))
    between.push_back({{"after", content.point(ends.first)},
                       {"before", content.point(ends.second)},
                       {"ns", amount.weight},
                       {"samples", amount.samples}});
  auto threads = nlohmann::ordered_json::array();
  for (const auto& [tid, amount] : profile::parts_by_thread(content.work, content.wanted)) {
    const auto of_thread = hot_functions(content.work, content.names,
                                         [&, here = tid](const profile::ThreadLocation& one) {
                                           return content.wanted(one) && one.tid == here;
                                         });
    threads.push_back({{"tid", tid},
                       {"name", content.thread(tid)},
                       {"ns", amount.weight},
                       {"samples", amount.samples},
                       {"functions", functions_json(content, of_thread)}});
  }
  return {{"target", {{"pid", content.target.pid}, {"name", content.target.name}}},
          {"period_ns", content.counter.period},
          {"user_only", content.counter.user_only},
          {"ns", hot.all.weight},
          {"samples", hot.all.samples},
          {"kernel_ns", hot.in_kernel.weight},
          {"without_stack_samples", hot.all.samples - hot.with_stack.samples},
          {"short_stack_samples", hot.short_ones.samples},
          {"functions", functions_json(content, hot)},
          {"hops", std::move(places)},
          {"between_units", std::move(between)},
          {"threads", std::move(threads)}};
}

}  // namespace sojourn::present
