#pragma once

#include <array>
#include <bit>
#include <concepts>
#include <cstdint>
#include <string>

#include "profile/vocabulary.h"

namespace llmprof::exports {

// How the rows of a column are encoded; the page decodes them (docs/report-html.md).
enum class Coding : uint8_t {
  u,       // unsigned LEB128
  s,       // zigzag, then LEB128
  udelta,  // the difference from the previous row (the first: from 0), as u
  sdelta,  // the same, as s
  u8,      // bytes
  f32,     // little-endian
};

// The bytes of one column, appended row by row. Rows are encoded in batches: a dozen columns are
// written per kernel, and a loop over one column keeps its state in registers.
class Column {
 public:
  explicit Column(Coding coding) : coding_(coding) {}

  // Reserves space for more rows; unused pages are never touched and take no memory.
  void reserve(size_t rows) { bytes_.reserve(bytes_.size() + rows * 2); }

  void add(std::integral auto value) {
    waiting_[count_++] = static_cast<uint64_t>(value);
    if (count_ == waiting_.size()) encode_waiting();
  }
  void add(float value) { add(std::bit_cast<uint32_t>(value)); }  // for coding f32

  [[nodiscard]] Coding coding() const { return coding_; }
  [[nodiscard]] std::string take() {
    encode_waiting();
    return std::move(bytes_);
  }

 private:
  void encode_waiting();

  Coding coding_;
  std::string bytes_;
  std::array<uint64_t, 128> waiting_;  // not in bytes_ yet
  size_t count_ = 0;                   // rows in waiting_
  uint64_t previous_ = 0;              // previous row, for udelta and sdelta
};

}  // namespace llmprof::exports
