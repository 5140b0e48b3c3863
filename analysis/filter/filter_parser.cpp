// A recursive descent parser: one function for each level of precedence, from
//
// down to a number. It distinguishes numbers from conditions, calculates constants and refuses
// errors that hold for every trace. Fields are looked up later (bind.cpp).
#include <algorithm>
#include <array>
#include <optional>
#include <utility>

#include "analysis/filter/filter_lexer.h"
#include "analysis/filter/keywords.h"
#include "analysis/filter/syntax.h"
#include "analysis/model/schema.h"

namespace sojourn::filter {

namespace {

using Kind = Node::Kind;

class Parser {
 public:
  explicit Parser(std::string_view text) : lexer_(text) {}

  Result<Node> run() {
    SJ_CHECK(advance());
    if (token_.kind == Token::Kind::kEnd) return wrong(token_.at, "the expression is empty");
    SJ_TRY(root, any_of());
    if (token_.kind != Token::Kind::kEnd) return unexpected_rest();
    SJ_CHECK(require_condition(root));
    return std::move(root);
  }

 private:
  // Counts how deep expressions are nested, since each level takes a few stack frames.
  class Deeper {
   public:
    explicit Deeper(std::size_t& depth) : depth_(++depth) {}
    Deeper(const Deeper&) = delete;
    Deeper& operator=(const Deeper&) = delete;
    ~Deeper() { --depth_; }
    bool too_deep() const { return depth_ > kMaxDepth; }

   private:
    std::size_t& depth_;
  };

  std::unexpected<Error> wrong(TextRange at, std::string_view what) const {
    return lexer_.source().complain(at, what);
  }

  std::unexpected<Error> unexpected_rest() const {
    if (token_.is(")")) return wrong(token_.at, "this parenthesis was never opened");
    if (token_.kind == Token::Kind::kSymbol &&
        (token_.is("==") || token_.is("!=") || token_.is("<") || token_.is(">") ||
         token_.is("<=") || token_.is(">=")))
      return wrong(token_.at, "a comparison cannot be compared: join two with &&");
    if (token_.is_word("and") || token_.is_word("or"))
      return wrong(token_.at, "write && for \"and\", || for \"or\", ! for \"not\"");
    return wrong(token_.at, "expected an operator such as && or ||, or the end");
  }

  Result<void> advance() {
    SJ_TRY(token, lexer_.next());
    last_end_ = token_.at.end;
    token_ = std::move(token);
    return {};
  }

  // Passes the symbol if it is next, and returns whether it was.
  Result<bool> accept(std::string_view symbol) {
    if (!token_.is(symbol)) return false;
    SJ_CHECK(advance());
    return true;
  }

  Result<void> expect(std::string_view symbol, std::string_view after) {
    if (!token_.is(symbol))
      return wrong(token_.at, fmt::format("expected {} after {}", symbol, after));
    return advance();
  }

  Result<void> require_condition(const Node& node) const {
    if (node.is_condition()) return {};
    if (node.kind == Kind::kName)
      return wrong(node.at, fmt::format("{} is a number, not a condition: compare it, e.g. {} > 0",
                                        node.name, node.name));
    return wrong(node.at, "this is a number, not a condition: compare it");
  }

  Result<void> require_number(const Node& node) const {
    if (!node.is_condition()) return {};
    return wrong(node.at, "this is a condition, not a number");
  }

  Result<void> require_constant(const Node& node) const {
    if (node.kind == Kind::kConstant) return {};
    return wrong(node.at, "a set is of constants");
  }

  static Node join(Kind kind, std::vector<Node> parts) {
    Node node;
    node.kind = kind;
    node.at = {parts.front().at.begin, parts.back().at.end};
    node.parts = std::move(parts);
    return node;
  }

  static Node negate(Node node) {
    std::vector<Node> parts;
    parts.push_back(std::move(node));
    return join(Kind::kNot, std::move(parts));
  }

  Result<Node> list(Kind kind, std::string_view symbol, Result<Node> (Parser::*part)()) {
    SJ_TRY(first, (this->*part)());
    if (!token_.is(symbol)) return std::move(first);
    std::vector<Node> parts;
    SJ_CHECK(require_condition(first));
    parts.push_back(std::move(first));
    while (token_.is(symbol)) {
      SJ_CHECK(advance());
      SJ_TRY(next, (this->*part)());
      SJ_CHECK(require_condition(next));
      parts.push_back(std::move(next));
    }
    return join(kind, std::move(parts));
  }

  Result<Node> any_of() {
    const Deeper deeper(depth_);
    if (deeper.too_deep()) return wrong(token_.at, "nested too deeply");
    return list(Kind::kOr, "||", &Parser::all_of);
  }
  Result<Node> all_of() { return list(Kind::kAnd, "&&", &Parser::negation); }

  Result<Node> negation() {
    if (!token_.is("!")) return comparison();
    const Deeper deeper(depth_);
    if (deeper.too_deep()) return wrong(token_.at, "nested too deeply");
    const TextRange at = token_.at;
    SJ_CHECK(advance());
    SJ_TRY(node, negation());
    SJ_CHECK(require_condition(node));
    Node negated = negate(std::move(node));
    negated.at.begin = at.begin;
    return negated;
  }

  Result<Node> comparison() {
    SJ_TRY(left, sum());
    if (token_.is_word("in")) return membership(std::move(left));
    struct Row {
      std::string_view symbol;
      Comparison comparison;
      bool negated;
    };
    constexpr std::array kRows = {
        Row{"==", Comparison::kEqual, false},  Row{"!=", Comparison::kEqual, true},
        Row{"<", Comparison::kLess, false},    Row{"<=", Comparison::kLessOrEqual, false},
        Row{">", Comparison::kGreater, false}, Row{">=", Comparison::kGreaterOrEqual, false},
    };
    const auto row =
        std::ranges::find_if(kRows, [&](const Row& one) { return token_.is(one.symbol); });
    if (token_.is("~") || token_.is("!~"))
      return wrong(left.at,
                   "only point, src, dest, hop and thread are texts that a pattern can match");
    if (row == kRows.end()) return std::move(left);
    SJ_CHECK(require_number(left));
    SJ_CHECK(advance());
    SJ_TRY(right, sum());
    SJ_CHECK(require_number(right));
    SJ_CHECK(require_same_unit(left, right));
    const bool is_settled = left.kind == Kind::kConstant && right.kind == Kind::kConstant;
    std::vector<Node> parts;
    parts.push_back(std::move(left));
    parts.push_back(std::move(right));
    Node node = join(Kind::kCompare, std::move(parts));
    if (is_settled) return wrong(node.at, "this compares two constants: it is always the same");
    node.comparison = row->comparison;
    return row->negated ? negate(std::move(node)) : std::move(node);
  }

  // A time and a count do not compare; a field may be either.
  Result<void> require_same_unit(const Node& left, const Node& right) const {
    if (left.unit == right.unit || left.unit == Unit::kAny || right.unit == Unit::kAny) return {};
    const Node& plain = left.unit == Unit::kPlain ? left : right;
    if (plain.kind == Kind::kConstant && plain.number == 0) return {};
    if (plain.kind != Kind::kConstant)
      return wrong(plain.at, "a count and a time cannot be compared or added");
    return wrong(plain.at, unit_wanted(fmt::format("{}", plain.number)));
  }

  Result<Node> membership(Node left) {
    SJ_CHECK(require_number(left));
    if (left.kind == Kind::kConstant)
      return wrong(left.at, "this is a constant: it is always the same");
    SJ_CHECK(advance());
    std::vector<Node> parts;
    parts.push_back(std::move(left));
    if (token_.is("{")) {
      const auto member = [&]() -> Result<void> {
        SJ_CHECK(advance());
        return item(parts, false);
      };
      SJ_CHECK(set(member));
    } else {
      SJ_CHECK(item(parts, true));
    }
    Node node = join(Kind::kIn, std::move(parts));
    node.at.end = last_end_;
    return node;
  }

  // 7 or 10..20
  Result<void> item(std::vector<Node>& parts, bool must_be_range) {
    SJ_TRY(from, sum());
    SJ_CHECK(require_number(from));
    SJ_CHECK(require_same_unit(parts.front(), from));
    SJ_TRY(is_range, accept(".."));
    if (!is_range) {
      if (must_be_range)
        return wrong(from.at, "after \"in\" comes a set {1, 2, 10..20} or a range 10..20");
      SJ_CHECK(require_constant(from));
      Node same = from;
      parts.push_back(std::move(from));
      parts.push_back(std::move(same));
      return {};
    }
    SJ_TRY(to, sum());
    SJ_CHECK(require_number(to));
    SJ_CHECK(require_same_unit(parts.front(), to));
    SJ_CHECK(require_constant(from));
    SJ_CHECK(require_constant(to));
    if (from.number > to.number)
      return wrong({from.at.begin, to.at.end},
                   "the range is empty: the smaller number comes first");
    parts.push_back(std::move(from));
    parts.push_back(std::move(to));
    return {};
  }

  Result<Node> calculation(Operator op, Node left, Node right) const {
    SJ_CHECK(require_number(left));
    SJ_CHECK(require_number(right));
    Unit unit = left.unit;
    const bool additive = op == Operator::kAdd || op == Operator::kSubtract;
    if (additive || op == Operator::kRemainder) {
      SJ_CHECK(require_same_unit(left, right));
      if (left.unit == Unit::kAny) unit = right.unit == Unit::kPlain ? Unit::kAny : right.unit;
    } else if (left.unit == Unit::kAny || right.unit == Unit::kAny) {
      unit = Unit::kAny;
    } else if (op == Operator::kDivide) {
      if (right.unit == Unit::kTime && left.unit == Unit::kPlain)
        return wrong(right.at, "a count cannot be divided by a time");
      if (right.unit == Unit::kTime) unit = Unit::kPlain;
    } else {
      if (left.unit == Unit::kTime && right.unit == Unit::kTime)
        return wrong(right.at, "two times cannot be multiplied");
      if (right.unit == Unit::kTime) unit = Unit::kTime;
    }
    const bool divides = op == Operator::kDivide || op == Operator::kRemainder;
    if (divides && right.kind == Kind::kConstant && right.number == 0)
      return wrong(right.at, "division by zero");
    if (left.kind == Kind::kConstant && right.kind == Kind::kConstant) {
      const TextRange at = {left.at.begin, right.at.end};
      return folded(calculate(op, left.number, right.number), unit, at);
    }
    std::vector<Node> parts;
    parts.push_back(std::move(left));
    parts.push_back(std::move(right));
    Node node = join(Kind::kCalculate, std::move(parts));
    node.op = op;
    node.unit = unit;
    return node;
  }

  Result<Node> folded(std::optional<Number> number, Unit unit, TextRange at) const {
    if (!number) return wrong(at, "the number becomes too large");
    Node node;
    node.number = *number;
    node.unit = unit;
    node.at = at;
    return node;
  }

  Result<Node> sum() {
    SJ_TRY(node, product());
    while (token_.is("+") || token_.is("-")) {
      const Operator op = token_.is("+") ? Operator::kAdd : Operator::kSubtract;
      SJ_CHECK(advance());
      SJ_TRY(right, product());
      SJ_TRY(both, calculation(op, std::move(node), std::move(right)));
      node = std::move(both);
      if (++operators_ > kMaxOperators) return wrong(node.at, "too much arithmetic");
    }
    return std::move(node);
  }

  Result<Node> product() {
    SJ_TRY(node, signed_number());
    while (token_.is("*") || token_.is("/") || token_.is("%")) {
      const Operator op = token_.is("*")   ? Operator::kMultiply
                          : token_.is("/") ? Operator::kDivide
                                           : Operator::kRemainder;
      SJ_CHECK(advance());
      SJ_TRY(right, signed_number());
      SJ_TRY(both, calculation(op, std::move(node), std::move(right)));
      node = std::move(both);
      if (++operators_ > kMaxOperators) return wrong(node.at, "too much arithmetic");
    }
    return std::move(node);
  }

  Result<Node> signed_number() {
    if (!token_.is("-")) return primary();
    const Deeper deeper(depth_);
    if (deeper.too_deep()) return wrong(token_.at, "nested too deeply");
    const TextRange at = token_.at;
    SJ_CHECK(advance());
    SJ_TRY(node, signed_number());
    SJ_CHECK(require_number(node));
    const Unit unit = node.unit;
    if (node.kind == Kind::kConstant)
      return folded(calculate(Operator::kSubtract, 0, node.number), unit, {at.begin, node.at.end});
    std::vector<Node> parts;
    parts.push_back(std::move(node));
    Node negated = join(Kind::kNegate, std::move(parts));
    negated.unit = unit;
    negated.at.begin = at.begin;
    return negated;
  }

  Result<Node> primary() {
    if (token_.is("(")) return parenthesis();
    if (token_.kind == Token::Kind::kNumber) {
      Node node;
      node.number = token_.number;
      node.at = token_.at;
      node.unit = token_.unit;
      SJ_CHECK(advance());
      return node;
    }
    if (token_.kind == Token::Kind::kText)
      return wrong(token_.at, "a text stands only after point, src, dest, hop, dir or thread");
    if (token_.kind == Token::Kind::kWord && !token_.is_word("in")) return name();
    if (token_.kind == Token::Kind::kEnd)
      return wrong(token_.at, "the expression ends where a value is wanted");
    return wrong(token_.at, "expected a field, a word or a number here");
  }

  Result<Node> parenthesis() {
    const TextRange open = token_.at;
    SJ_CHECK(advance());
    SJ_TRY(node, any_of());
    if (!token_.is(")")) {
      if (token_.kind == Token::Kind::kEnd) return wrong(open, "this parenthesis is never closed");
      return unexpected_rest();
    }
    node.at = {open.begin, token_.at.end};
    SJ_CHECK(advance());
    return std::move(node);
  }

  Result<Node> name() {
    Node node;
    node.kind = Kind::kName;
    node.unit = Unit::kAny;
    node.name = token_.spelling;
    node.at = token_.at;
    const TextRange after = {token_.at.end, token_.at.end};
    const KeywordInfo* const word = find_keyword(node.name);
    // A pattern may follow the keyword, which must not be read as a number.
    SJ_CHECK(advance());
    if (token_.is("(")) return call(std::move(node));
    if (word == nullptr) return node;
    switch (word->kind) {
      case KeywordKind::kText:
        return text(std::move(node), after);
      case KeywordKind::kFlag:
        node.kind = Kind::kFlag;
        return node;
      case KeywordKind::kTime:
        node.unit = Unit::kTime;
        return node;
      case KeywordKind::kThread:
        node.unit = Unit::kPlain;
        return is_called() ? called(std::move(node)) : std::move(node);
      case KeywordKind::kNumber:
        node.unit = Unit::kPlain;
        return node;
    }
    return node;
  }

  // at(place), has(field), field(name), event(condition)
  Result<Node> call(Node node) {
    if (node.name == "event") {
      if (in_event_) return wrong(node.at, "event() in event() says nothing more");
      in_event_ = true;
      SJ_TRY(inner, parenthesis());
      in_event_ = false;
      SJ_CHECK(require_condition(inner));
      node.kind = Kind::kEvent;
      node.at.end = inner.at.end;
      node.parts.push_back(std::move(inner));
      return node;
    }
    if (node.name != "at" && node.name != "has" && node.name != "field")
      return wrong(node.at, fmt::format("there is no {}(): at(PLACE), has(FIELD), field(NAME) and "
                                        "event(CONDITION) are",
                                        node.name));
    SJ_TRY(pattern, lexer_.pattern());
    SJ_CHECK(advance());
    node.at.end = token_.at.end;
    SJ_CHECK(expect(")", fmt::format("{}({}", node.name, "...")));
    if (node.name == "at") {
      pattern.is_glob = is_glob(pattern);
      node.kind = Kind::kAt;
      node.unit = Unit::kTime;
      node.patterns.push_back(std::move(pattern));
      return node;
    }
    node.kind = node.name == "has" ? Kind::kHas : Kind::kName;
    node.is_field = true;
    node.name = pattern.text;
    return node;
  }

  static bool is_glob(const Pattern& pattern) {
    return pattern.text.find_first_of("*?[") != std::string::npos;
  }

  // point ~ rlc.*, dir == D, src in {ip.in, gtp.tx}
  Result<Node> text(Node node, TextRange after) {
    const bool is_set = token_.is_word("in");
    const bool is_match = token_.is("~") || token_.is("!~");
    const bool is_negated = token_.is("!=") || token_.is("!~");
    if (!is_set && !is_match && !token_.is("==") && !token_.is("!="))
      return wrong(token_.kind == Token::Kind::kEnd ? after : token_.at,
                   fmt::format("{} is a text: ==, !=, ~ (matches), !~ or in {{..}} is wanted after "
                               "it",
                               node.name));
    if (is_match && node.name == "dir")
      return wrong(token_.at, "dir is one letter: compare it by ==, != or in {..}");
    node.kind = Kind::kText;
    if (is_set) {
      SJ_CHECK(advance());
      if (!token_.is("{")) return wrong(token_.at, "expected { after \"in\"");
      SJ_CHECK(set([&] { return add_pattern(node, true); }));
    } else {
      SJ_CHECK(add_pattern(node, is_match));
    }
    node.at.end = last_end_;
    return is_negated ? negate(std::move(node)) : std::move(node);
  }

  // Reads a set from its opening brace on; `member()` reads one member and passes it.
  template <typename Member>
  Result<void> set(Member member) {
    do {
      SJ_CHECK(member());
    } while (token_.is(","));
    return expect("}", "the set");
  }

  // Returns whether a thread's name follows, or a set that may contain names.
  bool is_called() const {
    if (token_.is("==") || token_.is("!=")) return lexer_.at_pattern();
    return token_.is("~") || token_.is("!~") || (token_.is_word("in") && lexer_.at_set());
  }

  // thread == mac, thread ~ gnb_*, thread in {mac, rlc*, 4242, 10..20}
  Result<Node> called(Node thread) {
    Node node;
    node.kind = Kind::kIn;
    node.name = thread.name;
    node.at.begin = thread.at.begin;
    node.parts.push_back(std::move(thread));
    const bool is_match = token_.is("~") || token_.is("!~");
    const bool is_negated = token_.is("!=") || token_.is("!~");
    if (token_.is_word("in")) {
      SJ_CHECK(advance());
      SJ_CHECK(set([&] { return member(node); }));
    } else {
      SJ_CHECK(add_pattern(node, is_match));
    }
    node.at.end = last_end_;
    return is_negated ? negate(std::move(node)) : std::move(node);
  }

  Result<void> member(Node& node) {
    if (lexer_.at_pattern()) return add_pattern(node, true);
    SJ_CHECK(advance());
    return item(node.parts, false);
  }

  Result<void> add_pattern(Node& node, bool may_be_glob) {
    SJ_TRY(pattern, lexer_.pattern());
    pattern.is_glob = is_glob(pattern);
    if (pattern.is_glob && (!may_be_glob || node.name == "dir"))
      return wrong(pattern.at,
                   node.name == "dir"
                       ? "dir is one letter"
                       : fmt::format("== compares exactly: write {} ~ for a pattern", node.name));
    if (node.name == "dir") SJ_CHECK(require_direction(pattern));
    node.patterns.push_back(std::move(pattern));
    return advance();
  }

  Result<void> require_direction(const Pattern& pattern) const {
    if (pattern.text.size() == 1 && model::direction_from_letter(pattern.text.front())) return {};
    std::string letters;
    for (char letter = 'A'; letter <= 'Z'; ++letter)
      if (model::direction_from_letter(letter)) letters += fmt::format(" {}", letter);
    return wrong(pattern.at,
                 fmt::format("\"{}\" is no direction: one of{}", pattern.text, letters));
  }

  // More than anybody writes. A long row of operators nests deeply, and is walked recursively.
  static constexpr std::size_t kMaxOperators = 256;

  Lexer lexer_;
  Token token_;
  std::size_t last_end_ = 0;
  std::size_t depth_ = 0;
  std::size_t operators_ = 0;
  bool in_event_ = false;
};

}  // namespace

Result<Expression> parse(std::string_view text) {
  if (text.size() > kMaxText)
    return fail("an expression of {} characters: at most {} are allowed", text.size(), kMaxText);
  SJ_TRY(root, Parser(text).run());
  return Expression{.text = std::string(text), .root = std::move(root)};
}

}  // namespace sojourn::filter
