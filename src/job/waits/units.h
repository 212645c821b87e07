#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "job/rank_comparison.h"
#include "job/steps/job_steps.h"

namespace llmprof::job {

// A step of the job, or an instance of a stage without steps.
struct JobUnit {
  uint32_t stage = 0;
  Nanoseconds wall = 0;
  bool counted = false;  // neither warm-up nor after untraced steps
};

// Which unit each collective of each rank is in.
class Units {
 public:
  Units(const std::vector<RankPart>& parts, const JobSteps& steps);

  static constexpr uint32_t kOutside = UINT32_MAX;        // in no stage
  static constexpr uint32_t kNotCommon = UINT32_MAX - 1;  // in a step that not all ranks have

  [[nodiscard]] const std::vector<std::string>& stages() const { return stages_; }
  [[nodiscard]] const std::vector<JobUnit>& units() const { return units_; }
  [[nodiscard]] bool by_step(uint32_t stage) const { return by_step_[stage] != 0; }
  // Row in the part's steps or instances, or kNoRow.
  [[nodiscard]] uint32_t row(uint32_t unit, uint32_t part) const;
  [[nodiscard]] uint64_t counted(uint32_t stage) const { return counted_[stage]; }
  [[nodiscard]] Nanoseconds wall(uint32_t stage) const { return wall_[stage]; }  // of counted units

  // Unit of a collective, by the collective's row.
  [[nodiscard]] uint32_t unit_of(uint32_t part, uint32_t row) const;

 private:
  struct Span {
    Nanoseconds start = 0;  // on the rank's clock
    Nanoseconds end = 0;
    uint32_t unit = 0;
  };
  void add_spans(const std::vector<RankPart>& parts, const JobInstance& instance, uint32_t unit);

  const std::vector<RankPart>& parts_;
  const JobSteps& steps_;
  std::vector<std::string> stages_;
  std::vector<uint8_t> by_step_;
  std::vector<uint64_t> counted_;
  std::vector<Nanoseconds> wall_;
  std::vector<JobUnit> units_;              // steps, then instances of stages without steps
  std::vector<uint32_t> instance_of_unit_;  // units after the steps
  std::vector<std::vector<uint32_t>> unit_of_step_;  // by part, by row of steps
  std::vector<std::vector<Span>> spans_;             // by part, by start
};

}  // namespace llmprof::job
