#pragma once

#include <string_view>
#include <vector>

#include "base/error.h"
#include "readers/ncu/launches.h"
#include "trace/kernel_record.h"
#include "trace/trace.h"

namespace llmprof {

// The rows of one ncu file, in the trace's terms: launches in `trace.profiled_launches`, what they
// are in `trace.identities`, their metrics in `trace.metric_values`.
struct NcuRows {
  Trace trace;
};

// One record a kernel name, longest total first, then by name. `device` is the label that all
// records get
// ("cuda:0"); empty: each launch's own, "cuda:N", and kernels of different GPUs stay apart. A
// launch whose duration was not measured counts as a call and adds no time.
std::vector<KernelRecord> kernels_from_ncu_rows(const NcuRows& rows, std::string_view device);

// Reads with the decimal convention that leaves fewer values unreadable, point where both leave
// the same (ncu_number.h). `pass` reads the whole file: Result<NcuLaunches>(DecimalConvention).
template <class Pass>
Result<NcuLaunches> read_in_fitting_convention(Pass pass) {
  Result<NcuLaunches> point = pass(DecimalConvention::point);
  if (!point || point->other_convention == 0) return point;
  Result<NcuLaunches> comma = pass(DecimalConvention::comma);
  return comma && comma->other_convention < point->other_convention ? std::move(comma)
                                                                    : std::move(point);
}

}  // namespace llmprof
