#include "analysis/host/host_json.h"

#include <cstdint>

namespace sojourn::host {

namespace {

using nlohmann::ordered_json;

// A profile has some hundred of each. A file with more is not a profile.
constexpr std::size_t kMostEntries = 100'000;

ordered_json optional_number(const std::optional<double>& value) {
  return value ? ordered_json(*value) : ordered_json(nullptr);
}

ordered_json summary_json(const SampleSummary& summary) {
  return {{"count", summary.count}, {"mean", summary.mean}, {"stdev", summary.stdev},
          {"min", summary.min},     {"q1", summary.q1},     {"median", summary.median},
          {"q3", summary.q3},       {"max", summary.max}};
}

ordered_json measurement_json(const Measurement& one) {
  ordered_json json = {{"id", one.id},
                       {"group", one.group},
                       {"name", one.name},
                       {"method", one.method},
                       {"unit", name(one.unit)},
                       {"less_is_better", one.is_less_better},
                       {"hardware", optional_number(one.hardware)},
                       {"software", optional_number(one.software)},
                       {"predicted", optional_number(one.predicted())},
                       {"basis", one.basis}};
  json["measured"] = one.is_measured() ? summary_json(one.measured) : ordered_json(nullptr);
  json["deviation"] = optional_number(one.deviation());
  json["reason"] = one.reason;
  json["stable"] = one.is_measured() && one.unstable.empty();
  json["unstable"] = one.unstable;
  json["note"] = one.note;
  json["left_out"] = one.left_out;
  return json;
}

ordered_json curve_json(const Curve& curve) {
  auto points = ordered_json::array();
  for (const CurvePoint& point : curve.points)
    points.push_back({{"x", point.x}, {"y", point.y}, {"q1", point.q1}, {"q3", point.q3}});
  auto knees = ordered_json::array();
  for (const Knee& knee : curve.knees)
    knees.push_back({{"x", knee.x}, {"before", knee.before}, {"after", knee.after}});
  return {{"id", curve.id},
          {"group", curve.group},
          {"name", curve.name},
          {"x", {{"name", curve.x_name}, {"unit", name(curve.x_unit)}}},
          {"y", {{"name", curve.y_name}, {"unit", name(curve.y_unit)}}},
          {"points", std::move(points)},
          {"knees", std::move(knees)},
          {"note", curve.note}};
}

ordered_json matrix_json(const CpuMatrix& matrix) {
  auto values = ordered_json::array();
  for (const auto& value : matrix.values) values.push_back(optional_number(value));
  return {{"id", matrix.id},           {"group", matrix.group}, {"name", matrix.name},
          {"unit", name(matrix.unit)}, {"cpus", matrix.cpus},   {"values", std::move(values)},
          {"note", matrix.note}};
}

template <typename List, typename Make>
ordered_json array_of(const List& list, Make make) {
  auto array = ordered_json::array();
  for (const auto& one : list) array.push_back(make(one));
  return array;
}

// Reads members of one object, and remembers the first one that is wrong.
class ObjectReader {
 public:
  ObjectReader(const ordered_json& object, std::string& wrong) : object_(object), wrong_(wrong) {
    if (!object.is_object()) refuse("an object", "?");
  }

  std::string text(const char* key) {
    const ordered_json* const member = find(key);
    if (member == nullptr || member->is_null()) return {};
    if (!member->is_string()) return refuse("text", key), std::string();
    return member->get<std::string>();
  }
  std::optional<double> number(const char* key) {
    const ordered_json* const member = find(key);
    if (member == nullptr || member->is_null()) return std::nullopt;
    if (!member->is_number()) return refuse("a number", key), std::nullopt;
    return member->get<double>();
  }
  std::uint64_t whole(const char* key) {
    const ordered_json* const member = find(key);
    if (member == nullptr || member->is_null()) return 0;
    if (!member->is_number_unsigned()) return refuse("a whole number", key), 0;
    return member->get<std::uint64_t>();
  }
  bool truth(const char* key, bool otherwise) {
    const ordered_json* const member = find(key);
    if (member == nullptr || member->is_null()) return otherwise;
    if (!member->is_boolean()) return refuse("true or false", key), otherwise;
    return member->get<bool>();
  }
  Unit unit(const char* key) {
    const std::string word = text(key);
    const std::optional<Unit> known = unit_named(word);
    if (!known && wrong_.empty()) wrong_ = "\"" + word + "\" is no unit";
    return known.value_or(Unit::kCount);
  }
  // Returns null if there is no such member.
  const ordered_json* find(const char* key) const {
    if (!object_.is_object()) return nullptr;
    const auto found = object_.find(key);
    return found == object_.end() ? nullptr : &*found;
  }
  template <typename Take>
  void each(const char* key, Take take) {
    const ordered_json* const member = find(key);
    if (member == nullptr || member->is_null()) return;
    if (!member->is_array() || member->size() > kMostEntries) return refuse("a list", key);
    for (const ordered_json& one : *member) take(one);
  }
  std::string& wrong() { return wrong_; }

 private:
  void refuse(const char* wanted, const char* key) {
    if (wrong_.empty()) wrong_ = fmt::format("\"{}\" is not {}", key, wanted);
  }

  const ordered_json& object_;
  std::string& wrong_;
};

SampleSummary read_summary(const ordered_json& json, std::string& wrong) {
  ObjectReader read(json, wrong);
  const auto number = [&](const char* key) { return read.number(key).value_or(0); };
  return {.count = read.whole("count"),
          .mean = number("mean"),
          .stdev = number("stdev"),
          .min = number("min"),
          .q1 = number("q1"),
          .median = number("median"),
          .q3 = number("q3"),
          .max = number("max")};
}

Measurement read_measurement(const ordered_json& json, std::string& wrong) {
  ObjectReader read(json, wrong);
  Measurement one;
  one.id = read.text("id");
  one.group = read.text("group");
  one.name = read.text("name");
  one.method = read.text("method");
  one.unit = read.unit("unit");
  one.is_less_better = read.truth("less_is_better", true);
  one.hardware = read.number("hardware");
  one.software = read.number("software");
  one.basis = read.text("basis");
  if (const ordered_json* measured = read.find("measured"); measured && !measured->is_null())
    one.measured = read_summary(*measured, wrong);
  one.reason = read.text("reason");
  one.unstable = read.text("unstable");
  one.note = read.text("note");
  one.left_out = read.text("left_out");
  if (one.id.empty() && wrong.empty()) wrong = "a measurement has no id";
  return one;
}

Curve read_curve(const ordered_json& json, std::string& wrong) {
  ObjectReader read(json, wrong);
  Curve curve;
  curve.id = read.text("id");
  curve.group = read.text("group");
  curve.name = read.text("name");
  const ordered_json empty = ordered_json::object();
  const auto axis = [&](const char* key, std::string& axis_name, Unit& unit) {
    const ordered_json* const found = read.find(key);
    ObjectReader of(found != nullptr ? *found : empty, wrong);
    axis_name = of.text("name");
    unit = of.unit("unit");
  };
  axis("x", curve.x_name, curve.x_unit);
  axis("y", curve.y_name, curve.y_unit);
  read.each("points", [&](const ordered_json& point) {
    ObjectReader of(point, wrong);
    const auto number = [&](const char* key) { return of.number(key).value_or(0); };
    curve.points.push_back(
        {.x = number("x"), .y = number("y"), .q1 = number("q1"), .q3 = number("q3")});
  });
  read.each("knees", [&](const ordered_json& knee) {
    ObjectReader of(knee, wrong);
    const auto number = [&](const char* key) { return of.number(key).value_or(0); };
    curve.knees.push_back({.x = number("x"), .before = number("before"), .after = number("after")});
  });
  curve.note = read.text("note");
  return curve;
}

CpuMatrix read_matrix(const ordered_json& json, std::string& wrong) {
  ObjectReader read(json, wrong);
  CpuMatrix matrix;
  matrix.id = read.text("id");
  matrix.group = read.text("group");
  matrix.name = read.text("name");
  matrix.unit = read.unit("unit");
  read.each("cpus", [&](const ordered_json& cpu) {
    if (cpu.is_number_unsigned() && cpu.get<std::uint64_t>() <= UINT32_MAX)
      matrix.cpus.push_back(cpu.get<std::uint32_t>());
    else if (wrong.empty())
      wrong = "a CPU is no number";
  });
  read.each("values", [&](const ordered_json& value) {
    if (value.is_number())
      matrix.values.emplace_back(value.get<double>());
    else
      matrix.values.emplace_back();
  });
  matrix.note = read.text("note");
  if (matrix.values.size() != matrix.cpus.size() * matrix.cpus.size() && wrong.empty())
    wrong = fmt::format("\"{}\" has {} values for {} CPUs", matrix.id, matrix.values.size(),
                        matrix.cpus.size());
  return matrix;
}

}  // namespace

ordered_json to_json(const HostProfile& profile) {
  const auto fact = [](const MachineFact& one) -> ordered_json {
    return {{"id", one.id}, {"name", one.name}, {"value", one.value}, {"source", one.source}};
  };
  return {{"tool", profile.tool},
          {"form", profile.form},
          {"boot_id", profile.boot_id},
          {"measured_at_s", profile.measured_at_s},
          {"took_s", profile.took_s},
          {"machine", array_of(profile.facts, fact)},
          {"measurements", array_of(profile.measurements, measurement_json)},
          {"curves", array_of(profile.curves, curve_json)},
          {"matrices", array_of(profile.matrices, matrix_json)},
          {"warnings", profile.warnings}};
}

std::string to_json_text(const HostProfile& profile) {
  return to_json(profile).dump(2, ' ', false, ordered_json::error_handler_t::replace) + "\n";
}

Result<HostProfile> from_json(std::string_view text) {
  const ordered_json json = ordered_json::parse(text, nullptr, false);
  if (json.is_discarded()) return fail("this is no JSON");
  std::string wrong;
  ObjectReader read(json, wrong);
  HostProfile profile;
  profile.tool = read.text("tool");
  profile.form = read.text("form");
  profile.boot_id = read.text("boot_id");
  profile.measured_at_s = read.whole("measured_at_s");
  profile.took_s = read.number("took_s").value_or(0);
  if (read.find("measurements") == nullptr && wrong.empty())
    wrong = "there are no measurements in it";
  read.each("machine", [&](const ordered_json& one) {
    ObjectReader of(one, wrong);
    profile.facts.push_back({.id = of.text("id"),
                             .name = of.text("name"),
                             .value = of.text("value"),
                             .source = of.text("source")});
  });
  read.each("measurements", [&](const ordered_json& one) {
    profile.measurements.push_back(read_measurement(one, wrong));
  });
  read.each("curves",
            [&](const ordered_json& one) { profile.curves.push_back(read_curve(one, wrong)); });
  read.each("matrices",
            [&](const ordered_json& one) { profile.matrices.push_back(read_matrix(one, wrong)); });
  read.each("warnings", [&](const ordered_json& one) {
    if (one.is_string()) profile.warnings.push_back(one.get<std::string>());
  });
  if (!wrong.empty()) return fail("no profile of a machine: {}", wrong);
  return profile;
}

}  // namespace sojourn::host
