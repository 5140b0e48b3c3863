#include "userspace/cli/deadline_option.h"

#include <charconv>
#include <cmath>
#include <string_view>

#include "analysis/present/words/text_format.h"
#include "userspace/cli/checks.h"
#include "userspace/cli/command.h"
#include "userspace/cli/tell.h"
#include "userspace/cli/units.h"

namespace sojourn::cli {
namespace {

// "slot", "2slots", "0.5 slots"
std::optional<double> parse_slots(std::string_view text) {
  for (const std::string_view ending : {"slots", "slot"}) {
    if (!text.ends_with(ending)) continue;
    text.remove_suffix(ending.size());
    while (text.ends_with(' ')) text.remove_suffix(1);
    if (text.empty()) return 1;
    double number = 0;
    const auto [rest, code] = std::from_chars(text.data(), text.data() + text.size(), number);
    if (code != std::errc() || rest != text.data() + text.size()) return std::nullopt;
    if (!(number > 0) || number > 1e6) return std::nullopt;
    return number;
  }
  return std::nullopt;
}

std::string check_deadline(const std::string& text) {
  return parse_slots(text) ? "" : check_duration(text);
}

}  // namespace

void DeadlineOption::define(Arguments& arguments, const std::string& help) {
  arguments
      .add_option("--deadline", text_,
                  help +
                      ". A time, e.g. 4ms, or a number of slots: slot, 2slots. The length of a "
                      "slot is measured from events that name their slot, or given by --slot")
      .type_name("TIME|SLOTS")
      .check(check_deadline);
  arguments.add_option("--slot", slot_, "The length of a slot, e.g. 500us")
      .type_name("TIME")
      .check(check_duration);
}

void DeadlineOption::check() {
  slots_ = parse_slots(text_);
  if (!slot_.empty()) {
    if (!slots_)
      refuse_usage("--slot says how long the slots of --deadline are, e.g. --deadline 2slots");
    slot_ns_ = static_cast<std::uint64_t>(parse_duration(slot_)->count());
  }
  if (!text_.empty() && !slots_) ns_ = static_cast<std::uint64_t>(parse_duration(text_)->count());
}

Result<std::uint64_t> DeadlineOption::in_time(const report::SlotLength& slots,
                                              const trace::Reader& reader) const {
  if (!slots_) return ns_;
  auto slot_ns = slot_ns_;
  if (!slot_ns) {
    const auto length = slots.length();
    if (!length)
      return fail(
          "--deadline {}: events of {} do not name enough slots one after the other: say how long "
          "a slot is, e.g. --slot 500us",
          text_, reader.path());
    slot_ns = length->ns;
    const auto& point = reader.schema().points[length->point];
    tell("a slot is {}: measured between {} slots of {} {}\n",
         present::duration(static_cast<double>(length->ns)), grouped(length->slots),
         letter(point.direction), point.name());
  }
  return static_cast<std::uint64_t>(std::llround(*slots_ * static_cast<double>(*slot_ns)));
}

}  // namespace sojourn::cli
