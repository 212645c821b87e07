#pragma once

#include <cstddef>
#include <utility>
#include <vector>

#include "analysis/memory/allocator_history.h"

namespace llmprof::analysis {

// Keeps the moments at which active and reserved bytes are highest, of each of up to 1,000
// stretches.
class HighestMoments {
 public:
  explicit HighestMoments(size_t moments)
      : width_(moments <= kMostPoints ? 1 : (moments + kMostPoints / 2 - 1) / (kMostPoints / 2)) {}

  void add(const AllocatorMoment& moment) {
    const size_t stretch = moment.events / width_;
    if (stretch != stretch_ || is_empty_) {
      close();
      stretch_ = stretch;
      is_empty_ = false;
      active_ = moment;
      reserved_ = moment;
      return;
    }
    if (moment.level.active > active_.level.active) active_ = moment;
    if (moment.level.reserved > reserved_.level.reserved) reserved_ = moment;
  }
  std::vector<AllocatorMoment> take() {
    close();
    return std::move(moments_);
  }

 private:
  static constexpr size_t kMostPoints = 2000;

  void close() {
    if (is_empty_) return;
    const bool active_first = active_.events <= reserved_.events;
    moments_.push_back(active_first ? active_ : reserved_);
    if (active_.events != reserved_.events) moments_.push_back(active_first ? reserved_ : active_);
    is_empty_ = true;
  }

  size_t width_;
  size_t stretch_ = 0;
  bool is_empty_ = true;
  AllocatorMoment active_;
  AllocatorMoment reserved_;
  std::vector<AllocatorMoment> moments_;
};

}  // namespace llmprof::analysis
