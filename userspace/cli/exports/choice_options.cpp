#include "userspace/cli/exports/choice_options.h"

#include <cstdint>

#include <fmt/format.h>

#include "userspace/cli/checks.h"

namespace sojourn::cli {

namespace {

constexpr std::uint64_t kMax = 1'000'000;
constexpr std::size_t kWorst = 100;
constexpr std::size_t kSample = 1000;
constexpr const char* kAll = "all";

}  // namespace

void ChoiceOptions::define(Arguments& arguments) {
  arguments
      .add_option("--worst", worst_,
                  fmt::format("With otlp: this many of the slowest packets of each direction; by "
                              "default {}",
                              kWorst))
      .type_name("N")
      .check(whole_number(0, kMax));
  arguments
      .add_option("--sample", sample_,
                  fmt::format("With otlp: this many packets beside these, or all of them; by "
                              "default {}",
                              kSample))
      .type_name("N|all")
      .check([](const std::string& text) {
        return text == kAll ? std::string() : whole_number(0, kMax)(text);
      });
}

std::size_t ChoiceOptions::worst() const {
  return worst_.empty() ? kWorst : std::stoul(worst_);
}

std::optional<std::size_t> ChoiceOptions::sample() const {
  if (sample_ == kAll) return std::nullopt;
  return sample_.empty() ? kSample : std::stoul(sample_);
}

}  // namespace sojourn::cli
