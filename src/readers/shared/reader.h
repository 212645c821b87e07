#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string_view>

#include "base/error.h"
#include "trace/builder.h"

namespace llmprof::readers {

// A reader knows one format. It recognizes it by content, adds what it finds to the builder as one
// capture, and reports defects as diagnostics there. An error means that nothing could be read; a
// damaged file gives what precedes the damage plus a diagnostic. All but SQLite files may be
// gzip-compressed. No reader knows another.
struct Reader {
  std::string_view format;  // for people: "nsys SQLite"

  // Looks at the first bytes of the (decompressed) content.
  bool (*recognizes)(std::string_view head);
  Result<void> (*read)(const std::filesystem::path& path, trace::TraceBuilder& builder);
};

// The collector's own log (.llmtrace, docs/collector.md): one process, its threads, ranges, steps
// and CPU operators, and what it did on GPUs.
extern const Reader kCollectorLogReader;

// How the process of a collector's log ended, from the log's first chunk alone: logs may be large.
struct LogEnd {
  uint64_t process = 0;
  bool by_exit = false;  // else it was killed, left by _exit(), or still runs
};
// None where the file is no such log, or its first chunk is damaged.
std::optional<LogEnd> read_log_end(const std::filesystem::path& log);

// The SQLite export of Nsight Systems, 2020 to 2026: kernels, memory operations, graph replays,
// CUDA API calls, NVTX ranges.
extern const Reader kNsysSqliteReader;

// Whether an nsys export holds a kernel, or a CUDA graph that was traced as a whole. True as well
// where the file cannot be read: its reader reports that with the cause.
bool holds_gpu_kernels(const std::filesystem::path& sqlite_export);

// What `nsys stats --format csv` writes: one or more reports of any age, with or without the lines
// nsys prints between them.
extern const Reader kNsysCsvReader;

// Nsight Compute's CSV output, raw or details page, straight from a run (with the program's output
// and ncu's messages around it) or exported from a report; several such outputs in one file, too.
// Recognizes failed runs and ncu's text page as well, to refuse them with the remedy.
extern const Reader kNcuCsvReader;

// The rows of ncu's CSV as JSON objects, with its column names as keys and its cells as strings,
// numbers or null: an array of objects, or one object per line. The raw page's row of units is the
// object with a blank ID.
extern const Reader kNcuJsonReader;

// Traces of the PyTorch profiler (Kineto), and Chrome traces in general.
extern const Reader kKinetoReader;

// metrics.json: what a workload measured itself, unprofiled. Gives Trace::workload; of several such
// files the first is kept.
extern const Reader kStage1MetricsReader;

}  // namespace llmprof::readers
