#include "analysis/page/packet_ids.h"

#include <string>
#include <unordered_map>

#include <nlohmann/json.hpp>

#include "analysis/journeys/journey.h"
#include "analysis/journeys/known_ids.h"
#include "analysis/journeys/rules.h"
#include "analysis/present/words/field_text.h"
#include "analysis/trace/reader.h"

namespace sojourn::page {

using nlohmann::ordered_json;

namespace {

struct IdTexts {
  std::string ue;
  std::string bearer;
  std::string number;
};

class IdCollector : public journeys::Observer {
 public:
  IdCollector(const std::vector<std::uint64_t>& ids, const model::Schema& schema)
      : schema_(schema), names_(schema) {
    for (const std::uint64_t id : ids) found_[id];
    missing_ = found_.size();
  }

  bool wants_steps_of(const journeys::Journey& journey) const override {
    return found_.contains(journey.id);
  }
  bool wants_order() const override { return false; }
  bool wants_places() const override { return false; }
  void on_journey(const journeys::Journey& journey) override {
    const auto wanted = found_.find(journey.id);
    if (wanted == found_.end()) return;
    for (const model::KnownId& id : names_.of(journey)) add(id, wanted->second);
    --missing_;
  }

  bool has_all() const { return missing_ == 0; }
  const IdTexts& of(std::uint64_t id) const { return found_.at(id); }

 private:
  void add(const model::KnownId& id, IdTexts& texts) const {
    const model::Field& field = schema_.points[id.point].fields[id.field];
    std::string& text = journeys::Rules::is_bearer(field.name) ? texts.bearer
                        : field.role == model::Role::kGlobal   ? texts.ue
                                                               : texts.number;
    // The words of each id begin with a space.
    text += present::ids_text(schema_, {&id, 1}).substr(text.empty() ? 1 : 0);
  }

  const model::Schema& schema_;
  journeys::PacketNames names_;
  std::unordered_map<std::uint64_t, IdTexts> found_;
  std::size_t missing_ = 0;
};

}  // namespace

Result<ordered_json> ids_of_packets(Executor& executor, pipeline::TraceInput& input,
                                    const std::vector<std::uint64_t>& ids,
                                    const pipeline::Progress& progress) {
  IdCollector collector(ids, input.reader().schema());
  pipeline::TracePass pass(executor, input);
  pass.show(progress);
  pass.observe(collector);
  pass.consume([&](const model::EventBatch&) { return !collector.has_all(); });
  SJ_CHECK(pass.run());
  auto told = ordered_json{{"ue", ordered_json::array()},
                           {"bearer", ordered_json::array()},
                           {"number", ordered_json::array()}};
  for (const std::uint64_t id : ids) {
    const IdTexts& texts = collector.of(id);
    told["ue"].push_back(texts.ue);
    told["bearer"].push_back(texts.bearer);
    told["number"].push_back(texts.number);
  }
  return told;
}

}  // namespace sojourn::page
