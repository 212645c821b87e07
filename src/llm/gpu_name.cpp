#include "llm/gpu_name.h"

#include <algorithm>
#include <array>

namespace llmprof::llm {
namespace {

constexpr std::array<std::string_view, 5> kSilentWords = {"nvidia", "geforce", "tesla", "quadro",
                                                          "gpu"};

// Whatever the locale says.
char lower(char c) { return c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c; }
bool in_word(char c) { return (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9') || c == '.'; }

}  // namespace

std::string normalized_gpu_name(std::string_view name) {
  std::string result;
  std::string word;
  const auto finish_word = [&] {
    const bool silent =
        std::find(kSilentWords.begin(), kSilentWords.end(), word) != kSilentWords.end();
    if (!word.empty() && !silent) {
      if (!result.empty()) result += ' ';
      result += word;
    }
    word.clear();
  };
  for (const char original : name) {
    const char c = lower(original);
    if (in_word(c)) {
      word += c;
    } else {
      finish_word();
    }
  }
  finish_word();
  return result;
}

}  // namespace llmprof::llm
