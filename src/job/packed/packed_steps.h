#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "job/packed/packed_numbers.h"
#include "profile/steps.h"

namespace llmprof::job {

// One field of all steps.
struct StepColumn {
  static constexpr int64_t kNone = INT64_MIN;

  PackedNumbers numbers{kNone};                 // of texts: places in `texts`; of lists: in `lists`
  std::vector<std::string> texts;               // that occur
  std::vector<std::vector<std::string>> lists;  // names that occur together
  PackedNumbers values{kNone};                  // of those names, row by row
  std::vector<std::pair<uint64_t, double>> parts;  // by row: numbers that are not whole
  PackedNumbers first{kNone};                      // by row: of its values
};

// One rank's profile::Step rows, in about a tenth of their memory: a merge holds those of all ranks
// at once. Every field is kept, to the last digit.
class PackedSteps {
 public:
  PackedSteps() = default;
  explicit PackedSteps(const std::vector<profile::Step>& steps);
  // None where the columns are not those of steps. `first` is not looked at.
  static std::optional<PackedSteps> of_columns(std::vector<StepColumn> columns, size_t rows);

  [[nodiscard]] size_t size() const { return size_; }
  [[nodiscard]] bool empty() const { return size_ == 0; }
  [[nodiscard]] profile::Step operator[](size_t row) const;
  [[nodiscard]] std::vector<profile::Step> unpacked() const;
  [[nodiscard]] const std::vector<StepColumn>& columns() const { return columns_; }
  static size_t column_count();

  // Single fields of a step.
  [[nodiscard]] const std::string& stage(size_t row) const;
  [[nodiscard]] uint64_t instance(size_t row) const;
  [[nodiscard]] bool after_untraced(size_t row) const;
  [[nodiscard]] std::optional<uint64_t> tokens(size_t row) const;
  [[nodiscard]] profile::Milliseconds gpu_busy(size_t row) const;

 private:
  size_t size_ = 0;
  std::vector<StepColumn> columns_;  // by field of profile::Step
};

}  // namespace llmprof::job
