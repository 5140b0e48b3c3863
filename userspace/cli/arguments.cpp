#include "userspace/cli/arguments.h"

#include <algorithm>
#include <cstdint>
#include <optional>

#include <CLI/CLI.hpp>
#include <fmt/format.h>
#include <fmt/ranges.h>

namespace sojourn::cli {

Argument& Argument::type_name(const std::string& words) {
  option_->type_name(words);
  return *this;
}

Argument& Argument::option_text(const std::string& words) {
  option_->option_text(words);
  return *this;
}

Argument& Argument::check(Check check) {
  option_->check(std::move(check));
  return *this;
}

Argument& Argument::default_str(const std::string& words) {
  option_->default_str(words);
  return *this;
}

Argument& Argument::capture_default_str() {
  option_->capture_default_str();
  return *this;
}

Argument& Argument::required() {
  option_->required();
  return *this;
}

Argument& Argument::needs(const Argument& other) {
  option_->needs(other.option_);
  return *this;
}

Argument& Argument::excludes(const Argument& other) {
  option_->excludes(other.option_);
  return *this;
}

Argument& Argument::delimiter(char between) {
  option_->delimiter(between);
  return *this;
}

Argument& Argument::expected(int least_words, int max_words) {
  option_->expected(least_words, max_words);
  return *this;
}

Argument& Argument::one_word_each() {
  option_->allow_extra_args(false);
  return *this;
}

std::string Argument::name() const {
  return option_->get_name();
}

std::size_t Argument::count() const {
  return option_->count();
}

template <typename Value>
Argument Arguments::add_option(const std::string& name, Value& into, const std::string& help) {
  return Argument(*app_->add_option(name, into, help));
}

template <typename Value>
Argument Arguments::add_flag(const std::string& name, Value& into, const std::string& help) {
  return Argument(*app_->add_flag(name, into, help));
}

Argument Arguments::add_option_function(const std::string& name,
                                        const std::function<void(const std::string&)>& take,
                                        const std::string& help) {
  return Argument(*app_->add_option_function<std::string>(name, take, help));
}

void Arguments::heading(const std::string& words) {
  app_->option_defaults()->group(words);
}

void Arguments::footer(const std::string& words) {
  app_->footer(words);
}

void Arguments::when_parsed(const std::function<void()>& check) {
  app_->parse_complete_callback(check);
}

std::size_t Arguments::count(const std::string& name) const {
  return app_->count(name);
}

std::vector<Argument> Arguments::all() const {
  std::vector<Argument> all;
  for (CLI::Option* option : app_->get_options()) all.emplace_back(*option);
  return all;
}

void refuse_usage(std::string words) {
  throw CLI::ParseError(std::move(words), CLI::ExitCodes::ExcludesError);
}

void end_successfully() {
  throw CLI::Success();
}

void choose_from(Argument option, std::vector<std::string> words) {
  option.type_name(fmt::format("{}", fmt::join(words, "|")));
  option.check([words = std::move(words)](const std::string& word) -> std::string {
    if (std::ranges::find(words, word) != words.end()) return "";
    return fmt::format("\"{}\" is not {}{}", word, words.size() > 1 ? "one of " : "",
                       fmt::join(words, ", "));
  });
}

// The values that options have.
template Argument Arguments::add_flag(const std::string&, bool&, const std::string&);
template Argument Arguments::add_option(const std::string&, int&, const std::string&);
template Argument Arguments::add_option(const std::string&, unsigned&, const std::string&);
template Argument Arguments::add_option(const std::string&, unsigned long&, const std::string&);
template Argument Arguments::add_option(const std::string&, double&, const std::string&);
template Argument Arguments::add_option(const std::string&, std::string&, const std::string&);
template Argument Arguments::add_option(const std::string&, std::optional<unsigned>&,
                                        const std::string&);
template Argument Arguments::add_option(const std::string&, std::optional<double>&,
                                        const std::string&);
template Argument Arguments::add_option(const std::string&, std::vector<int>&, const std::string&);
template Argument Arguments::add_option(const std::string&, std::vector<unsigned>&,
                                        const std::string&);
template Argument Arguments::add_option(const std::string&, std::vector<unsigned long>&,
                                        const std::string&);
template Argument Arguments::add_option(const std::string&, std::vector<std::string>&,
                                        const std::string&);

}  // namespace sojourn::cli
