#include <array>
#include <utility>

#include "base/demangle/parser.h"
#include "base/text.h"

namespace llmprof::demangling {

std::string Piece::text() const {
  if (shape != Shape::pack) return left + right;
  std::string all;
  for (const Piece& element : elements) {
    if (!all.empty()) all += ", ";
    all += element.text();
  }
  return all;
}

size_t Piece::size() const {
  size_t total = left.size() + right.size() + sizeof(Piece);
  for (const Piece& element : elements) total += element.size();
  return total;
}

namespace {

// Words that single letters stand for.
template <size_t N>
struct Letters {
  std::string_view letters;
  std::array<std::string_view, N> words;  // in the order of the letters

  [[nodiscard]] std::optional<std::string_view> find(char letter) const {
    const size_t place = letters.find(letter);
    return place < N ? std::optional(words[place]) : std::nullopt;
  }
};

constexpr Letters<21> kTypes = {"abcdefghijlmnostvwxyz", {"signed char", "bool",
                                                          "char",        "double",
                                                          "long double", "float",
                                                          "__float128",  "unsigned char",
                                                          "int",         "unsigned int",
                                                          "long",        "unsigned long",
                                                          "__int128",    "unsigned __int128",
                                                          "short",       "unsigned short",
                                                          "void",        "wchar_t",
                                                          "long long",   "unsigned long long",
                                                          "..."}};
constexpr Letters<10> kTypesBehindD = {
    "defhisuacn",
    {"decimal64", "decimal128", "decimal32", "half", "char32_t", "char16_t", "char8_t", "auto",
     "decltype(auto)", "decltype(nullptr)"}};
constexpr Letters<6> kStandardNames = {"absiod",
                                       {"std::allocator", "std::basic_string", "std::string",
                                        "std::istream", "std::ostream", "std::iostream"}};

}  // namespace

Piece Parser::type() {
  const Level level(*this);
  if (failed_) return {};
  const size_t start = position_;
  const size_t uses = parameter_uses_;
  bool substitutable = true;
  Piece piece = type_without_substitution(substitutable);
  piece.source.reset();
  if (substitutable && parameter_uses_ != uses) piece.source = start;
  if (piece.left.size() + piece.right.size() > kLongestDemangledName) return fail_piece();
  if (substitutable) remember(piece);
  return piece;
}

Piece Parser::type_without_substitution(bool& substitutable) {
  const char code = peek();
  if (code == 'r' || code == 'V' || code == 'K') return qualified_type();
  if (code == 'F') return function_type();
  if (code == 'A') return array_type();
  if (code == 'M') return member_pointer();
  if (code == 'D') return d_type(substitutable);
  if (accept("P")) return pointer_like(type(), "*");
  if (accept("R")) return pointer_like(type(), "&");
  if (accept("O")) return pointer_like(type(), "&&");
  if (accept("C")) return plain(joined({type().text(), " _Complex"}));
  if (accept("G")) return plain(joined({type().text(), " _Imaginary"}));
  if (accept("U")) {
    const std::string qualifier = source_name();
    return plain(joined({type().text(), " ", qualifier}));
  }
  if (accept("u")) {
    substitutable = false;
    return plain(source_name());
  }
  if (const auto builtin = kTypes.find(code)) {
    ++position_;
    substitutable = false;
    return plain(joined({*builtin}));
  }
  return named_type(substitutable);
}

Piece Parser::named_type(bool& substitutable) {
  if (accept("Ts") || accept("Tu") || accept("Te")) return plain(name(nullptr));
  const bool is_parameter = peek() == 'T';
  if (!is_parameter && (peek() != 'S' || peek(1) == 't')) return plain(name(nullptr));
  Piece piece = is_parameter ? template_parameter() : substitution();
  substitutable = is_parameter;
  if (peek() == 'I') {
    if (is_parameter) remember(piece);
    std::vector<Piece> args = template_args();
    substitutable = true;
    return plain(joined({piece.text(), template_args_text(args)}));
  }
  return piece;
}

Piece Parser::d_type(bool& substitutable) {
  if (const auto builtin = kTypesBehindD.find(peek(1))) {
    position_ += 2;
    substitutable = false;
    return plain(joined({*builtin}));
  }
  if (accept("DF16b")) return substitutable = false, plain("std::bfloat16_t");
  if (accept("DF")) {
    substitutable = false;
    const std::optional<size_t> bits = number();
    accept("x");
    if (!bits || !accept("_")) return fail_piece();
    return plain(joined({"_Float", std::to_string(*bits)}));
  }
  if (accept("Dp")) return pack_expansion();
  if (accept("Dt") || accept("DT")) {
    const std::string what = expression();
    if (!accept("E")) return fail_piece();
    return plain(joined({"decltype (", what, ")"}));
  }
  if (accept("Dv")) {
    const std::optional<size_t> lanes = number();
    if (!lanes || !accept("_")) return fail_piece();
    return plain(joined({type().text(), " __vector(", std::to_string(*lanes), ")"}));
  }
  if (accept("Do") && peek() == 'F') return function_type();
  return fail_piece();
}

Piece Parser::qualified_type() {
  std::string qualifiers;
  if (accept("r")) qualifiers += " __restrict__";
  if (accept("V")) qualifiers += " volatile";
  if (accept("K")) qualifiers += " const";
  // Qualifiers belong to a function's type: without them it is not a type that can be referred to.
  Piece piece = peek() == 'F' ? function_type() : type();
  if (piece.shape == Piece::Shape::pack) {
    for (Piece& element : piece.elements) element.left = joined({element.left, qualifiers});
  } else if (piece.shape == Piece::Shape::function) {
    piece.right = joined({piece.right, qualifiers});
  } else {
    piece.left = joined({piece.left, qualifiers});
  }
  return piece;
}

Piece Parser::pointer_like(Piece to, std::string_view mark) {
  using Shape = Piece::Shape;
  if (failed_) return {};
  if (to.shape == Shape::pack) {
    for (Piece& element : to.elements) element = pointer_like(std::move(element), mark);
    return to;
  }
  if (mark != "*" && to.shape == Shape::lvalue_reference) return to;
  if (mark != "*" && to.shape == Shape::rvalue_reference) {
    if (mark == "&&") return to;
    to.left.pop_back();
    to.shape = Shape::lvalue_reference;
    return to;
  }
  if (to.shape == Shape::function || to.shape == Shape::array) {
    to.left = joined({to.left, to.shape == Shape::array ? " (" : "(", mark});
    to.right = joined({")", to.right});
  } else {
    to.left = joined({to.left, mark});
  }
  to.shape = mark == "*"   ? Shape::plain
             : mark == "&" ? Shape::lvalue_reference
                           : Shape::rvalue_reference;
  return to;
}

Piece Parser::function_type() {
  accept("F");
  accept("Y");
  const Piece result = type();
  const std::string parameters = parameter_list();
  if (!accept("E")) return fail_piece();
  return {joined({result.left, " "}), joined({"(", parameters, ")", result.right}),
          Piece::Shape::function};
}

Piece Parser::array_type() {
  accept("A");
  std::string extent;
  if (const auto fixed = number()) {
    extent = std::to_string(*fixed);
  } else if (peek() != '_') {
    extent = expression();
  }
  if (!accept("_")) return fail_piece();
  const Piece element = type();
  // Rows of a two-dimensional array share one gap: "int [2][3]".
  const std::string_view inner = element.right;
  const bool nested = element.shape == Piece::Shape::array && inner.starts_with(" ");
  return {joined({element.left}), joined({" [", extent, "]", inner.substr(nested ? 1 : 0)}),
          Piece::Shape::array};
}

Piece Parser::member_pointer() {
  accept("M");
  const std::string owner = type().text();
  Piece member = type();
  if (member.shape == Piece::Shape::function) {
    return {joined({member.left, "(", owner, "::*"}), joined({")", member.right})};
  }
  return {joined({member.left, " ", owner, "::*"}), member.right};
}

// The pattern is read once for each element of the pack it mentions.
Piece Parser::pack_expansion() {
  const size_t start = position_;
  const auto outer_index = std::exchange(pack_index_, 0);
  const size_t outer_size = std::exchange(pack_size_, 0);
  const bool outer_saw = std::exchange(saw_pack_, false);
  Piece pack{{}, {}, Piece::Shape::pack};
  Piece first = type();
  const size_t end = position_;
  const size_t known = substitutions_.size();
  if (!saw_pack_) {
    first.left = joined({first.left, "..."});
    pack.elements.push_back(std::move(first));
  } else if (const size_t count = pack_size_; count > 0) {
    pack.elements.push_back(std::move(first));
    for (size_t i = 1; i < count && !failed_; ++i) {
      position_ = start;
      pack_index_ = i;
      pack.elements.push_back(type());
      if (!failed_) substitutions_.resize(known);
    }
    position_ = end;
  }
  pack_index_ = outer_index;
  pack_size_ = outer_size;
  saw_pack_ = outer_saw;
  return pack;
}

Piece Parser::template_parameter() {
  if (!accept("T")) return fail_piece();
  if (accept("L")) {
    if (!number() || !accept("_")) return fail_piece();
  }
  const std::optional<size_t> index = sequence_number(10);
  if (!index) return fail_piece();
  ++parameter_uses_;
  if (in_lambda_signature_) return plain(joined({"auto:", std::to_string(*index + 1)}));
  // An argument may refer to its own list, which is unknown until its end.
  if (*index >= parameters_.size()) return plain(joined({"T", std::to_string(*index + 1)}));
  const Piece& parameter = parameters_[*index];
  if (parameter.shape == Piece::Shape::pack && pack_index_) {
    saw_pack_ = true;
    pack_size_ = parameter.elements.size();
    if (*pack_index_ >= parameter.elements.size()) return {};
    spend(parameter.elements[*pack_index_].size());
    return failed_ ? Piece{} : parameter.elements[*pack_index_];
  }
  spend(parameter.size());
  return failed_ ? Piece{} : parameter;
}

Piece Parser::substitution() {
  if (!accept("S")) return fail_piece();
  if (is_lower(peek())) {
    const auto name = kStandardNames.find(peek());
    if (!name) return fail_piece();
    ++position_;
    return plain(std::string(*name));
  }
  const std::optional<size_t> index = sequence_number(36);
  if (!index || *index >= substitutions_.size()) return fail_piece();
  if (const std::optional<size_t> source = substitutions_[*index].source) {
    const size_t after = std::exchange(position_, *source);
    ++replays_;
    Piece piece = type();
    --replays_;
    position_ = after;
    return piece;
  }
  spend(substitutions_[*index].size());
  return failed_ ? Piece{} : substitutions_[*index];
}

std::vector<Piece> Parser::template_args() {
  const Level level(*this);
  std::vector<Piece> args;
  if (!accept("I")) failed_ = true;
  while (!failed_ && !accept("E")) args.push_back(template_arg());
  return args;
}

Piece Parser::template_arg() {
  const Level level(*this);
  if (at_end()) return fail_piece();
  if (accept("Ty")) return template_arg();
  if (accept("Tn")) {
    type();
    return template_arg();
  }
  if (peek() == 'L') return plain(literal());
  if (accept("X")) {
    std::string text = expression();
    if (!accept("E")) return fail_piece();
    return plain(std::move(text));
  }
  if (accept("J")) {
    Piece pack{{}, {}, Piece::Shape::pack};
    while (!failed_ && !accept("E")) pack.elements.push_back(template_arg());
    return pack;
  }
  return type();
}

std::string Parser::comma_separated(const std::vector<Piece>& pieces) {
  std::string text;
  for (const Piece& piece : pieces) {
    const std::string next = piece.text();
    if (next.empty()) continue;
    spend(next.size() + 2);
    if (failed_ || text.size() + next.size() > kLongestDemangledName) return fail();
    if (!text.empty()) text += ", ";
    text += next;
  }
  return text;
}

std::string Parser::template_args_text(std::vector<Piece>& args) {
  const std::string inner = comma_separated(args);
  return joined({"<", inner, inner.ends_with('>') ? " >" : ">"});
}

std::string Parser::parameter_list() {
  if (accept("v")) return {};
  std::vector<Piece> parameters;
  while (!at_end() && peek() != 'E' && peek() != '.') parameters.push_back(type());
  return comma_separated(parameters);
}

}  // namespace llmprof::demangling
