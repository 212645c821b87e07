#include "llm/gpu_name.h"

#include <algorithm>
#include <array>

#include "base/ascii.h"

namespace llmprof::llm {
namespace {

constexpr std::array<std::string_view, 5> kSilentWords = {"nvidia", "geforce", "tesla", "quadro",
                                                          "gpu"};

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
    const char c = to_lower(original);
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
