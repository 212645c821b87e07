#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace llmprof::config {

// A part of a text: literal, or the content between "${" and its "}".
struct TextPiece {
  bool interpolation = false;
  std::string text;
};

// `\${` is not an interpolation. None where a "${" is not closed.
std::optional<std::vector<TextPiece>> split_interpolations(std::string_view text);
bool has_interpolation(std::string_view text);

// "oc.env:NAME,default" as the function's name and its arguments, each as written; no name where
// it is a key.
struct FunctionCall {
  std::string name;
  std::vector<std::string> arguments;
};
FunctionCall split_function(std::string_view expression);

// Without the quotes around it.
std::optional<std::string> unquoted(std::string_view text);

}  // namespace llmprof::config
