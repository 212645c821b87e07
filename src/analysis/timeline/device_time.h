#pragma once

#include <array>
#include <cstdint>
#include <vector>

#include "analysis/budget/budget.h"
#include "analysis/naming/described_names.h"
#include "trace/trace.h"

namespace llmprof::analysis {

// What one GPU did from its first work to its last, whatever the program: no stages are needed.
// `compute`, `communication` and `copies` are times in which at least one such piece of work ran;
// compute + exposed_communication + exposed_copies = busy, and busy + idle + not_traced = span.
struct DeviceTime {
  trace::DeviceId device;
  Nanoseconds first = 0;  // start of its first work
  Nanoseconds span = 0;
  Nanoseconds busy = 0;
  Nanoseconds compute = 0;        // kernels that do not communicate, and hidden graph replays
  Nanoseconds communication = 0;  // kernels
  Nanoseconds copies = 0;         // copies and fills
  Nanoseconds exposed_communication = 0;  // without compute
  Nanoseconds exposed_copies = 0;         // without any kernel
  Nanoseconds idle = 0;
  Nanoseconds not_traced = 0;  // our collector did not record
  // Idle time and the number of gaps by cause; a gap counts for its largest one.
  PartTimes idle_parts{};
  std::array<uint64_t, kBudgetParts> gaps{};

  [[nodiscard]] Nanoseconds overlapped_communication() const {
    return communication - exposed_communication;
  }
  [[nodiscard]] Nanoseconds overlapped_copies() const { return copies - exposed_copies; }
};

// Why a GPU had nothing to do until a piece of its work began: a BudgetPart, the largest cause of
// the gap. By row of the trace's tables, whose work may also have begun while other work ran.
struct IdleBefore {
  static constexpr uint8_t kNotIdle = UINT8_MAX;
  std::vector<uint8_t> kernel;
  std::vector<uint8_t> memory_operation;
  std::vector<uint8_t> graph_replay;
};

struct DeviceTimes {
  std::vector<DeviceTime> devices;  // each GPU with any work, in the order of the trace's devices
  IdleBefore idle_before;
};
DeviceTimes device_times(const trace::Trace& trace, const DescribedNames& names,
                         const BudgetBasis& basis);

}  // namespace llmprof::analysis
