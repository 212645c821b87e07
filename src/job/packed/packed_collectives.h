#pragma once

#include <vector>

#include "analysis/communication/collectives.h"
#include "job/packed/packed_numbers.h"

namespace llmprof::job {

// One rank's analysis::Collectives in about a fifth of the memory: a merge holds all ranks at once.
class PackedCollectives {
 public:
  PackedCollectives() = default;
  explicit PackedCollectives(analysis::Collectives&& from);

  std::vector<analysis::CollectiveKey> keys;

  [[nodiscard]] size_t size() const { return start_.size(); }
  [[nodiscard]] Nanoseconds start(size_t row) const { return start_[row]; }
  [[nodiscard]] Nanoseconds duration(size_t row) const { return duration_[row]; }
  [[nodiscard]] Nanoseconds end(size_t row) const { return sum(start_[row], duration_[row]); }
  [[nodiscard]] Nanoseconds launched(size_t row) const { return launched_[row]; }
  [[nodiscard]] Nanoseconds exposed(size_t row) const { return sum(duration_[row], shown_[row]); }
  [[nodiscard]] Nanoseconds busy_before(size_t row) const { return busy_before_[row]; }
  [[nodiscard]] uint32_t key(size_t row) const { return key_[row]; }
  [[nodiscard]] uint32_t step(size_t row) const { return step_[row]; }
  [[nodiscard]] uint64_t sequence(size_t row) const { return sequence_[row]; }
  [[nodiscard]] bool in_graph(size_t row) const { return in_graph_[row] != 0; }

  [[nodiscard]] analysis::Collectives unpacked() const;

 private:
  // Numbers in a file are arbitrary: differences may wrap around, and sums undo that.
  static Nanoseconds sum(Nanoseconds a, Nanoseconds b) {
    return static_cast<Nanoseconds>(static_cast<uint64_t>(a) + static_cast<uint64_t>(b));
  }

  PackedTimes start_;
  PackedTimes duration_;
  PackedTimes launched_;
  PackedTimes shown_;  // exposed minus duration: 0 without concurrent work
  PackedTimes busy_before_;
  PackedIndexes key_;
  PackedIndexes step_;
  PackedColumn<uint64_t, trace::kNoSequence> sequence_;
  PackedIndexes in_graph_;
};

}  // namespace llmprof::job
