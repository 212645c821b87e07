#pragma once

#include <cstddef>
#include <string_view>

namespace llmprof {

// A quotation mark, as it is or escaped in a script.
struct Quote {
  char mark = '\0';
  size_t length = 0;  // 2 if it is escaped; 0: there is none
};

bool is_quote(char c);
Quote quote_at(std::string_view text, size_t at);

// The position after the quotes that `quote` opens at `at`; npos: they are not closed.
size_t end_of_quotes(std::string_view text, size_t at, Quote quote);

}  // namespace llmprof
