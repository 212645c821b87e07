#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace llmprof::query {

// A script cut at its semicolons, except those in texts, names and comments. Empty statements are
// left out.
struct Script {
  std::vector<std::string> statements;  // without semicolons
  std::string rest;                     // after the last semicolon; may be an entire statement
};
Script cut_at_semicolons(std::string_view text);

}  // namespace llmprof::query
