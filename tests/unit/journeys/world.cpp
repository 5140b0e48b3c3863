#include "tests/unit/journeys/world.h"

#include <charconv>
#include <sstream>
#include <stdexcept>

#include <fmt/format.h>
#include <fmt/ranges.h>

namespace sojourn::journeys {
namespace {

// A test that is written wrong must not pass.
std::uint64_t number(std::string_view word) {
  std::uint64_t value = 0;
  const auto [end, error] = std::from_chars(word.data(), word.data() + word.size(), value);
  if (error != std::errc{} || end != word.data() + word.size())
    throw std::runtime_error(fmt::format("not a number: '{}'", word));
  return value;
}

}  // namespace

class World::Collector : public Observer {
 public:
  Collector(const World& world, std::vector<Seen>& seen) : world_(world), seen_(seen) {}

  void on_journey(const Journey& journey) override {
    auto text = fmt::format("{} {} {}..{}:", letter(journey.direction), name(journey.outcome),
                            journey.start_ns, journey.end_ns);
    for (std::size_t i = 0; i < journey.steps.size(); ++i) {
      const auto& step = journey.steps[i];
      text += fmt::format(" {}@{}", world_.schema_.points[step.point].name(), step.ts_ns);
      if (!step.parents.empty()) text += fmt::format("<{}", fmt::join(step.parents, ","));
      if (step.repeat_of != kNoStep) text += fmt::format("={}", step.repeat_of);
      if (i == journey.end_step && journey.outcome == Outcome::kComplete) text += "*";
    }
    std::string inside;
    for (const auto& step : journey.steps)
      if (step.inside)
        inside += fmt::format("{} {} ", world_.schema_.points[step.point].dest, step.entered_ns);
    if (journey.inside_until_ns != 0) inside += fmt::format("until {}", journey.inside_until_ns);
    seen_.push_back({journey, text, doubts(journey), inside});
    seen_.back().journey.steps = {};
    seen_.back().journey.ambiguities = {};
  }

  void on_stay(const Stay& stay) override {
    hops_.push_back(
        {world_.rebuilder_->topology().pairs[stay.pair].place, stay.left_ns - stay.entered_ns});
  }
  void on_enter(std::uint16_t place, std::uint64_t ts_ns) override {
    stays_.push_back({place, fmt::format("+{}", ts_ns)});
  }
  void on_leave(std::uint16_t place, std::uint64_t, std::uint64_t ts_ns, bool seen) override {
    stays_.push_back({place, fmt::format("{}{}", seen ? '-' : '~', ts_ns)});
  }

  std::vector<std::pair<std::uint16_t, std::uint64_t>> hops_;
  std::vector<std::pair<std::uint16_t, std::string>> stays_;

 private:
  std::vector<std::string> doubts(const Journey& journey) const {
    std::vector<std::string> result;
    for (const auto& one : journey.ambiguities) {
      auto text = std::to_string(one.step);
      for (const auto& words : kAmbiguityReasons)
        if ((one.doubts & words.doubt) != 0) text += fmt::format(" {}", words.name);
      for (const auto& other : one.alternatives)
        text += fmt::format(" {}@{}({})s{}#{}", world_.schema_.points[other.point].name(),
                            other.ts_ns, fmt::join(other.values, " "), other.stream, other.seq);
      result.push_back(text + (one.more_fit ? " more" : ""));
    }
    return result;
  }

  const World& world_;
  std::vector<Seen>& seen_;
};

World::World(std::string_view points) {
  std::istringstream lines{std::string(points)};
  std::string direction;
  std::string where;
  std::string fields;
  while (lines >> direction >> where >> fields) {
    // No target may name a point of the kernel's or a sample: those are read as scalars first.
    const auto meant = model::direction_from_letter(direction.at(0));
    const bool foreign = meant && !model::is_of_target(*meant);
    auto parsed =
        model::parse_point(fmt::format("{} {}", foreign ? "I" : direction, where), fields);
    if (!parsed) throw std::runtime_error(parsed.error().text());
    if (foreign) parsed->direction = *meant;
    schema_.points.push_back(std::move(*parsed));
  }
}

World::~World() = default;

void World::start() {
  if (rebuilder_) return;
  collector_ = std::make_unique<Collector>(*this, seen_);
  auto made = Rebuilder::create(schema_, rules, marks, *collector_);
  if (!made) throw std::runtime_error(made.error().text());
  rebuilder_.emplace(std::move(*made));
}

std::uint16_t World::point(std::string_view name) const {
  for (std::size_t i = 0; i < schema_.points.size(); ++i)
    if (fmt::format("{} {}", letter(schema_.points[i].direction), schema_.points[i].name()) == name)
      return static_cast<std::uint16_t>(i);
  throw std::runtime_error(fmt::format("no point {}", name));
}

void World::lose(std::uint64_t count, std::uint32_t stream) {
  if (stream >= next_seq_.size()) next_seq_.resize(stream + 1, 0);
  next_seq_[stream] += count;
}

void World::events(std::string_view text) {
  start();
  model::EventBatch batch;
  std::istringstream lines{std::string(text)};
  std::string line;
  while (std::getline(lines, line)) {
    std::istringstream words(line);
    std::string word;
    if (!(words >> word)) continue;
    model::EventView event;
    event.ts_ns = number(word);
    words >> word;
    if (word.starts_with('t')) {
      event.tid = static_cast<std::uint32_t>(number(std::string_view(word).substr(1)));
      words >> word;
    }
    if (word.starts_with('s')) {
      event.stream = static_cast<std::uint32_t>(number(std::string_view(word).substr(1)));
      words >> word;
    }
    const auto direction = word;
    words >> word;
    event.point = point(fmt::format("{} {}", direction, word));
    std::vector<std::uint64_t> values;
    while (words >> word) values.push_back(number(word));
    if (values.size() != schema_.points[event.point].fields.size())
      throw std::runtime_error("wrong number of values: " + line);
    lose(0, event.stream);
    event.seq = next_seq_[event.stream]++;
    event.values = values;
    batch.append(event);
  }
  rebuilder_->consume(batch);
}

std::vector<std::string> World::journeys() {
  start();
  rebuilder_->finish();
  std::vector<std::string> result;
  result.reserve(seen_.size());
  for (const auto& seen : seen_) result.push_back(seen.words);
  return result;
}

std::string World::stays(std::string_view place) const {
  std::string text(place);
  for (const auto& [index, what] : collector_->stays_)
    if (rebuilder_->topology().places[index].name == place) text += " " + what;
  return text;
}

std::string World::hops(std::string_view place) const {
  std::string text(place);
  for (const auto& [index, time] : collector_->hops_)
    if (rebuilder_->topology().places[index].name == place) text += fmt::format(" {}", time);
  return text;
}

const PointTotals& World::at(std::string_view name) const {
  return totals().points[point(name)];
}

std::string_view radio_points() {
  return R"(
    D ip.in--pdcp.in len:rnti:drb.gsn
    D pdcp.in--pdcp.tx len:rnti:drb.gsn.psn
    D pdcp.in--drop len:rnti:drb.gsn
    D pdcp.tx--rlc.tx.um len:rnti:drb.psn
    D pdcp.tx--rlc.tx.am len:rnti:drb.psn
    D rlc.tx.um--drop len:rnti:drb.psn
    D rlc.tx.am--drop len:rnti:drb.psn
    D rlc.tx.um--rlc.seg.um len:rnti:drb.psn.rsn.so
    D rlc.tx.am--rlc.seg.am len:rnti:drb.psn.rsn.so
    D rlc.tx.am--rlc.ack len:rnti:drb.psn.rsn
    D rlc.seg.um--mac.mux len:rnti:drb.rsn.so.slot
    D rlc.seg.am--mac.mux len:rnti:drb.rsn.so.slot
    D rlc.ctrl.am--mac.mux len:rnti:drb.slot
    D mac.mux--mac.harq.down len:rnti:harq.slot
    D mac.harq.down--phy.out.proc len.round:rnti:harq.slot
    D mac.harq.down--drop len:rnti:harq.slot
    D phy.out.proc--phy.out.ant len:rnti:slot
    U phy.in.ant--phy.in.proc len.round:rnti:harq.slot
    U phy.in.proc--mac.demux len:rnti:harq.slot
    U phy.in.proc--drop len:rnti:harq.slot
    U mac.demux--rlc.rx.um len:rnti:drb.rsn.so.slot
    U mac.demux--rlc.rx.am len:rnti:drb.rsn.so.slot
    U mac.demux--rlc.ctrl.am len:rnti:drb.slot
    U rlc.rx.um--pdcp.rx len:rnti:drb.rsn.psn
    U rlc.rx.am--pdcp.rx len:rnti:drb.rsn.psn
    U rlc.rx.um--drop len:rnti:drb.rsn
    U rlc.rx.am--drop len:rnti:drb.rsn.so
    U pdcp.rx--gtp.tx len:rnti:drb.psn.gsn
    U pdcp.rx--drop len:rnti:drb.psn
    U gtp.tx--ip.out len:rnti:drb.gsn
  )";
}

}  // namespace sojourn::journeys
