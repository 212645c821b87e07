#include "cpu_llm/feed_forward.h"

#include <cmath>

namespace cpu_llm {
namespace {

// Elements of one row per chunk.
constexpr size_t kPiece = 512;

float silu(float value) { return value / (1.0F + std::exp(-value)); }

}  // namespace

void silu_mul(const float* gate_up, size_t rows, size_t intermediate, float* outputs,
              Workers& workers) {
  const size_t pieces = (intermediate + kPiece - 1) / kPiece;
  workers.share(rows * pieces, [&](size_t chunk, size_t) {
    const size_t row = chunk / pieces;
    const size_t begin = chunk % pieces * kPiece;
    const size_t end = begin + kPiece < intermediate ? begin + kPiece : intermediate;
    const float* gate = gate_up + 2 * row * intermediate;
    const float* up = gate + intermediate;
    for (size_t i = begin; i < end; ++i) outputs[row * intermediate + i] = silu(gate[i]) * up[i];
  });
}

}  // namespace cpu_llm
