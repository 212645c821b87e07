#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "cpu_llm/model_shape.h"

namespace cpu_llm {

// The most likely token of each sequence; the first one of equals.
std::vector<Token> most_likely(std::span<const float> logits, size_t vocabulary);

// A hash of tokens: FNV-1a over their bytes, lowest first.
class TokenHash {
 public:
  void add(std::span<const Token> tokens);
  [[nodiscard]] uint64_t value() const { return value_; }

 private:
  uint64_t value_ = 0xcbf29ce484222325;
};

}  // namespace cpu_llm
