#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "analysis/communication/collectives.h"
#include "base/units.h"
#include "job/packed/number_stream.h"
#include "profile/steps.h"

namespace llmprof::job {

// A column of integers in few bits, with random access. Each block stores differences from its
// smallest number, in as many bits as the largest difference needs. A job has tens of millions of
// collectives, whose times differ by microseconds from one to the next.
class PackedNumbers {
 public:
  // `missing` means "unknown" and takes no more space than the numbers around it.
  explicit PackedNumbers(int64_t missing) : missing_(missing) {}

  void push_back(int64_t number) {
    open_.push_back(number);
    if (open_.size() == kBlock) close_block();
  }
  // Frees spare capacity.
  void shrink();

  [[nodiscard]] size_t size() const { return blocks_.size() * kBlock + open_.size(); }

  [[nodiscard]] int64_t operator[](size_t place) const {
    const size_t number = place / kBlock;
    if (number == blocks_.size()) return open_[place % kBlock];
    const Block& block = blocks_[number];
    if (block.bits == 0) return block.least;
    const size_t bit = place % kBlock * block.bits;
    const uint64_t* word = &words_[block.first_word + bit / kWord];
    const size_t shift = bit % kWord;
    uint64_t difference = *word >> shift;
    if (shift + block.bits > kWord) difference |= word[1] << (kWord - shift);
    const uint64_t all_ones = ~uint64_t{0} >> (kWord - block.bits);
    difference &= all_ones;
    if (block.some_missing && difference == all_ones) return missing_;
    return static_cast<int64_t>(static_cast<uint64_t>(block.least) + difference);
  }

 private:
  static constexpr size_t kBlock = 128;
  static constexpr size_t kWord = 64;  // bits

  struct Block {
    int64_t least = 0;
    uint32_t first_word = 0;
    uint8_t bits = 0;           // per difference; 0: all numbers are `least`
    bool some_missing = false;  // stored as all-ones differences
  };

  void close_block();
  void append(size_t bits, int64_t least, bool some_missing);

  int64_t missing_;
  std::vector<Block> blocks_;
  std::vector<uint64_t> words_;
  std::vector<int64_t> open_;  // numbers after the last full block
};

inline constexpr uint32_t kNoRow = UINT32_MAX;

// Numbers of one type, with a value that means "unknown".
template <class Number, Number kMissing>
class PackedColumn {
 public:
  void push_back(Number number) { numbers_.push_back(static_cast<int64_t>(number)); }
  void shrink() { numbers_.shrink(); }
  [[nodiscard]] size_t size() const { return numbers_.size(); }
  [[nodiscard]] Number operator[](size_t place) const {
    return static_cast<Number>(numbers_[place]);
  }
  [[nodiscard]] std::vector<Number> unpacked() const {
    std::vector<Number> all(size());
    for (size_t i = 0; i < all.size(); ++i) all[i] = (*this)[i];
    return all;
  }

 private:
  PackedNumbers numbers_{static_cast<int64_t>(kMissing)};
};

using PackedTimes = PackedColumn<Nanoseconds, INT64_MIN>;
using PackedIndexes = PackedColumn<uint32_t, UINT32_MAX>;

// Rows that mostly follow each other, and then take no bits; may contain kNoRow.
class PackedRows {
 public:
  void push_back(uint32_t row) {
    const auto place = static_cast<int64_t>(size());
    ahead_.push_back(row == kNoRow ? kNone : static_cast<int64_t>(row) - place);
  }
  void shrink() { ahead_.shrink(); }
  [[nodiscard]] size_t size() const { return ahead_.size(); }
  [[nodiscard]] bool empty() const { return size() == 0; }
  [[nodiscard]] uint32_t operator[](size_t place) const {
    const int64_t ahead = ahead_[place];
    return ahead == kNone ? kNoRow : static_cast<uint32_t>(ahead + static_cast<int64_t>(place));
  }

 private:
  static constexpr int64_t kNone = INT64_MIN;

  PackedNumbers ahead_{kNone};  // row minus its place
};

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

// One rank's profile::Step rows in about a tenth of the memory: a merge holds all ranks at once.
// Every field is exact; the fields that rank comparison needs are also kept as columns.
class PackedSteps {
 public:
  PackedSteps() = default;
  explicit PackedSteps(std::vector<profile::Step> steps);

  [[nodiscard]] size_t size() const { return first_.size(); }
  [[nodiscard]] profile::Step operator[](size_t row) const;
  [[nodiscard]] std::vector<profile::Step> unpacked() const;

  // Single fields of a step.
  [[nodiscard]] const std::string& stage(size_t row) const { return texts_[stage_[row]]; }
  [[nodiscard]] uint64_t instance(size_t row) const { return instance_[row]; }
  [[nodiscard]] bool after_untraced(size_t row) const { return after_untraced_[row] != 0; }
  [[nodiscard]] std::optional<uint64_t> tokens(size_t row) const;
  [[nodiscard]] Nanoseconds gpu_busy(size_t row) const { return gpu_busy_[row]; }

 private:
  using Counts = PackedColumn<uint64_t, UINT64_MAX>;

  std::string bytes_;               // all rows, concatenated
  std::vector<std::string> texts_;  // texts that occur in the rows
  PackedTimes first_;               // first byte of each row
  PackedIndexes stage_;             // index in texts_
  Counts instance_;
  Counts after_untraced_;
  Counts tokens_;
  PackedTimes gpu_busy_;
};

// As columns of a file; the reader marks invalid steps as damage.
void write_steps(std::vector<profile::Step> steps, NumberWriter& out);
std::vector<profile::Step> read_steps(NumberReader& in);

}  // namespace llmprof::job
