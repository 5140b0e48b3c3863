#include "userspace/capture/energy/energy_source.h"

#include <algorithm>
#include <array>
#include <optional>

#include "analysis/base/second.h"
#include "userspace/base/clock.h"
#include "userspace/capture/output/sink.h"
#include "userspace/tracee/procfs.h"

namespace sojourn::capture {

namespace {

// The last reading is at most this long before the close mark. The rest is a small part of the
// capture, and does not change its mean power.
constexpr std::uint64_t kLastNs = 25'000'000;

// A counter is read at least four times before it wraps, for powers up to 1 kW.
std::uint64_t longest_period_ns(std::uint64_t range_uj) {
  return range_uj == 0 ? UINT64_MAX : std::max<std::uint64_t>(range_uj / 4, 1'000'000);
}

std::optional<std::uint64_t> number_of(const std::string& path) {
  auto text = tracee::read_whole(path);
  if (!text) return std::nullopt;
  if (text->ends_with('\n')) text->pop_back();
  return tracee::parse_number(*text);
}

}  // namespace

EnergySource::EnergySource(EnergyOptions options, EnergyTree tree)
    : options_(std::move(options)), tree_(std::move(tree)) {
  about_.period_ns = static_cast<std::uint64_t>(options_.period.count());
  about_.missing = tree_.missing;
  for (const FrequencyFile& file : tree_.frequencies) about_.policies.push_back(file.about);
  for (const IdleFiles& files : tree_.idle) about_.idle_states.push_back(files.about);
}

std::unique_ptr<EnergySource> EnergySource::create(EnergyOptions options) {
  EnergyTree tree = read_energy_tree(options.sys);
  return std::unique_ptr<EnergySource>(new EnergySource(std::move(options), std::move(tree)));
}

Result<void> EnergySource::connect(CaptureOutput& output) {
  SJ_TRY(energy, output.add_point(model::energy_point()));
  SJ_TRY(frequency, output.add_point(model::frequency_point()));
  SJ_TRY(idle, output.add_point(model::idle_point()));
  energy_point_ = energy;
  frequency_point_ = frequency;
  idle_point_ = idle;
  output.announce_points();
  sink_ = &output.sink();
  stream_ = output.new_stream({.engine = model::Engine::kSampler, .cpu = -1, .tid = -1});
  batch_ = sink_->empty_batch();
  return {};
}

template <typename Offer>
void EnergySource::open_counter(const Offer& offer) {
  model::EnergyZone& about = about_.zones.emplace_back(offer.about);
  if (!about.missing.empty()) return;
  auto counter = EnergyCounter::open(offer);
  if (!counter) {
    about.missing = counter.error().text();
    return;
  }
  about_.period_ns = std::min(about_.period_ns, longest_period_ns(about.range));
  zones_.push_back({.about = about_.zones.size() - 1, .counter = std::move(*counter)});
}

// The counters are opened here, while there are the rights to.
Result<void> EnergySource::arm() {
  for (const PowercapZone& zone : tree_.zones) open_counter(zone);
  for (const PowerEvent& event : tree_.events) open_counter(event);
  is_armed_ = true;
  sink_->push(about_);
  tell_missing();
  return {};
}

void EnergySource::tell_missing() const {
  if (!options_.tell) return;
  for (const model::EnergyZone& zone : about_.zones)
    if (!zone.missing.empty()) options_.tell(zone.place + " (" + zone.name + ")", zone.missing);
  for (const model::EnergyMissing& missing : about_.missing)
    options_.tell(missing.what, missing.why);
}

Result<bool> EnergySource::poll() {
  const std::uint64_t now_ns = base::monotonic_ns();
  if (!is_armed_ || now_ns < open_ns_ || now_ns >= close_ns_) return false;
  const bool is_last = close_ns_ - now_ns <= kLastNs && close_ns_ - read_ns_ > kLastNs;
  if (is_last || now_ns - read_ns_ >= about_.period_ns) read_all(now_ns);
  return false;
}

// A capture that is interrupted closes soon, and polls no more until then.
void EnergySource::close_at(std::uint64_t monotonic_ns) {
  close_ns_ = monotonic_ns;
  const std::uint64_t now_ns = base::monotonic_ns();
  if (is_armed_ && now_ns >= open_ns_) read_all(now_ns);
}

void EnergySource::read_all(std::uint64_t now_ns) {
  read_ns_ = now_ns;
  read_zones();
  const bool is_last = close_ns_ - std::min(now_ns, close_ns_) <= kLastNs;
  if (now_ns < next_second_ns_ && !is_last) return;
  next_second_ns_ = now_ns + kNsPerSecond;
  read_frequencies();
  read_idle();
}

// Reads all zones. A zone is not read again after its first failure.
void EnergySource::read_zones() {
  const std::size_t before = zones_.size();
  std::erase_if(zones_, [&](const Zone& zone) {
    model::EnergyZone& about = about_.zones[zone.about];
    const auto value = zone.counter.read();
    const std::uint64_t now_ns = base::monotonic_ns();
    if (value) {
      record(energy_point_, now_ns, about.id, *value);
      return false;
    }
    about.missing = value.error().text();
    about.gone_ns = now_ns;
    return true;
  });
  if (zones_.size() != before) sink_->push(about_);
}

void EnergySource::read_frequencies() {
  for (const FrequencyFile& file : tree_.frequencies)
    if (const auto khz = number_of(file.path))
      record(frequency_point_, base::monotonic_ns(), file.about.id, *khz);
}

// Adds up all CPUs. A state that a CPU no longer reports is not recorded.
void EnergySource::read_idle() {
  for (const IdleFiles& files : tree_.idle) {
    std::uint64_t sum_us = 0;
    const bool is_whole = std::ranges::all_of(files.paths, [&](const std::string& path) {
      const auto time_us = number_of(path);
      sum_us += time_us.value_or(0);
      return time_us.has_value();
    });
    if (is_whole) record(idle_point_, base::monotonic_ns(), files.about.id, sum_us);
  }
}

void EnergySource::record(model::PointId point, std::uint64_t ts_ns, std::uint32_t id,
                          std::uint64_t value) {
  const std::array<std::uint64_t, 2> values = {id, value};
  batch_.append({.ts_ns = std::min(ts_ns, close_ns_ - 1),
                 .seq = events_++,
                 .stream = stream_,
                 .tid = 0,
                 .point = point,
                 .values = values});
}

Result<void> EnergySource::settle() {
  if (!is_armed_) return {};
  if (options_.tell)
    for (const model::EnergyZone& zone : about_.zones)
      if (zone.gone_ns != 0) options_.tell(zone.place + " (" + zone.name + ")", zone.missing);
  sink_->push(about_);
  return {};
}

void EnergySource::flush() {
  if (batch_.empty()) return;
  sink_->push(std::exchange(batch_, sink_->empty_batch()));
}

std::chrono::microseconds EnergySource::poll_period() const {
  return std::chrono::duration_cast<std::chrono::microseconds>(
      std::chrono::nanoseconds(about_.period_ns));
}

Result<void> EnergySource::add_hits(std::vector<std::uint64_t>& hits) const {
  if (hits.size() <= stream_) hits.resize(stream_ + 1);
  hits[stream_] += events_;
  return {};
}

}  // namespace sojourn::capture
