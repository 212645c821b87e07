#pragma once

#include <cstdint>
#include <vector>

#include "analysis/ranking/kernels.h"
#include "base/diagnostics.h"
#include "trace/trace.h"

// Work, or a GPU, that several captures describe.
namespace llmprof::analysis {

// Takes the kernels, memory operations and graph replays of the marked captures out, and their
// queues, which would count as timelines of their own. Returns how many kernels these were.
uint64_t leave_out_gpu_work(trace::Trace& trace, const std::vector<bool>& captures);

// One ncu run exported as several pages (raw and details) describes the same launches again and
// again: they are kept once, with the most exact durations and the metrics of all pages. Pages are
// of one run where they have the same launches in the same order, and durations that differ by no
// more than the details page rounds.
void merge_profiled_twice(trace::Trace& trace, Diagnostics& diagnostics);

// Takes a timeline out of the trace where another capture has the same kernels with the same
// durations (an nsys export and the trace report made of it): their time would be added up twice.
// The one that knows more of the CPU stays. Says which files these are.
void drop_repeated_timelines(trace::Trace& trace, Diagnostics& diagnostics);

// The devices that kernels ran on, one list a GPU: captures of several runs know one GPU as a
// device each. Devices of one capture are different GPUs. Of two captures they are the same with
// equal uuids; where one does not know it, with equal name (or none) and ordinal, unless the
// captures are of different ranks or hosts.
std::vector<std::vector<trace::DeviceId>> gpus_with_kernels(const trace::Trace& trace);

// The most captures that one GPU has kernels in.
size_t runs_on_one_gpu(const trace::Trace& trace);

// Several descriptions of the same work must not be added up; what was left aside is said.
void report_sources(const trace::Trace& trace, trace::DeviceKind device,
                    const KernelRanking& ranking, Diagnostics& diagnostics);

}  // namespace llmprof::analysis
