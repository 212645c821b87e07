#pragma once

#include <cstdint>
#include <vector>

#include "analysis/ranking/kernels.h"
#include "base/diagnostics.h"
#include "trace/trace.h"

// Handles work, or a GPU, that several captures describe.
namespace llmprof::analysis {

// Removes kernels, memory operations and graph replays of the marked captures, and their queues,
// which would count as timelines of their own. Returns the number of kernels removed.
uint64_t leave_out_gpu_work(trace::Trace& trace, const std::vector<bool>& captures);

// One ncu run exported as several pages (raw and details) describes the same launches several
// times. They are kept once, with the most exact durations and the metrics of all pages. Pages are
// from one run if they have the same launches in the same order, and their durations differ by no
// more than the details page's rounding.
void merge_profiled_twice(trace::Trace& trace, Diagnostics& diagnostics);

// Removes a timeline if another capture has the same kernels with the same durations (an nsys
// export and the trace report generated from it), so that time is not counted twice. Keeps the
// capture with more CPU data and reports the files.
void drop_repeated_timelines(trace::Trace& trace, Diagnostics& diagnostics);

// The devices that kernels ran on, one list per GPU: each run's capture has its own device for the
// same GPU. Devices of one capture are different GPUs. Devices of two captures are the same GPU if
// their uuids are equal. If a uuid is unknown, ordinals and known names must be equal, and the
// captures must not be from different ranks or hosts.
std::vector<std::vector<trace::DeviceId>> gpus_with_kernels(const trace::Trace& trace);

// The largest number of captures with kernels on one GPU.
size_t runs_on_one_gpu(const trace::Trace& trace);

// Different descriptions of the same work must not be added up: reports which ones were ignored.
void report_sources(const trace::Trace& trace, trace::DeviceKind device,
                    const KernelRanking& ranking, Diagnostics& diagnostics);

}  // namespace llmprof::analysis
