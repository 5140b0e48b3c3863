// The wakeup graph as Graphviz text: threads, and what else ends their waits, are boxes.
#include <algorithm>
#include <cstddef>

#include <fmt/format.h>

#include "analysis/present/threads/thread_labels.h"
#include "analysis/present/threads/threads_content.h"
#include "analysis/present/words/graph.h"
#include "analysis/present/words/text_format.h"

namespace sojourn::present {

std::string threads_dot(const ThreadsContent& content) {
  const threads::ThreadSurvey& survey = content.survey;
  Graph graph("threads");
  // Threads of one name are not one thread.
  const auto thread = [&](std::uint32_t tid) {
    const std::string name = fmt::format("{} ({})", printable(survey.thread_name(tid)), tid);
    const std::string role = role_label(survey, tid);
    return graph.node(role.empty() ? name : name + "\n" + role);
  };
  for (const auto& [key, edge] : survey.edges()) {
    const std::size_t from = key.cause == threads::WakeCause::kThread
                                 ? thread(key.by)
                                 : graph.node(std::string(name(key.cause)));
    graph.edge(
        {.from = from,
         .to = thread(key.tid),
         .label = fmt::format("{}\n{:.3g}/s, {}", wait_channel_label(survey, key.tid, key.channel),
                              static_cast<double>(edge.count) / std::max(content.duration_s, 1e-9),
                              edge.delay_ns.count() == 0
                                  ? "-"
                                  : duration(static_cast<double>(edge.delay_ns.quantile(0.5))))});
  }
  return dot_text(graph);
}

}  // namespace sojourn::present
