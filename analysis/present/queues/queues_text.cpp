// The text of `sojourn queues`: its tables in their order.
#include <algorithm>

#include <fmt/format.h>

#include "analysis/present/queues/flow_json.h"
#include "analysis/present/queues/places_text.h"
#include "analysis/present/queues/queue_graph.h"
#include "analysis/present/queues/queues_content.h"
#include "analysis/present/queues/sampled_text.h"
#include "analysis/present/words/completeness_words.h"
#include "analysis/present/words/shed_words.h"
#include "analysis/present/words/text_format.h"
#include "analysis/trace/completeness.h"

namespace sojourn::present {
namespace {

// The lines before the tables; the sampled queues are the first of these.
std::string head_text(const QueuesContent& content, const QueueEndsById& ends) {
  const queues::QueueSurvey& survey = content.survey;
  std::string text = shed_notice(content.reader.schema(), content.reader.capture());
  if (!text.empty()) text = wrapped(text, 2, content.width) + "\n";
  if (!content.where.empty())
    text += wrapped("only what came where " + content.where +
                        ": depths, rates and waits are of "
                        "that",
                    2, content.width) +
            "\n\n";
  if (content.shows_samples())
    return text + sampled_text(content.reader, survey.sampled(), ends, content.width) +
           sampled_marks_text(survey.sampled(), survey.marks(), content.origin_ns, content.width) +
           "\n";
  if (!content.where.empty()) {
    if (!content.reader.queue_changes().empty() && !content.leaves_samples)
      text += "sampled queues are left out: counters do not tell one item from another\n\n";
  } else if (!survey.has_samples()) {
    text += "no queue was sampled (`sojourn record --queues` does): all of this is from events\n\n";
  }
  return text;
}

std::string topology_text(const QueuesContent& content, const QueueEndsById& ends) {
  const queues::QueueSurvey& survey = content.survey;
  std::string text;
  if (content.shows_samples())
    text += sampled_topology_text(content.reader, survey.sampled(), ends, content.width);
  return text + operation_threads_text(survey.operations(), survey.threads(), content.width) +
         place_threads_text(survey.places(), survey.topology(), survey.threads(), content.width);
}

std::string depths_text(const QueuesContent& content) {
  const queues::QueueSurvey& survey = content.survey;
  std::string text;
  if (content.shows_samples()) text += sampled_depths_text(survey.sampled(), content.width);
  return text + operation_depths_text(survey.operations(), content.width) +
         place_depths_text(survey.places(), survey.topology(), content.width);
}

}  // namespace

std::string queues_text(const QueuesContent& content) {
  const queues::QueueSurvey& survey = content.survey;
  const QueueEndsById ends = ends_of(survey.operations(), survey.threads());
  std::string text = head_text(content, ends) +
                     operations_text(survey.operations(), content.origin_ns, content.width);
  if (!survey.operations().empty() && !survey.places().empty()) text += '\n';
  text += places_text(survey.places(), survey.topology(), survey.threads(), content.origin_ns,
                      content.width);
  text += chains_text(content.pressure.chains, content.pressure.names, content.origin_ns,
                      content.width);
  if (content.has_topology) text += topology_text(content, ends);
  if (content.has_depths) text += depths_text(content);
  if (survey.verifier() != nullptr)
    text += comparisons_text(survey.sampled(), *survey.verifier(), content.reader.capture().open_ns,
                             content.width);
  return text;
}

Graph queues_graph(const QueuesContent& content) {
  const queues::QueueSurvey& survey = content.survey;
  if (content.shows_samples())
    return sampled_graph(survey.sampled().queues(), ends_of(survey.operations(), survey.threads()));
  return flow_graph(survey.places(), survey.topology(), survey.operations(), survey.threads());
}

std::string stay_text(const journeys::Topology& topology, std::uint16_t place,
                      const journeys::Stay& stay, std::uint64_t origin_ns) {
  return fmt::format("{:.9f} s  {}  {}  from thread {} to thread {}\n",
                     static_cast<double>(stay.left_ns - std::min(stay.left_ns, origin_ns)) / 1e9,
                     queues::place_text(topology, place),
                     duration(static_cast<double>(stay.left_ns - stay.entered_ns)), stay.entered_by,
                     stay.left_by);
}

}  // namespace sojourn::present
