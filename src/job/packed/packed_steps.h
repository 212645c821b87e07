#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "job/packed/number_stream.h"
#include "job/packed/packed_numbers.h"
#include "profile/steps.h"

namespace llmprof::job {

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
