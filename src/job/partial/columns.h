#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "analysis/communication/collectives.h"
#include "base/varint.h"
#include "job/packed/packed_steps.h"

namespace llmprof::job {

// Numbers one behind the other, each in as many bytes as it needs (base/varint.h). Columns of small
// differences become a few bytes a row, which deflate then halves.
class ColumnWriter {
 public:
  explicit ColumnWriter(std::string& out) : out_(out) {}

  void count(uint64_t number);
  // Small positive and negative ones alike are short; differences may wrap around.
  void difference(uint64_t to, uint64_t from) { count(zigzag(to - from)); }
  void text(std::string_view text);  // behind its length

 private:
  std::string& out_;
};

// What ColumnWriter wrote. Damage is remembered, not thrown: everything read behind it is 0.
class ColumnReader {
 public:
  explicit ColumnReader(std::string_view bytes) : rest_(bytes) {}

  uint64_t count();
  uint64_t difference(uint64_t from) { return from + from_zigzag(count()); }
  std::string_view text();

  [[nodiscard]] bool damaged() const { return damaged_; }
  [[nodiscard]] size_t left() const { return rest_.size(); }

 private:
  std::string_view rest_;
  bool damaged_ = false;
};

void write_step_columns(const PackedSteps& from, ColumnWriter& out);

// None where the bytes are no steps.
std::optional<PackedSteps> read_step_columns(ColumnReader& in);

void write_collectives(const analysis::Collectives& from, ColumnWriter& out);

// None where the bytes are no collectives of a rank with that many steps.
std::optional<analysis::Collectives> read_collectives(ColumnReader& in, size_t steps);

}  // namespace llmprof::job
