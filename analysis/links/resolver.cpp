#include "analysis/links/resolver.h"

#include <algorithm>
#include <functional>

#include "analysis/model/unread.h"

namespace sojourn::links {

namespace {

constexpr std::size_t kMaxThreads = 65'536;
constexpr std::size_t kMaxAddresses = 1 << 20;
constexpr std::size_t kMaxCalls = 1024;  // open on one thread, of the points' functions
// Stack pointers that are farther apart belong to different stacks, e.g. of coroutines.
constexpr std::uint64_t kMaxStack = std::uint64_t{64} << 20;
// A call that seems to be open for longer has ended without a later hit to show it.
constexpr std::uint64_t kMaxCallNs = 1'000'000'000;

// The auxiliary field that says which call's value the field inherits.
std::optional<std::size_t> inheritance(const model::Point& point, const model::Field& field) {
  return point.field(std::string(model::kInheritedPrefix) + field.name);
}

using Numbered = std::vector<std::pair<std::uint32_t, std::uint64_t>>;

bool value_in(const Numbered& all, std::uint32_t number, std::uint64_t& value) {
  const auto found = std::ranges::find(all, number, &Numbered::value_type::first);
  if (found == all.end()) return false;
  value = found->second;
  return true;
}

}  // namespace

struct Resolver::Hit {
  std::uint64_t ts_ns = 0;
  std::int32_t pid = 0;
  std::span<std::uint64_t> values;
  Thread& thread;
  Numbered addresses;  // by name, as they were recorded; where calls end some
};

std::size_t Resolver::HashAddress::operator()(const AddressKey& key) const {
  // Addresses end with zeros.
  constexpr std::uint64_t kOdd = 0x9e3779b97f4a7c15;
  const std::uint64_t whose = (static_cast<std::uint64_t>(key.pid) << 32) ^ key.name;
  return static_cast<std::size_t>(((key.address ^ whose * kOdd) * kOdd) >> 16);
}

Resolver::Resolver(const model::Schema& schema, std::span<const model::Stream> streams,
                   std::span<const model::ShedSpan> shed)
    : threads_(kMaxThreads), lives_(kMaxAddresses) {
  Names helpers;
  for (const model::Point& point : schema.points)
    for (const model::Field& field : point.fields)
      if (model::is_auxiliary_field(field.name)) helpers.insert(field.name);
  for (const model::Point& point : schema.points) plans_.push_back(plan_of(point, helpers));
  for (const model::ShedSpan& span : shed) {
    if (span.point >= plans_.size() || !says_anything(plans_[span.point])) continue;
    changes_ns_.push_back(span.from_ns);
    if (span.until_ns != 0) changes_ns_.push_back(span.until_ns);
  }
  std::ranges::sort(changes_ns_, std::ranges::greater());
  for (const model::Stream& stream : streams) add_stream(stream);
}

std::uint32_t Resolver::number_of(const std::string& name) {
  return numbers_.try_emplace(name, static_cast<std::uint32_t>(numbers_.size())).first->second;
}

bool Resolver::says_anything(const Plan& plan) {
  return plan.stack || !plan.links.empty() || !plan.addresses.empty();
}

Resolver::Plan Resolver::plan_of(const model::Point& point, const Names& helpers) {
  const auto any_has = [&](std::string_view prefix, const model::Field& field) {
    return !helpers.empty() && helpers.contains(std::string(prefix) + field.name);
  };
  Plan plan;
  plan.is_of_target = model::is_of_target(point.direction);
  plan.values = point.fields.size();
  plan.stack = point.field(model::kStackPointerField);
  if (const auto at_exit = point.field(model::kExitStackField)) {
    plan.stack = at_exit;
    plan.is_exit = true;
  }
  plan.unread = model::unread_field(point);
  for (std::size_t at = 0; at < point.fields.size(); ++at) {
    const model::Field& field = point.fields[at];
    if (const auto kind = model::link_of(field))
      plan.links.push_back({at, *kind, number_of(field.name)});
    else if (const auto how = inheritance(point, field))
      plan.inherits.push_back({at, number_of(field.name), *how});
    else if (!model::is_reserved(field.name) && any_has(model::kInheritedPrefix, field))
      plan.offers.push_back({at, number_of(field.name)});
    if (field.role == model::Role::kProperty || !any_has(model::kLifePrefix, field)) continue;
    const auto life = point.field(std::string(model::kLifePrefix) + field.name);
    const bool is_of_own_call = plan.is_exit && inheritance(point, field).has_value();
    plan.addresses.push_back({at, number_of(field.name), life, is_of_own_call});
    ends_with_calls_ = ends_with_calls_ || (is_of_own_call && life);
  }
  is_needed_ =
      is_needed_ || !plan.links.empty() || !plan.inherits.empty() || !plan.addresses.empty();
  return plan;
}

void Resolver::resolve(model::EventBatch& events) {
  if (!is_needed_) return;
  model::EventColumns columns = std::move(events).release();
  for (std::size_t row = 0; row < columns.ts_ns.size(); ++row) {
    if (columns.point[row] >= plans_.size()) continue;
    const Plan& plan = plans_[columns.point[row]];
    const std::size_t first = columns.first_value[row];
    if (plan.is_of_target) note_sequence(columns.stream[row], columns.seq[row]);
    note_time(columns.ts_ns[row]);
    // Malformed events are skipped here; other parts report them.
    if (!plan.is_of_target || columns.first_value[row + 1] - first != plan.values) continue;
    const auto pid = pids_.find(columns.stream[row]);
    Hit hit{.ts_ns = columns.ts_ns[row],
            .pid = pid == pids_.end() ? -1 : pid->second,
            .values = std::span(columns.values).subspan(first, plan.values),
            .thread = threads_[columns.tid[row]],
            .addresses = {}};
    const std::uint64_t stack = plan.stack ? hit.values[*plan.stack] : 0;
    if (plan.is_exit)
      close_calls_within(hit.thread, stack);
    else if (plan.stack)
      close_calls(hit.thread, stack);
    name_addresses(plan, hit);
    take(plan, hit);
    inherit(plan, hit);
    end_lives(plan, hit);
    give(plan, hit);
    if (plan.is_exit) close_calls(hit.thread, stack);
  }
  events = model::EventBatch(std::move(columns));
}

// After a gap the state of calls and lives is not known.
void Resolver::note_sequence(std::uint32_t stream, std::uint64_t seq) {
  const auto [known, is_new] = next_numbers_.try_emplace(stream, seq + 1);
  if (is_new || seq < known->second) return;
  if (seq > known->second) forget();
  known->second = seq + 1;
}

// Forgets the same state after a span in which points were off.
void Resolver::note_time(std::uint64_t ts_ns) {
  while (!changes_ns_.empty() && changes_ns_.back() <= ts_ns) {
    changes_ns_.pop_back();
    forget();
  }
}

void Resolver::forget() {
  threads_.clear();
  lives_.clear();
}

// Closes calls that cannot have called a function: its stack pointer is at least as high as theirs.
void Resolver::close_calls(Thread& thread, std::uint64_t stack) {
  auto& calls = thread.calls;
  while (!calls.empty() && calls.back().stack <= stack) calls.pop_back();
  if (!calls.empty() && calls.back().stack - stack > kMaxStack) calls.clear();
}

// Closes the calls within a function that is left: its stack pointer is that of its entry again.
// This includes calls that an exception or a longjmp() has ended.
void Resolver::close_calls_within(Thread& thread, std::uint64_t stack) {
  while (!thread.calls.empty() && thread.calls.back().stack < stack) thread.calls.pop_back();
}

// The call that ends with the hit, if its beginning was seen. After close_calls_within().
const Resolver::Call* Resolver::ended_call(const Plan& plan, const Hit& hit) {
  const auto& calls = hit.thread.calls;
  const bool is_known =
      plan.is_exit && !calls.empty() && calls.back().stack == hit.values[*plan.stack];
  return is_known ? &calls.back() : nullptr;
}

void Resolver::name_addresses(const Plan& plan, Hit& hit) {
  for (const Address& address : plan.addresses) {
    std::uint64_t& value = hit.values[address.field];
    if (value == 0) continue;
    if (ends_with_calls_) hit.addresses.emplace_back(address.name, value);
    const AddressKey key{.pid = hit.pid, .name = address.name, .address = value};
    const std::uint64_t what = address.life ? hit.values[*address.life] : 0;
    if (what == static_cast<std::uint64_t>(model::Life::kBegins)) lives_.erase(key);
    std::uint64_t& number = lives_[key];
    if (number == 0) number = ++last_;
    value = number;
    if (what == static_cast<std::uint64_t>(model::Life::kEnds)) lives_.erase(key);
  }
}

// Ends the lives of addresses that end with their call. If the memory was released within the call,
// another thread may have got the same address since then: that life goes on.
void Resolver::end_lives(const Plan& plan, const Hit& hit) {
  for (const Address& address : plan.addresses) {
    if (!address.is_of_own_call || !address.life) continue;
    const Call* const ended = ended_call(plan, hit);
    std::uint64_t value = 0;
    if (ended == nullptr || !value_in(ended->addresses, address.name, value)) continue;
    const AddressKey key{.pid = hit.pid, .name = address.name, .address = value};
    const std::uint64_t* const number = lives_.find(key);
    if (number != nullptr && *number == hit.values[address.field]) lives_.erase(key);
  }
}

const Resolver::Call* Resolver::call_with(
    const Plan& plan, const Hit& hit,
    std::vector<std::pair<std::uint32_t, std::uint64_t>> Call::* what, std::uint32_t number,
    std::uint64_t& value) {
  const Call* const ended = ended_call(plan, hit);
  for (auto call = hit.thread.calls.rbegin(); call != hit.thread.calls.rend(); ++call) {
    std::uint64_t found = 0;
    if (!value_in((*call).*what, number, found)) continue;
    if (&*call != ended && hit.ts_ns - call->since_ns > kMaxCallNs) return nullptr;
    value = found;
    return &*call;
  }
  return nullptr;
}

// Takes a link. If no point gave it, it gets a new number, so that its event has a missing parent.
void Resolver::take(const Plan& plan, Hit& hit) {
  for (const LinkField& link : plan.links) {
    std::uint64_t& value = hit.values[link.field];
    if (value != static_cast<std::uint64_t>(model::LinkEnd::kTakes)) continue;
    if (link.kind == model::Link::kCall) {
      if (call_with(plan, hit, &Call::links, link.link, value) == nullptr) value = ++last_;
      continue;
    }
    if (link.kind == model::Link::kSpan) {
      const Call* const ended = ended_call(plan, hit);
      if (ended == nullptr || !value_in(ended->links, link.link, value)) value = ++last_;
      continue;
    }
    const auto given = std::ranges::find(hit.thread.given, link.link, &Given::link);
    if (given == hit.thread.given.end()) {
      value = ++last_;
      continue;
    }
    value = given->number;
    given->is_taken = true;
  }
}

void Resolver::inherit(const Plan& plan, Hit& hit) const {
  for (const InheritedField& field : plan.inherits) {
    std::uint64_t& value = hit.values[field.field];
    if (hit.values[field.how] == static_cast<std::uint64_t>(model::Inherits::kOwn)) {
      const Call* const ended = ended_call(plan, hit);
      if (ended != nullptr && value_in(ended->values, field.name, value)) continue;
    } else if (call_with(plan, hit, &Call::values, field.name, value) != nullptr) {
      continue;
    }
    value = 0;
    if (plan.unread) hit.values[*plan.unread] |= std::uint64_t{1} << (field.field & 63);
  }
}

void Resolver::give(const Plan& plan, Hit& hit) {
  Call call{.stack = 0, .since_ns = hit.ts_ns, .links = {}, .values = {}, .addresses = {}};
  const std::uint64_t unread = model::unread_bits(plan.unread, hit.values);
  for (const NamedField& field : plan.offers)
    if ((unread >> (field.field & 63) & 1) == 0)
      call.values.emplace_back(field.name, hit.values[field.field]);
  for (const LinkField& link : plan.links) {
    std::uint64_t& value = hit.values[link.field];
    if (value != static_cast<std::uint64_t>(model::LinkEnd::kGives)) continue;
    if (link.kind == model::Link::kCall || link.kind == model::Link::kSpan) {
      value = ++last_;
      call.links.emplace_back(link.link, value);
      continue;
    }
    auto given = std::ranges::find(hit.thread.given, link.link, &Given::link);
    if (given == hit.thread.given.end())
      given = hit.thread.given.insert(given, {.link = link.link, .number = ++last_});
    else if (link.kind == model::Link::kLast || given->is_taken)
      *given = {.link = link.link, .number = ++last_};
    value = given->number;
  }
  if (!plan.stack || plan.is_exit || (call.links.empty() && call.values.empty())) return;
  call.stack = hit.values[*plan.stack];
  call.addresses = std::move(hit.addresses);
  auto& calls = hit.thread.calls;
  if (calls.size() == kMaxCalls) calls.erase(calls.begin());
  calls.push_back(std::move(call));
}

}  // namespace sojourn::links
