#pragma once

#include <algorithm>
#include <cstdint>
#include <vector>

#include "base/units.h"
#include "job/packed/packed_numbers.h"

namespace llmprof::job {

inline constexpr uint32_t kNoRow = UINT32_MAX;

// Of one type, with its own word for "not known".
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

// Rows that mostly follow each other, which then take no bits at all; kNoRow is one of them.
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

  PackedNumbers ahead_{kNone};  // row less its place
};

}  // namespace llmprof::job
