#pragma once

#include <filesystem>
#include <string_view>
#include <vector>

#include "base/error.h"
#include "readers/ncu/launches.h"
#include "readers/shared/reader.h"
#include "trace/kernel_record.h"
#include "trace/trace.h"

namespace llmprof::readers {

// The rows of one ncu file, in the trace's terms: launches in `trace.profiled_launches`, what they
// are in `trace.identities`, their metrics in `trace.metric_values`.
struct NcuRows {
  trace::Trace trace;
};

// One record a kernel name, longest total first, then by name. `device` is the label that all
// records get
// ("cuda:0"); empty: each launch's own, "cuda:N", and kernels of different GPUs stay apart. A
// launch whose duration was not measured counts as a call and adds no time.
std::vector<trace::KernelRecord> kernels_from_ncu_rows(const NcuRows& rows,
                                                       std::string_view device);

// Reads a whole file, its numbers in the one convention.
using NcuPass = Result<NcuLaunches> (*)(const std::filesystem::path& path, DecimalConvention);

// A file into the builder, read with the decimal convention that leaves fewer values unreadable,
// point where both leave the same (number.h).
Result<void> read_ncu_file(const std::filesystem::path& path, std::string_view format, NcuPass pass,
                           trace::TraceBuilder& builder);

// One file by itself.
Result<NcuRows> parse_ncu_file(const std::filesystem::path& path, const Reader& reader);

}  // namespace llmprof::readers
