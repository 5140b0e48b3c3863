#include "userspace/cli/where.h"

#include <utility>

#include "userspace/cli/trace_file.h"

namespace sojourn::cli {

namespace {

filter::Surroundings surroundings(const trace::Reader& reader) {
  return {.origin_ns = origin_ns(reader), .streams = reader.streams()};
}

template <typename Filter>
Result<std::optional<Filter>> compile(const Where& where, const trace::Reader& reader) {
  if (!where.given()) return std::nullopt;
  SJ_TRY(expression, where.expression());
  auto made = Filter::compile(expression, reader.schema(), surroundings(reader));
  if (!made) return std::unexpected(std::move(made).error().within("--where"));
  return std::optional<Filter>(std::move(*made));
}

}  // namespace

void Where::define(CLI::App& app, const std::string& help) {
  app.add_option("--where", text_, help)->type_name("EXPR")->check([](const std::string& text) {
    const auto parsed = filter::parse(text);
    return parsed ? std::string() : parsed.error().text();
  });
}

Result<filter::Expression> Where::expression() const {
  auto parsed = filter::parse(text_);
  if (!parsed) return std::unexpected(std::move(parsed).error().within("--where"));
  return parsed;
}

Result<std::optional<filter::EventFilter>> Where::events(const trace::Reader& reader) const {
  return compile<filter::EventFilter>(*this, reader);
}

Result<std::optional<filter::JourneyFilter>> Where::journeys(const trace::Reader& reader) const {
  return compile<filter::JourneyFilter>(*this, reader);
}

}  // namespace sojourn::cli
