#include "cpu_llm/embedding.h"

#include <algorithm>

namespace cpu_llm {
namespace {

constexpr size_t kRowsAtOnce = 16;

}  // namespace

void embed(std::span<const Token> tokens, const Matrix& table, float* outputs, Workers& workers) {
  workers.share_range(tokens.size(), kRowsAtOnce, [&](size_t begin, size_t end, size_t) {
    for (size_t i = begin; i < end; ++i) {
      std::copy_n(table.row(static_cast<size_t>(tokens[i])), table.columns,
                  outputs + i * table.columns);
    }
  });
}

}  // namespace cpu_llm
