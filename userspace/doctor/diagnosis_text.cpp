#include "userspace/doctor/diagnosis_text.h"

#include <algorithm>
#include <iterator>
#include <string_view>

#include <fmt/format.h>

namespace sojourn::doctor {

namespace {

constexpr std::size_t kWidth = 110;

std::string_view name(CheckStatus verdict) {
  switch (verdict) {
    case CheckStatus::kPass:
      return "pass";
    case CheckStatus::kDegraded:
      return "degraded";
    case CheckStatus::kNo:
      break;
  }
  return "no";
}

// The words in lines of at most kWidth, all but the first one indented.
void append_wrapped(std::string& text, std::string line, std::string_view words,
                    std::size_t indent) {
  bool at_start = true;
  while (!words.empty()) {
    const auto end = std::min(words.find(' '), words.size());
    if (!at_start && line.size() + 1 + end > kWidth) {
      text += line + '\n';
      line.assign(indent, ' ');
      at_start = true;
    }
    if (!at_start) line += ' ';
    line += words.substr(0, end);
    at_start = false;
    words.remove_prefix(std::min(end + 1, words.size()));
  }
  text += line + '\n';
}

std::string ways_in_words(const UsableEngines& ways) {
  if (!ways.any())
    return fmt::format("recording will not work: not by eBPF: {}; not by rings: {}",
                       ways.why_not_bpf, ways.why_not_rings);
  if (!ways.why_not_bpf.empty())
    return "recording will work by rings; not by eBPF: " + ways.why_not_bpf;
  if (!ways.why_not_rings.empty())
    return "recording will work by eBPF; not by rings: " + ways.why_not_rings;
  return "recording will work, by eBPF and by rings";
}

}  // namespace

std::string to_text(const Diagnosis& diagnosis) {
  std::size_t widest = 0;
  for (const Check& check : diagnosis.checks) widest = std::max(widest, check.title.size());
  std::string text;
  for (const Check& check : diagnosis.checks) {
    const std::string head =
        fmt::format("{:<8}  {:<{}}  ", name(check.verdict), check.title, widest);
    append_wrapped(text, head, check.finding, head.size());
    if (!check.advice.empty())
      append_wrapped(text, std::string(head.size(), ' ') + "-> ", check.advice, head.size() + 3);
  }
  text += '\n';
  append_wrapped(text, {}, ways_in_words(diagnosis.ways), 0);
  return text;
}

nlohmann::ordered_json to_json(const Diagnosis& diagnosis) {
  auto checks = nlohmann::ordered_json::array();
  for (const Check& check : diagnosis.checks) {
    nlohmann::ordered_json one = {{"id", check.id},
                                  {"verdict", name(check.verdict)},
                                  {"finding", check.finding},
                                  {"advice", check.advice}};
    one.update(check.values);
    checks.push_back(std::move(one));
  }
  const auto way = [](const std::string& why_not) {
    return nlohmann::ordered_json{{"works", why_not.empty()}, {"why_not", why_not}};
  };
  return {{"works", diagnosis.ways.any()},
          {"engines",
           {{"bpf", way(diagnosis.ways.why_not_bpf)}, {"ring", way(diagnosis.ways.why_not_rings)}}},
          {"checks", std::move(checks)}};
}

}  // namespace sojourn::doctor
