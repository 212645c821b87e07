#include "cpu_llm/sampling.h"

#include <algorithm>

namespace cpu_llm {

std::vector<Token> most_likely(std::span<const float> logits, size_t vocabulary) {
  std::vector<Token> tokens;
  for (size_t begin = 0; begin < logits.size(); begin += vocabulary) {
    const auto row = logits.subspan(begin, vocabulary);
    tokens.push_back(static_cast<Token>(std::max_element(row.begin(), row.end()) - row.begin()));
  }
  return tokens;
}

void TokenHash::add(std::span<const Token> tokens) {
  constexpr uint64_t kPrime = 0x100000001b3;
  constexpr uint32_t kByte = 8;
  for (const Token token : tokens) {
    auto bits = static_cast<uint32_t>(token);
    for (size_t byte = 0; byte < sizeof(Token); ++byte, bits >>= kByte) {
      value_ = (value_ ^ (bits & 0xFFU)) * kPrime;
    }
  }
}

}  // namespace cpu_llm
