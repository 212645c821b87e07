#include <algorithm>
#include <array>

#include "base/demangle/parser.h"
#include "base/text.h"

namespace llmprof::demangling {
namespace {

constexpr std::array kOperators = {
    Operator{"aN", "&=", 2},     Operator{"aS", "=", 2},        Operator{"aa", "&&", 2},
    Operator{"ad", "&", 1},      Operator{"an", "&", 2},        Operator{"aw", "co_await", 1},
    Operator{"cl", "()", 0},     Operator{"cm", ",", 2},        Operator{"co", "~", 1},
    Operator{"dV", "/=", 2},     Operator{"da", "delete[]", 1}, Operator{"de", "*", 1},
    Operator{"dl", "delete", 1}, Operator{"dv", "/", 2},        Operator{"eO", "^=", 2},
    Operator{"eo", "^", 2},      Operator{"eq", "==", 2},       Operator{"ge", ">=", 2},
    Operator{"gt", ">", 2},      Operator{"ix", "[]", 0},       Operator{"lS", "<<=", 2},
    Operator{"le", "<=", 2},     Operator{"ls", "<<", 2},       Operator{"lt", "<", 2},
    Operator{"mI", "-=", 2},     Operator{"mL", "*=", 2},       Operator{"mi", "-", 2},
    Operator{"ml", "*", 2},      Operator{"mm", "--", 1},       Operator{"na", "new[]", 0},
    Operator{"ne", "!=", 2},     Operator{"ng", "-", 1},        Operator{"nt", "!", 1},
    Operator{"nw", "new", 0},    Operator{"oR", "|=", 2},       Operator{"oo", "||", 2},
    Operator{"or", "|", 2},      Operator{"pL", "+=", 2},       Operator{"pl", "+", 2},
    Operator{"pm", "->*", 2},    Operator{"pp", "++", 1},       Operator{"ps", "+", 1},
    Operator{"pt", "->", 0},     Operator{"qu", "?", 3},        Operator{"rM", "%=", 2},
    Operator{"rS", ">>=", 2},    Operator{"rm", "%", 2},        Operator{"rs", ">>", 2},
    Operator{"ss", "<=>", 2},
};

}  // namespace

const Operator* find_operator(std::string_view code) {
  const auto* found = std::find_if(kOperators.begin(), kOperators.end(),
                                   [&](const Operator& op) { return op.code == code; });
  return found == kOperators.end() ? nullptr : found;
}

std::string Parser::expression() {
  const Level level(*this);
  if (at_end()) return fail();
  accept("gs");
  if (peek() == 'L') return literal();
  if (peek() == 'T') return template_parameter().text();
  if (peek() == 'f' && (peek(1) == 'p' || (peek(1) == 'L' && is_digit(peek(2))))) {
    return function_parameter();
  }
  if (is_digit(peek())) return simple_name();
  if (accept("sr")) return unresolved_name();
  const std::string_view code = text_.substr(position_, 2);
  position_ += code.size();
  if (auto special = special_expression(code)) return *special;
  const Operator* op = find_operator(code);
  if (op == nullptr || op->operands == 0) return fail();
  return operator_expression(*op);
}

std::string Parser::function_parameter() {
  position_ += 1;
  if (accept("L")) number();
  accept("p");
  while (accept("r") || accept("V") || accept("K")) {
  }
  if (accept("T")) return "this";
  const std::optional<size_t> index = sequence_number(10);
  if (!index) return fail();
  return joined({"{parm#", std::to_string(*index + 1), "}"});
}

std::string Parser::operator_expression(const Operator& op) {
  if (op.operands == 1) {
    if (op.code == "pp" || op.code == "mm") accept("_");
    return joined({op.symbol, "(", expression(), ")"});
  }
  const std::string first = expression();
  const std::string second = expression();
  if (op.operands == 3) {
    return joined({"(", first, ")?(", second, ") : (", expression(), ")"});
  }
  // Parentheses keep "a > b" from closing a template argument list.
  const bool closes = op.code == "gt" || op.code == "rs" || op.code == "ge";
  return joined({closes ? "((" : "(", first, ")", op.symbol, "(", second, closes ? "))" : ")"});
}

std::optional<std::string> Parser::special_expression(std::string_view code) {
  if (code == "cl") {
    const std::string callee = expression();
    return joined({callee, "(", expressions_until_end(), ")"});
  }
  if (code == "cv") {
    const std::string to = type().text();
    const std::string what = accept("_") ? expressions_until_end() : expression();
    return joined({"(", to, ")(", what, ")"});
  }
  if (code == "tl" || code == "il") {
    const std::string of = code == "tl" ? type().text() : std::string();
    return joined({of, "{", expressions_until_end(), "}"});
  }
  if (code == "st") return joined({"sizeof (", type().text(), ")"});
  if (code == "sz") return joined({"sizeof (", expression(), ")"});
  if (code == "at") return joined({"alignof (", type().text(), ")"});
  if (code == "az") return joined({"alignof (", expression(), ")"});
  if (code == "nx") return joined({"noexcept (", expression(), ")"});
  if (code == "sp") return joined({expression(), "..."});
  if (code == "sZ") return joined({"sizeof...(", expression(), ")"});
  if (code == "dt" || code == "pt") {
    const std::string object = expression();
    return joined({object, code == "dt" ? "." : "->", simple_name()});
  }
  if (code == "ix") {
    const std::string object = expression();
    return joined({object, "[", expression(), "]"});
  }
  if (code == "sc" || code == "dc" || code == "cc" || code == "rc") {
    const std::string_view cast = code == "sc"   ? "static_cast<"
                                  : code == "dc" ? "dynamic_cast<"
                                  : code == "cc" ? "const_cast<"
                                                 : "reinterpret_cast<";
    const std::string to = type().text();
    return joined({cast, to, ">(", expression(), ")"});
  }
  if (code == "fl" || code == "fr") {
    const std::string_view symbol_code = text_.substr(std::min(position_, text_.size()), 2);
    const Operator* op = find_operator(symbol_code);
    if (op == nullptr) return fail();
    position_ += 2;
    const std::string pattern = expression();
    return code == "fl" ? joined({"(...", op->symbol, pattern, ")"})
                        : joined({"(", pattern, op->symbol, "...)"});
  }
  return std::nullopt;
}

std::string Parser::expressions_until_end() {
  std::string text;
  while (!failed_ && !accept("E")) {
    const std::string next = expression();
    text = text.empty() ? next : joined({text, ", ", next});
  }
  return text;
}

std::string Parser::simple_name() {
  std::string text = accept("on") ? operator_name(nullptr) : source_name();
  if (peek() != 'I') return text;
  std::vector<Piece> args = template_args();
  return joined({text, template_args_text(args)});
}

std::string Parser::unresolved_name() {
  const bool several = accept("N") || is_digit(peek());
  std::string text = is_digit(peek()) ? simple_name() : type().text();
  while (several && !failed_ && !accept("E")) text = joined({text, "::", simple_name()});
  return joined({text, "::", simple_name()});
}

std::string Parser::literal() {
  const Level level(*this);
  accept("L");
  if (accept("_Z") || accept("Z")) {
    std::string text = encoding(false, DemangleExtent::whole);
    return accept("E") ? text : fail();
  }
  const char code = peek();
  const std::string of = type().text();
  const bool negative = accept("n");
  const size_t start = position_;
  while (!at_end() && peek() != 'E') ++position_;
  const std::string_view value = text_.substr(start, position_ - start);
  if (!accept("E")) return fail();
  spend(value.size());
  if (code == 'b' && value == "0") return "false";
  if (code == 'b' && value == "1") return "true";
  const std::string_view suffix = code == 'j'   ? "u"
                                  : code == 'l' ? "l"
                                  : code == 'm' ? "ul"
                                  : code == 'x' ? "ll"
                                  : code == 'y' ? "ull"
                                                : "";
  const bool bare = code == 'i' || !suffix.empty();
  return joined(
      {bare ? "" : "(", bare ? "" : of, bare ? "" : ")", negative ? "-" : "", value, suffix});
}

}  // namespace llmprof::demangling
