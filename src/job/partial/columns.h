#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace llmprof::job {

// Numbers one behind the other, each in as many bytes as it needs (seven bits a byte, lowest
// first). Columns of small differences become a few bytes a row, which deflate then halves.
class ColumnWriter {
 public:
  explicit ColumnWriter(std::string& out) : out_(out) {}

  void count(uint64_t number);
  // Small positive and negative ones alike are short; differences may wrap around.
  void difference(uint64_t to, uint64_t from);
  void text(std::string_view text);  // behind its length

 private:
  std::string& out_;
};

// What ColumnWriter wrote. Damage is remembered, not thrown: everything read behind it is 0.
class ColumnReader {
 public:
  explicit ColumnReader(std::string_view bytes) : rest_(bytes) {}

  uint64_t count();
  uint64_t difference(uint64_t from) {
    const uint64_t number = count();
    return from + ((number >> 1U) ^ (0 - (number & 1U)));
  }
  std::string_view text();

  [[nodiscard]] bool damaged() const { return damaged_; }
  [[nodiscard]] size_t left() const { return rest_.size(); }

 private:
  std::string_view rest_;
  bool damaged_ = false;
};

}  // namespace llmprof::job
