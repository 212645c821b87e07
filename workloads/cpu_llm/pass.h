#pragma once

#include <cstddef>
#include <vector>

namespace cpu_llm {

// New tokens of one sequence, behind those that it has in the cache.
struct Chunk {
  size_t sequence = 0;  // whose cache
  size_t cached = 0;
  size_t added = 1;
  bool wants_logits = true;  // after its last token

  [[nodiscard]] size_t context() const { return cached + added; }
};

// One pass through the model: chunks of different sequences, in adjacent rows of one batch.
class Pass {
 public:
  struct Row {
    size_t sequence;
    size_t position;
  };

  explicit Pass(std::vector<Chunk> chunks);
  // Each of `sequences` adds `added` tokens to `cached` ones.
  Pass(size_t sequences, size_t added, size_t cached);

  [[nodiscard]] const std::vector<Chunk>& chunks() const { return chunks_; }
  [[nodiscard]] size_t first_row(size_t chunk) const { return first_rows_[chunk]; }
  [[nodiscard]] size_t rows() const { return rows_.size(); }
  [[nodiscard]] const Row& row(size_t index) const { return rows_[index]; }
  // The last rows of chunks that want logits, in order.
  [[nodiscard]] const std::vector<size_t>& rows_with_logits() const { return rows_with_logits_; }
  // Whether no chunk has more than one token.
  [[nodiscard]] bool only_decodes() const { return rows() == chunks_.size(); }
  // How many different positions its rows have.
  [[nodiscard]] size_t distinct_positions() const;

 private:
  std::vector<Chunk> chunks_;
  std::vector<size_t> first_rows_;  // by chunk
  std::vector<Row> rows_;
  std::vector<size_t> rows_with_logits_;
};

}  // namespace cpu_llm
