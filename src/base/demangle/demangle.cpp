#include "base/demangle/demangle.h"

#include <algorithm>
#include <utility>

#include "base/demangle/parser.h"
#include "base/text.h"

namespace llmprof {
namespace demangling {
char Parser::peek(size_t ahead) const {
  if (failed_ || position_ + ahead >= text_.size()) return '\0';
  return text_[position_ + ahead];
}

bool Parser::accept(std::string_view expected) {
  if (failed_ || text_.substr(position_, expected.size()) != expected) return false;
  position_ += expected.size();
  return true;
}

std::optional<size_t> Parser::number() {
  if (!is_digit(peek())) return std::nullopt;
  size_t value = 0;
  while (is_digit(peek())) {
    value = std::min(value * 10 + static_cast<size_t>(peek() - '0'), kLongestMangledName * 2);
    ++position_;
  }
  return value;
}

std::optional<size_t> Parser::sequence_number(unsigned base) {
  size_t value = 0;
  bool any = false;
  for (; peek() != '_'; ++position_, any = true) {
    const char c = peek();
    size_t digit = 0;
    if (is_digit(c)) {
      digit = static_cast<size_t>(c - '0');
    } else if (base > 10 && c >= 'A' && c <= 'Z') {
      digit = static_cast<size_t>(c - 'A') + 10;
    } else {
      return std::nullopt;
    }
    value = std::min(value * base + digit, kLongestMangledName * 2);
  }
  ++position_;
  return any ? value + 1 : 0;
}

void Parser::spend(size_t amount) {
  if (amount > allowance_) {
    failed_ = true;
    allowance_ = 0;
  } else {
    allowance_ -= amount;
  }
}

std::string Parser::fail() {
  failed_ = true;
  return {};
}

Piece Parser::fail_piece() {
  failed_ = true;
  return {};
}

void Parser::remember(const Piece& piece) {
  if (replays_ > 0) return;
  spend(piece.size());
  if (!failed_) substitutions_.push_back(piece);
}

std::string Parser::joined(std::initializer_list<std::string_view> parts) {
  size_t total = 0;
  for (const std::string_view part : parts) total += part.size();
  if (total > kLongestDemangledName) failed_ = true;
  spend(total);
  std::string text;
  if (failed_) return text;
  text.reserve(total);
  for (const std::string_view part : parts) text += part;
  return text;
}

std::optional<std::string> Parser::run(DemangleExtent extent) {
  if (!accept("_Z")) return std::nullopt;
  std::string text = encoding(true, extent);
  const bool consumed =
      extent == DemangleExtent::name_only || position_ == text_.size() || peek() == '.';
  if (failed_ || !consumed || text.empty()) return std::nullopt;
  return text;
}

std::string Parser::encoding(bool outermost, DemangleExtent extent) {
  const Level level(*this);
  if (failed_ || peek() == 'T' || peek() == 'G') return fail();
  std::vector<Piece> outer_parameters = std::exchange(parameters_, {});
  const bool outer_lambda = std::exchange(in_lambda_signature_, false);
  NameState state;
  std::string text = name(&state);
  const bool named_only = outermost && extent == DemangleExtent::name_only;
  if (!named_only && !at_end() && peek() != 'E' && peek() != '.') {
    Piece result;
    if (state.ends_with_template_args && !state.has_no_return_type) result = type();
    if (!outermost) result = {};
    const std::string parameters = parameter_list();
    const std::string_view gap =
        result.left.empty() || result.shape == Piece::Shape::function ? "" : " ";
    text = joined({result.left, gap, text, "(", parameters, ")", result.right, state.qualifiers});
  }
  parameters_ = std::move(outer_parameters);
  in_lambda_signature_ = outer_lambda;
  return text;
}

std::string Parser::name(NameState* state) {
  const Level level(*this);
  if (peek() == 'N') return nested_name(state);
  if (peek() == 'Z') return local_name(state);
  std::string text;
  if (peek() == 'S' && peek(1) != 't') {
    text = substitution().text();
    if (peek() != 'I') return fail();
  } else {
    text = unscoped_name();
    if (peek() != 'I') return text;
    remember(plain(text));
  }
  std::vector<Piece> args = template_args();
  text = joined({text, template_args_text(args)});
  if (state != nullptr) {
    state->ends_with_template_args = true;
    parameters_ = std::move(args);
  }
  return text;
}

std::string Parser::unscoped_name() {
  const bool in_std = accept("St");
  accept("L");
  std::string text = unqualified_name(nullptr, {});
  return in_std ? joined({"std::", text}) : text;
}

std::string Parser::nested_name(NameState* state) {
  const Level level(*this);
  accept("N");
  std::string qualifiers;
  for (bool more = true; more;) {
    more = false;
    if (accept("r")) more = true;
    if (accept("V")) qualifiers += " volatile", more = true;
    if (accept("K")) qualifiers += " const", more = true;
  }
  if (accept("R")) qualifiers += " &";
  if (accept("O")) qualifiers += " &&";
  if (state != nullptr) state->qualifiers = qualifiers;

  std::string text;
  std::string component;
  while (!accept("E")) {
    if (at_end()) return fail();
    const Level component_level(*this);
    bool args_last = false;
    if (accept("St")) {
      text = "std";
      continue;
    }
    if (peek() == 'S') {
      text = substitution().text();
      component = text.substr(std::min(text.rfind(':') + 1, text.size()));
      continue;
    }
    if (peek() == 'T') {
      text = template_parameter().text();
    } else if (peek() == 'I') {
      std::vector<Piece> args = template_args();
      text = joined({text, template_args_text(args)});
      if (state != nullptr) parameters_ = std::move(args);
      args_last = true;
    } else if (peek() == 'D' && (peek(1) == 't' || peek(1) == 'T')) {
      text = type().text();
    } else {
      accept("L");
      component = unqualified_name(state, component);
      text = text.empty() ? component : joined({text, "::", component});
    }
    accept("M");
    if (state != nullptr) state->ends_with_template_args = args_last;
    if (peek() != 'E') remember(plain(text));
  }
  return text;
}

std::string Parser::local_name(NameState* state) {
  const Level level(*this);
  accept("Z");
  const std::string function = encoding(false, DemangleExtent::whole);
  if (!accept("E")) return fail();
  if (accept("s")) {
    discriminator();
    return joined({function, "::string literal"});
  }
  if (accept("d")) {
    number();
    if (!accept("_")) return fail();
  }
  const std::string entity = name(state);
  discriminator();
  return joined({function, "::", entity});
}

void Parser::discriminator() {
  if (peek() != '_') return;
  if (is_digit(peek(1))) {
    position_ += 2;
  } else if (peek(1) == '_' && is_digit(peek(2))) {
    position_ += 2;
    number();
    if (!accept("_")) failed_ = true;
  }
}

std::string Parser::unqualified_name(NameState* state, const std::string& enclosing) {
  std::string text;
  if (is_digit(peek())) {
    text = source_name();
  } else if (peek() == 'U') {
    text = unnamed_type();
  } else if (peek() == 'C' && is_digit(peek(1))) {
    position_ += 2;
    if (state != nullptr) state->has_no_return_type = true;
    text = enclosing;
  } else if (peek() == 'D' && is_digit(peek(1))) {
    position_ += 2;
    if (state != nullptr) state->has_no_return_type = true;
    text = joined({"~", enclosing});
  } else if (is_lower(peek())) {
    text = operator_name(state);
  } else {
    return fail();
  }
  while (accept("B")) text = joined({text, "[abi:", source_name(), "]"});
  return text;
}

std::string Parser::source_name() {
  const std::optional<size_t> length = number();
  if (!length || *length == 0 || *length > text_.size() - position_) return fail();
  const std::string_view identifier = text_.substr(position_, *length);
  position_ += *length;
  if (identifier.starts_with("_GLOBAL__N")) return joined({"(anonymous namespace)"});
  return joined({identifier});
}

std::string Parser::unnamed_type() {
  const bool is_lambda = accept("Ul");
  std::string what = "unnamed type";
  if (is_lambda) {
    const bool outer = std::exchange(in_lambda_signature_, true);
    while (accept("Ty") || accept("Tn")) {
      if (text_[position_ - 1] == 'n') type();
    }
    what = joined({"lambda(", parameter_list(), ")"});
    in_lambda_signature_ = outer;
    if (!accept("E")) return fail();
  } else if (!accept("Ut")) {
    return fail();
  }
  const std::optional<size_t> number_in_scope = sequence_number(10);
  if (!number_in_scope) return fail();
  return joined({"{", what, "#", std::to_string(*number_in_scope + 1), "}"});
}

std::string Parser::operator_name(NameState* state) {
  if (accept("cv")) {
    if (state != nullptr) state->has_no_return_type = true;
    return joined({"operator ", type().text()});
  }
  if (accept("li")) return joined({"operator\"\" ", source_name()});
  const Operator* op = find_operator(text_.substr(std::min(position_, text_.size()), 2));
  if (op == nullptr) return fail();
  position_ += 2;
  return joined({is_lower(op->symbol.front()) ? "operator " : "operator", op->symbol});
}

}  // namespace demangling

std::optional<std::string> demangle(std::string_view mangled, DemangleExtent extent) {
  if (mangled.size() > kLongestMangledName) return std::nullopt;
  return demangling::Parser(mangled).run(extent);
}

}  // namespace llmprof
