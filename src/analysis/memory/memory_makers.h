#pragma once

#include <compare>
#include <cstdint>
#include <vector>

#include "trace/trace.h"

namespace llmprof::analysis {

// Who made an allocation: what was open on its thread, innermost first. Neither operators nor a
// range: no names.
struct MemoryOrigin {
  std::vector<trace::StringId> names;  // operators, then the innermost annotation

  auto operator<=>(const MemoryOrigin&) const = default;
};

// The makers of all allocations in Trace::tensor_memory, each maker stored once.
class MemoryMakers {
 public:
  static constexpr uint32_t kNone = UINT32_MAX;

  explicit MemoryMakers(const trace::Trace& trace);

  // The maker of a row of Trace::tensor_memory; kNone if the row frees.
  [[nodiscard]] uint32_t maker_of(size_t row) const { return maker_[row]; }
  [[nodiscard]] const MemoryOrigin& operator[](uint32_t maker) const { return origins_[maker]; }
  [[nodiscard]] size_t size() const { return origins_.size(); }

 private:
  std::vector<uint32_t> maker_;  // by row
  std::vector<MemoryOrigin> origins_;
};

}  // namespace llmprof::analysis
