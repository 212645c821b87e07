#pragma once

#include <string_view>

namespace llmprof {

// A short list of words, written as one text: "mm|bmm|addmm".
struct WordList {
  std::string_view words;

  [[nodiscard]] constexpr bool contains(std::string_view word) const {
    if (word.empty() || word.find('|') != std::string_view::npos) return false;
    for (size_t at = words.find(word); at != std::string_view::npos;
         at = words.find(word, at + 1)) {
      const size_t end = at + word.size();
      if ((at == 0 || words[at - 1] == '|') && (end == words.size() || words[end] == '|')) {
        return true;
      }
    }
    return false;
  }
};

}  // namespace llmprof
