#pragma once

#include <algorithm>
#include <span>
#include <vector>

#include "analysis/requests/join_tokens.h"

namespace llmprof::analysis {

// Chunks in batches, and how many tokens each batch has of them.
class ChunkPlacement {
 public:
  ChunkPlacement(std::span<const JoinBatch> batches, std::span<const TokenRequest> requests,
                 std::span<const TokenChunk> chunks, bool token_per_batch)
      : batches_(batches), requests_(requests), chunks_(chunks), each_(token_per_batch) {
    result_.batch.assign(chunks.size(), kNoBatch);
    result_.state.assign(chunks.size(), ChunkState::unmatched);
    result_.tokens.assign(batches.size(), 0);
    result_.token_per_batch = token_per_batch;
    request_of_.assign(chunks.size(), 0);
    for (uint32_t request = 0; request < requests.size(); ++request) {
      const TokenRequest& of = requests[request];
      std::fill_n(request_of_.begin() + of.first_chunk, of.chunks, request);
    }
  }

 protected:
  // Batches that a chunk takes, up to the one that it is placed in.
  [[nodiscard]] uint32_t width(uint32_t chunk) const { return each_ ? chunks_[chunk].tokens : 1; }
  [[nodiscard]] uint32_t first_batch(uint32_t chunk) const {
    return result_.batch[chunk] - width(chunk) + 1;
  }
  [[nodiscard]] bool placed(uint32_t chunk) const { return result_.batch[chunk] != kNoBatch; }
  [[nodiscard]] Nanoseconds delay(uint32_t chunk, uint32_t batch) const {
    return chunks_[chunk].time - batches_[batch].results;
  }
  [[nodiscard]] bool is_first(uint32_t chunk) const {
    return requests_[request_of_[chunk]].first_chunk == chunk;
  }
  [[nodiscard]] bool is_last(uint32_t chunk) const {
    const TokenRequest& of = requests_[request_of_[chunk]];
    return of.first_chunk + of.chunks == chunk + 1;
  }
  [[nodiscard]] bool break_behind(uint32_t batch) const {
    return batch + 1 == batches_.size() || batches_[batch + 1].after_break;
  }
  [[nodiscard]] bool has_room(uint32_t batch) const {
    return !batches_[batch].rows || result_.tokens[batch] < *batches_[batch].rows;
  }
  [[nodiscard]] bool too_full(uint32_t batch) const {
    return batches_[batch].rows && result_.tokens[batch] > *batches_[batch].rows;
  }

  void put(uint32_t chunk, uint32_t batch) {
    if (placed(chunk)) count(chunk, false);
    result_.batch[chunk] = batch;
    result_.state[chunk] = ChunkState::joined;
    count(chunk, true);
  }
  void remove(uint32_t chunk, ChunkState state) {
    count(chunk, false);
    result_.batch[chunk] = kNoBatch;
    result_.state[chunk] = state;
  }

  // The first chunk of the run of consecutive batches that ends with this chunk.
  [[nodiscard]] uint32_t run_start(uint32_t chunk) const {
    while (!is_first(chunk) && placed(chunk - 1) &&
           result_.batch[chunk - 1] + 1 == first_batch(chunk)) {
      --chunk;
    }
    return chunk;
  }

  [[nodiscard]] uint32_t run_end(uint32_t chunk) const {
    while (goes_on(chunk)) ++chunk;
    return chunk;
  }
  [[nodiscard]] bool goes_on(uint32_t chunk) const {
    return !is_last(chunk) && placed(chunk + 1) &&
           result_.batch[chunk] + 1 == first_batch(chunk + 1);
  }
  void shift(uint32_t start, uint32_t last, int by) {
    for (uint32_t chunk = start; chunk <= last; ++chunk) {
      put(chunk, static_cast<uint32_t>(static_cast<int64_t>(result_.batch[chunk]) + by));
    }
  }

  std::span<const JoinBatch> batches_;
  std::span<const TokenRequest> requests_;
  std::span<const TokenChunk> chunks_;
  std::vector<uint32_t> request_of_;  // by chunk
  TokenJoin result_;

 private:
  void count(uint32_t chunk, bool add) {
    for (uint32_t batch = first_batch(chunk); batch <= result_.batch[chunk]; ++batch) {
      if (add) {
        ++result_.tokens[batch];
      } else {
        --result_.tokens[batch];
      }
    }
  }

  bool each_;
};

}  // namespace llmprof::analysis
