#pragma once

#include <cstddef>
#include <initializer_list>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/demangle/demangle.h"

namespace llmprof::demangling {

// A type surrounds what it declares: "int (*" and ")(float)" for a pointer to a function.
struct Piece {
  enum class Shape { plain, function, array, lvalue_reference, rvalue_reference, pack };

  std::string left;
  std::string right;
  Shape shape = Shape::plain;
  std::vector<Piece> elements = {};  // for a pack
  // Where a type that names a template parameter was read. A later reference means the parameter at
  // the place of the reference, so the type is read again there.
  std::optional<size_t> source = {};

  [[nodiscard]] std::string text() const;
  [[nodiscard]] size_t size() const;
};

struct Operator {
  std::string_view code;
  std::string_view symbol;
  int operands;
};
const Operator* find_operator(std::string_view code);

// Reads one name from left to right. Every step and every byte written is deducted from one
// allowance, which bounds time and memory together. When it is used up, `failed_` stays set and
// every member returns at once.
class Parser {
 public:
  explicit Parser(std::string_view mangled) : text_(mangled) {}
  std::optional<std::string> run(DemangleExtent extent);

 private:
  struct NameState {
    bool ends_with_template_args = false;
    bool has_no_return_type = false;
    std::string qualifiers;
  };
  class Level;

  std::string encoding(bool outermost, DemangleExtent extent);
  std::string name(NameState* state);
  std::string nested_name(NameState* state);
  std::string local_name(NameState* state);
  std::string unscoped_name();
  std::string unqualified_name(NameState* state, const std::string& enclosing);
  std::string source_name();
  std::string unnamed_type();
  std::string operator_name(NameState* state);
  void discriminator();

  Piece type();
  Piece type_without_substitution(bool& substitutable);
  Piece d_type(bool& substitutable);
  Piece qualified_type();
  Piece pointer_like(Piece to, std::string_view mark);
  Piece function_type();
  Piece array_type();
  Piece member_pointer();
  Piece pack_expansion();
  Piece named_type(bool& substitutable);
  Piece template_parameter();
  Piece substitution();
  std::vector<Piece> template_args();
  Piece template_arg();
  std::string template_args_text(std::vector<Piece>& args);
  std::string parameter_list();
  std::string comma_separated(const std::vector<Piece>& pieces);

  std::string expression();
  std::string unresolved_name();
  std::string simple_name();
  std::string literal();
  std::string function_parameter();
  std::string operator_expression(const Operator& op);
  std::optional<std::string> special_expression(std::string_view code);
  std::string expressions_until_end();

  [[nodiscard]] bool at_end() const { return failed_ || position_ >= text_.size(); }
  [[nodiscard]] char peek(size_t ahead = 0) const;
  bool accept(std::string_view expected);
  std::optional<size_t> number();
  std::optional<size_t> sequence_number(unsigned base);
  void spend(size_t amount);
  std::string fail();
  Piece fail_piece();
  void remember(const Piece& piece);
  // All text is concatenated here, so that its length is bounded.
  std::string joined(std::initializer_list<std::string_view> parts);

  std::string_view text_;
  size_t position_ = 0;
  size_t allowance_ = 1UL << 20U;  // real names use up to a tenth of it
  size_t depth_ = 0;
  bool failed_ = false;
  bool in_lambda_signature_ = false;
  std::optional<size_t> pack_index_;
  size_t pack_size_ = 0;
  bool saw_pack_ = false;
  size_t parameter_uses_ = 0;
  size_t replays_ = 0;
  std::vector<Piece> substitutions_;
  std::vector<Piece> parameters_;
};

// Counts nesting: a name that is nested too deeply fails before the stack overflows.
class Parser::Level {
 public:
  explicit Level(Parser& parser) : parser_(parser) {
    if (++parser_.depth_ > 200) parser_.failed_ = true;
    parser_.spend(1);
  }
  ~Level() { --parser_.depth_; }
  Level(const Level&) = delete;
  Level& operator=(const Level&) = delete;

 private:
  Parser& parser_;
};

inline Piece plain(std::string text) { return {std::move(text), {}}; }

}  // namespace llmprof::demangling
