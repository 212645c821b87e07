#include "cpu_llm/pass.h"

#include <algorithm>
#include <utility>

namespace cpu_llm {
namespace {

std::vector<Chunk> equal_chunks(size_t sequences, size_t added, size_t cached) {
  std::vector<Chunk> chunks(sequences);
  for (size_t i = 0; i < sequences; ++i) chunks[i] = {i, cached, added};
  return chunks;
}

}  // namespace

Pass::Pass(size_t sequences, size_t added, size_t cached)
    : Pass(equal_chunks(sequences, added, cached)) {}

Pass::Pass(std::vector<Chunk> chunks) : chunks_(std::move(chunks)) {
  for (const Chunk& chunk : chunks_) {
    first_rows_.push_back(rows_.size());
    for (size_t i = 0; i < chunk.added; ++i) rows_.push_back({chunk.sequence, chunk.cached + i});
    if (chunk.wants_logits) rows_with_logits_.push_back(rows_.size() - 1);
  }
}

size_t Pass::distinct_positions() const {
  std::vector<std::pair<size_t, size_t>> spans;  // first position, one after the last
  spans.reserve(chunks_.size());
  for (const Chunk& chunk : chunks_) spans.emplace_back(chunk.cached, chunk.context());
  std::ranges::sort(spans);
  size_t count = 0;
  size_t counted_to = 0;
  for (const auto& [begin, end] : spans) {
    if (end <= counted_to) continue;
    count += end - std::max(begin, counted_to);
    counted_to = end;
  }
  return count;
}

}  // namespace cpu_llm
