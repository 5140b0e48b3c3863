#include "userspace/coarse/site_maker.h"

#include <algorithm>
#include <array>
#include <iterator>
#include <utility>

#include <elf.h>

#include "analysis/model/links.h"
#include "analysis/model/unread.h"
#include "userspace/base/count_text.h"
#include "userspace/coarse/code/instruction_decoder.h"
#include "userspace/coarse/functions/function_names.h"
#include "userspace/tracee/procfs.h"

namespace sojourn::coarse {

namespace {

using tracee::printable;

// A function of more than kMaxCode bytes is decoded at its beginning only.
constexpr std::uint64_t kMaxCode = 1 << 20;
constexpr std::uint64_t kBeginning = 4096;
constexpr std::size_t kMaxName = 200;
constexpr std::size_t kMaxOfSpan = 100;  // half of the limit, as a span's name is used twice
constexpr std::uint8_t kResult = 10;     // word of pt_regs: rax
// At a uretprobe the return address is no longer on the stack.
constexpr std::int64_t kReturned = -8;

bool reads_memory(const Lowered& lowered) {
  const auto reads = [](const sj_step& step) { return step.bytes != 0; };
  return lowered.arg.kind == SJ_ARG_MEMORY ||
         std::ranges::any_of(lowered.chains, [&](const sj_chain& chain) {
           return std::ranges::any_of(chain.step, reads);
         });
}

sj_arg argument_of(std::uint8_t kind, std::int64_t value, std::uint8_t bytes) {
  return {.displacement = value,
          .kind = kind,
          .base = SJ_NO_REG,
          .index = SJ_NO_REG,
          .shift = 0,
          .bytes = bytes,
          .is_signed = 0,
          .low_bit = 0,
          .number = 0};
}

sj_arg constant(std::int64_t value) {
  return argument_of(SJ_ARG_CONST, value, 8);
}
// An expression that reads address 0, which fails, so that the value is marked as unread.
Lowered never_readable(const Lowered& like) {
  Lowered lowered{.arg = argument_of(SJ_ARG_MEMORY, 0, like.arg.bytes), .chains = {}};
  lowered.arg.is_signed = like.arg.is_signed;
  return lowered;
}

void add_value(Lowered value, std::string name, model::Role role, DraftSite& draft) {
  draft.point.fields.push_back({.name = std::move(name),
                                .role = role,
                                .bytes = value.arg.bytes,
                                .is_signed = value.arg.is_signed != 0});
  if (value.arg.kind == SJ_ARG_CHAIN)
    value.arg.displacement = static_cast<std::int64_t>(draft.site.chains.size());
  draft.site.args.push_back(value.arg);
  draft.site.chains.insert(draft.site.chains.end(), value.chains.begin(), value.chains.end());
}

Result<void> check(const DraftSite& draft) {
  if (draft.site.args.size() > SJ_MAX_ARGS)
    return fail("{} values, including those of links: at most {} can be read",
                draft.site.args.size(), SJ_MAX_ARGS);
  return model::check(draft.point);
}

void add_tests(const MapPoint& mapped, tracee::Site& site) {
  for (const MapCondition& condition : mapped.conditions)
    site.tests.push_back({.low = condition.number,
                          .width = 0,
                          .arg = static_cast<std::uint8_t>(condition.field),
                          .is_negated = condition.is_equal ? std::uint8_t{0} : std::uint8_t{1},
                          .other = condition.other ? static_cast<std::uint8_t>(*condition.other)
                                                   : std::uint8_t{SJ_NO_ARG},
                          .pad = {}});
}

// The places by the map, or, if it has none, by the function's name.
std::pair<std::string, std::string> places_of(const MapPoint& mapped, const std::string& shown) {
  const std::string name =
      place_name(shown, mapped.part == SpanPart::kPoint ? kMaxName : kMaxOfSpan);
  switch (mapped.part) {
    case SpanPart::kPoint:
      break;
    case SpanPart::kSpanBegin:
      return {mapped.src.empty() ? "call." + name : mapped.src,
              mapped.dest.empty() ? name : mapped.dest};
    case SpanPart::kSpanEnd:
      return {mapped.src.empty() ? name : mapped.src,
              mapped.dest.empty() ? "done." + name : mapped.dest};
  }
  return {mapped.src.empty() ? name : mapped.src, mapped.dest};
}

}  // namespace

Result<std::vector<DraftSite>> SiteMaker::make(const MapPoint& mapped) const {
  if (mapped.is_exit) return make_exits(mapped);
  SJ_TRY(entry, make_entry(mapped));
  std::vector<DraftSite> drafts;
  drafts.push_back(std::move(entry));
  return drafts;
}

Result<std::vector<DraftSite>> SiteMaker::make_span(const MapPoint& begin,
                                                    const MapPoint& end) const {
  SJ_TRY(drafts, make(begin));
  SJ_TRY(exits, make(end));
  for (const DraftSite& exit : exits)
    if (exit.about.probe == Probe::kExit && exit.about.offset == drafts.front().about.offset)
      return fail("it is entered and left by one instruction, '{}': there is no time between",
                  exit.about.instruction);
  std::ranges::move(exits, std::back_inserter(drafts));
  return std::move(drafts);
}

Result<std::vector<std::byte>> SiteMaker::read_code(CodeRange code) const {
  const auto offset = elf_.file_offset(code.address, code.bytes, PF_X);
  if (!offset) return fail("its code at {:#x} is not in the file", code.address);
  std::vector<std::byte> bytes(code.bytes);
  SJ_CHECK(elf_.read(*offset, bytes));
  return bytes;
}

Result<FunctionCode> SiteMaker::code_of(CodeRange range, std::vector<std::byte>& bytes) const {
  const bool is_whole = range.bytes != 0 && range.bytes <= kMaxCode;
  // The end of the segment may be nearer.
  if (!is_whole) range.bytes = kBeginning;
  while (!is_whole && range.bytes > 1 && !elf_.file_offset(range.address, range.bytes, PF_X))
    range.bytes /= 2;
  SJ_TRY(code, read_code(range));
  bytes = std::move(code);
  return FunctionCode{.address = range.address, .bytes = bytes, .is_whole = is_whole};
}

Result<SiteMaker::ProbeSpot> SiteMaker::entry_spot(const SiteNeeds& needs) const {
  std::vector<std::byte> bytes;
  SJ_TRY(code, code_of(function_.code, bytes));
  for (const CodeRange& piece : function_.pieces) {
    bool is_complete = false;
    const auto of_piece = piece.bytes <= kMaxCode ? read_code(piece) : fail("it is too long");
    if (of_piece) {
      const auto targets = jump_targets(*of_piece, piece.address, is_complete);
      code.entered_at.insert(code.entered_at.end(), targets.begin(), targets.end());
    }
    if (!is_complete) code.is_whole = false;
  }
  SJ_TRY(site, find_site(code, needs));
  return ProbeSpot{.address = function_.code.address + site.offset,
                   .stack_bytes = site.stack_bytes,
                   .is_stepped = site.is_stepped,
                   .has_result = false,
                   .probe = Probe::kEntry,
                   .instruction = site.instruction};
}

// The starts of all fields that are read at the function's entry.
Result<std::vector<ValueStart>> SiteMaker::starts_of(const MapPoint& mapped) const {
  std::vector<ValueStart> starts;
  std::size_t variable = 0;
  for (const MapField& field : mapped.fields) {
    if (field.is_inherited) continue;
    if (field.expression.variable.empty()) {
      starts.push_back(start_of_argument(field.expression.argument));
      continue;
    }
    const FoundVariable& found = function_.variables.at(variable++);
    if (!found.why_not.empty()) return fail("{}: {}", field.name, printable(found.why_not));
    starts.push_back(found.start);
  }
  return starts;
}

SiteNeeds SiteMaker::needs_of(std::span<const ValueStart> starts) const {
  SiteNeeds needs{.nops = settings_.options.nops};
  for (const ValueStart& start : starts) {
    needs.registers |= 1U << start.base;
    needs.stack_arguments = needs.stack_arguments || start.base == kStackPointer;
  }
  return needs;
}

bool SiteMaker::is_slow(const MapPoint& mapped) const {
  if (mapped.is_exit || mapped.part != SpanPart::kPoint || function_.is_changed_clone) return false;
  const auto starts = starts_of(mapped);
  if (!starts) return false;
  const auto spot = entry_spot(needs_of(*starts));
  return spot && spot->is_stepped;
}

// At a call the return address is not on the stack yet; at a tail call it is.
Result<DraftSite> SiteMaker::make_call(const MapPoint& mapped, const CallSite& call,
                                       const std::string& home) const {
  SJ_TRY(starts, starts_of(mapped));
  std::array<std::byte, 5> bytes{};
  const auto offset = elf_.file_offset(call.address, bytes.size(), PF_X);
  if (!offset) return fail("its code at {:#x} is not in the file", call.address);
  SJ_CHECK(elf_.read(*offset, bytes));
  const InstructionDecoder decoder;
  const auto one = decoder.decode(bytes);
  if (!one || !is_emulated(bytes))
    return fail("no kernel emulates the instruction at {:#x} of {}", call.address, file_.name);
  SJ_TRY(site, draft(mapped,
                     {.address = call.address,
                      .stack_bytes = call.is_jump ? 0 : kReturned,
                      .is_stepped = false,
                      .has_result = false,
                      .probe = Probe::kCall,
                      .instruction = decoder.text(*one, call.address)},
                     starts));
  site.point.file = home;
  site.about.function = fmt::format("{} called in {}", site.about.function,
                                    printable(file_.name.substr(file_.name.rfind('/') + 1)));
  site.about.offset = static_cast<std::int64_t>(call.address);
  site.site.probe = site.about.function + site.about.place();
  return std::move(site);
}

Result<DraftSite> SiteMaker::make_entry(const MapPoint& mapped) const {
  const bool counts_arguments = std::ranges::any_of(mapped.fields, [](const MapField& field) {
    return !field.is_inherited && field.expression.variable.empty();
  });
  if (function_.is_changed_clone && counts_arguments && mapped.function != function_.linked)
    return fail(
        "a clone whose arguments the compiler may have changed: name it as '{}' if they "
        "are right",
        printable(function_.linked));
  SJ_TRY(starts, starts_of(mapped));
  SJ_TRY(spot, entry_spot(needs_of(starts)));
  if (spot.is_stepped && !settings_.options.takes_slow_sites)
    return fail(
        "its best place for a probe, '{}' at +{:#x}, costs the target a single step at each "
        "hit, 10 us and more in a virtual machine: --allow-slow-sites takes it",
        spot.instruction, spot.address - function_.code.address);
  return draft(mapped, spot, starts);
}

// Exits that are not expensive need no option. Otherwise the options decide, the cheaper way first.
Result<std::vector<SiteMaker::ProbeSpot>> SiteMaker::exit_spots() const {
  const Options& options = settings_.options;
  if (options.takes_return_probes && settings_.no_return_probes.empty()) {
    auto spot = entry_spot(
        {.registers = 0, .stack_arguments = false, .return_address = true, .nops = options.nops});
    if (spot && (!spot->is_stepped || options.takes_slow_sites)) {
      spot->probe = Probe::kReturn;
      spot->stack_bytes = kReturned;
      spot->has_result = true;
      return std::vector<ProbeSpot>{*std::move(spot)};
    }
  }
  std::vector<std::byte> bytes;
  SJ_TRY(code, code_of(function_.code, bytes));
  std::vector<std::vector<std::byte>> bytes_of_pieces(function_.pieces.size());
  std::vector<FunctionCode> pieces;
  for (std::size_t at = 0; at < function_.pieces.size(); ++at) {
    SJ_TRY(piece, code_of(function_.pieces[at], bytes_of_pieces[at]));
    pieces.push_back(std::move(piece));
  }
  SJ_TRY(exits, find_exits(code, pieces));
  std::vector<ProbeSpot> spots;
  spots.reserve(exits.size());
  for (Exit& exit : exits)
    spots.push_back({.address = exit.address,
                     .stack_bytes = 0,
                     .is_stepped = exit.is_stepped,
                     .has_result = exit.is_return,
                     .probe = Probe::kExit,
                     .instruction = std::move(exit.instruction)});
  const auto slow = static_cast<std::size_t>(std::ranges::count_if(spots, &ProbeSpot::is_stepped));
  if (slow == 0 || options.takes_slow_sites) return spots;
  const std::string costs = fmt::format(
      "it is left by {} that cannot be emulated: a single step at each hit, 10 us and more in a "
      "virtual "
      "machine",
      base::counted(slow, "instruction"));
  if (!options.takes_return_probes)
    return fail(
        "{}: --allow-slow-sites takes them; --allow-uretprobe another way, where no exception can "
        "come through",
        costs);
  if (settings_.no_return_probes.empty())
    return fail("{}, and so does its beginning by a uretprobe: --allow-slow-sites takes them",
                costs);
  return fail("{}: --allow-slow-sites takes them. Not by a uretprobe: {}", costs,
              settings_.no_return_probes);
}

Result<std::vector<DraftSite>> SiteMaker::make_exits(const MapPoint& mapped) const {
  SJ_TRY(spots, exit_spots());
  std::vector<ValueStart> starts;
  for (const MapField& field : mapped.fields)
    if (!field.is_inherited)
      starts.push_back({.base = kResult, .steps = {}, .bytes = 8, .is_signed = false});
  std::vector<DraftSite> drafts;
  for (const ProbeSpot& spot : spots) {
    SJ_TRY(one, draft(mapped, spot, starts));
    drafts.push_back(std::move(one));
  }
  // All spots are one point, although some may not have all values.
  const bool can_any_fail = std::ranges::any_of(
      drafts, [](const DraftSite& one) { return model::unread_field(one.point).has_value(); });
  for (DraftSite& one : drafts) {
    if (!can_any_fail || model::unread_field(one.point)) continue;
    one.point.fields.push_back({.name = std::string(model::kUnreadField), .bytes = 2});
    one.site.args.push_back(argument_of(SJ_ARG_FAULTS, 0, 2));
    SJ_CHECK(check(one));
  }
  return drafts;
}

// Adds the fields that links::Resolver needs.
Result<void> SiteMaker::add_helpers(const MapPoint& mapped, const ProbeSpot& spot,
                                    DraftSite& draft) const {
  const auto add_constant = [&](std::string name, model::Role role, auto value) {
    draft.point.fields.push_back({.name = std::move(name), .role = role});
    draft.site.args.push_back(constant(static_cast<std::int64_t>(value)));
  };
  for (const MapLink& link : mapped.links)
    add_constant(model::link_field(link.how, link.place), model::Role::kLocal, link.end);
  if (mapped.part == SpanPart::kSpanBegin)
    add_constant(model::link_field(model::Link::kSpan, draft.point.dest), model::Role::kLocal,
                 model::LinkEnd::kGives);
  if (mapped.part == SpanPart::kSpanEnd)
    add_constant(model::link_field(model::Link::kSpan, draft.point.src), model::Role::kLocal,
                 model::LinkEnd::kTakes);
  for (const MapLife& life : mapped.lives)
    add_constant(std::string(model::kLifePrefix) + life.field, model::Role::kProperty, life.what);
  for (const MapField& field : mapped.fields)
    if (field.is_inherited)
      add_constant(std::string(model::kInheritedPrefix) + field.name, model::Role::kProperty,
                   field.is_of_own_call ? model::Inherits::kOwn : model::Inherits::kAround);
  if (!settings_.needs_calls) return {};
  const ValueStart start{.base = kStackPointer, .steps = {only_add(0)}};
  SJ_TRY(stack, lower({}, start, spot.stack_bytes));
  add_value(std::move(stack),
            std::string(mapped.is_exit ? model::kExitStackField : model::kStackPointerField),
            model::Role::kProperty, draft);
  return {};
}

Result<DraftSite> SiteMaker::draft(const MapPoint& mapped, const ProbeSpot& spot,
                                   std::span<const ValueStart> starts) const {
  auto [src, dest] = places_of(mapped, function_.shown);
  DraftSite draft{.point = {.direction = mapped.direction,
                            .src = std::move(src),
                            .dest = std::move(dest),
                            .fields = {},
                            .file = file_.name},
                  .site = {},
                  .about = {}};
  bool can_fail = false;
  auto start = starts.begin();
  for (const MapField& field : mapped.fields) {
    if (field.is_inherited) {
      draft.point.fields.push_back({.name = field.name, .role = field.role});
      draft.site.args.push_back(constant(0));
      can_fail = true;  // if no call around it has the value
      continue;
    }
    auto lowered = lower(field.expression, *start++, spot.stack_bytes);
    if (!lowered) return std::unexpected(std::move(lowered).error().within(field.name));
    if (mapped.is_exit && !spot.has_result) lowered = never_readable(*lowered);
    can_fail = can_fail || reads_memory(*lowered);
    add_value(std::move(*lowered), field.name, field.role, draft);
    draft.point.fields.back().is_address = field.is_address;
  }
  SJ_CHECK(add_helpers(mapped, spot, draft));
  add_tests(mapped, draft.site);
  if (can_fail) {
    draft.point.fields.push_back({.name = std::string(model::kUnreadField), .bytes = 2});
    draft.site.args.push_back(argument_of(SJ_ARG_FAULTS, 0, 2));
  }
  SJ_CHECK(check(draft));
  const auto offset = elf_.file_offset(spot.address, 1, PF_X);
  if (!offset) return fail("its code at {:#x} is not in the file", spot.address);
  draft.site.offset = *offset;
  draft.site.is_stepped = spot.is_stepped;
  draft.site.is_return = spot.probe == Probe::kReturn;
  draft.site.is_optional = mapped.is_optional;
  // A part of the function may lie in front of it.
  const auto from_entry = static_cast<std::int64_t>(spot.address - function_.code.address);
  draft.about = {.site = 0,
                 .function = printable(function_.shown),
                 .offset = from_entry,
                 .probe = spot.probe,
                 .instruction = spot.instruction,
                 .folded = function_.folded};
  draft.site.probe = draft.about.function + draft.about.place();
  return draft;
}

}  // namespace sojourn::coarse
