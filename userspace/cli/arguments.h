// The arguments of one subcommand: its options and words, their checks, and the variables for their
// values. A narrow wrapper of CLI11, whose header takes longer to compile than the rest of a
// command: only sources that need the library itself include it. Variables that are passed by
// reference must live until the arguments were parsed.
#pragma once

#include <functional>
#include <string>
#include <utility>
#include <vector>

namespace CLI {
class App;
class Option;
}  // namespace CLI

namespace sojourn::cli {

// Checks an option's words. The error follows the option's name in the message; "": no error.
using Check = std::function<std::string(const std::string&)>;

// One option, flag or positional word.
class Argument {
 public:
  explicit Argument(CLI::Option& option) : option_(&option) {}

  // The placeholder of the value in the help: "TIME".
  Argument& type_name(const std::string& words);
  Argument& option_text(const std::string& words);
  Argument& check(Check check);
  Argument& default_str(const std::string& words);
  Argument& capture_default_str();
  Argument& required();
  Argument& needs(const Argument& other);
  Argument& excludes(const Argument& other);
  Argument& delimiter(char between);
  Argument& expected(int least_words, int max_words);
  // Each use of the option takes one word, not all that follow.
  Argument& one_word_each();

  std::string name() const;
  std::size_t count() const;
  bool is_given() const { return count() != 0; }

 private:
  CLI::Option* option_;
};

class Arguments {
 public:
  explicit Arguments(CLI::App& app) : app_(&app) {}

  // Values: bool, whole and real numbers, strings, vectors and optionals of them. The types that
  // are in use are listed in arguments.cpp.
  template <typename Value>
  Argument add_option(const std::string& name, Value& into, const std::string& help);
  template <typename Value>
  Argument add_flag(const std::string& name, Value& into, const std::string& help);
  Argument add_option_function(const std::string& name,
                               const std::function<void(const std::string&)>& take,
                               const std::string& help);

  // Options that are added from now on are below this heading in the help.
  void heading(const std::string& words);
  void footer(const std::string& words);
  // Runs when all arguments of the command are parsed; may refuse_usage().
  void when_parsed(const std::function<void()>& check);

  std::size_t count(const std::string& name) const;
  std::vector<Argument> all() const;

  // The library's object, for code that prints all arguments.
  const CLI::App& app() const { return *app_; }

 private:
  CLI::App* app_;
};

// Ends parsing with an error about the arguments. It may be called only while they are parsed.
[[noreturn]] void refuse_usage(std::string words);

// Ends parsing and the program, after an option has printed its output.
[[noreturn]] void end_successfully();

// One of these words and no other.
void choose_from(Argument option, std::vector<std::string> words);

// An option with a value for each word.
template <typename Value>
Argument add_choice(Arguments& arguments, const std::string& name, Value& into,
                    std::vector<std::pair<std::string, Value>> choices, const std::string& help) {
  std::vector<std::string> words;
  std::string standing;
  for (const auto& [word, value] : choices) {
    words.push_back(word);
    if (value == into) standing = word;
  }
  Argument option = arguments.add_option_function(
      name,
      [&into, choices = std::move(choices)](const std::string& given) {
        for (const auto& [word, value] : choices)
          if (word == given) into = value;
      },
      help);
  choose_from(option, std::move(words));
  return option.default_str(standing);
}

}  // namespace sojourn::cli
