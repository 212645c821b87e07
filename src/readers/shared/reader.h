#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>
#include <span>
#include <string_view>

#include "base/error.h"
#include "trace/builder.h"

namespace llmprof {
class ByteStream;
}

namespace llmprof::readers {

// A reader handles one format. It recognizes it by content, adds what it finds to the builder as
// one capture, and reports defects as diagnostics there. An error means that nothing could be read;
// a damaged file gives what precedes the damage plus a diagnostic. All but SQLite files may be
// gzip-compressed. Readers do not depend on each other.
struct Reader {
  std::string_view format;  // for people: "nsys SQLite"

  // Looks at the first bytes of the (decompressed) content.
  bool (*recognizes)(std::string_view head);
  Result<void> (*read)(const std::filesystem::path& path, trace::TraceBuilder& builder);
};

// The collector's own log (.llmtrace, docs/collector.md): one process with its threads, ranges,
// steps, CPU operators and GPU work.
extern const Reader kCollectorLogReader;

// How the process of a collector log ended. Reads only the log's first chunk: logs may be large.
struct LogEnd {
  uint64_t process = 0;
  bool by_exit = false;  // otherwise it was killed, left by _exit(), or still runs
};
// None if the file is not such a log, or its first chunk is damaged.
std::optional<LogEnd> read_log_end(const std::filesystem::path& log);

// The SQLite export of Nsight Systems, 2020 to 2026: kernels, memory operations, graph replays,
// CUDA API calls, NVTX ranges.
extern const Reader kNsysSqliteReader;

// Whether an nsys export holds a kernel, or a CUDA graph that was traced as a whole. Also true if
// the file cannot be read: its reader reports the cause.
bool holds_gpu_kernels(const std::filesystem::path& sqlite_export);

// Output of `nsys stats --format csv`: one or more reports of any age, with or without the lines
// nsys prints between them.
extern const Reader kNsysCsvReader;

// Nsight Compute's CSV output, raw or details page, directly from a run (with the program's output
// and ncu's messages around it) or exported from a report; also several such outputs in one file.
// Also recognizes failed runs and ncu's text page, to refuse them with the remedy.
extern const Reader kNcuCsvReader;

// The rows of ncu's CSV as JSON objects, with its column names as keys and its cells as strings,
// numbers or null: an array of objects, or one object per line. The raw page's row of units is the
// object with a blank ID.
extern const Reader kNcuJsonReader;

// Traces of the PyTorch profiler (Kineto), and Chrome traces in general.
extern const Reader kKinetoReader;

struct KinetoOptions {
  size_t window_bytes = 256UL << 10U;  // read at once by one thread
  unsigned threads = 0;                // 0: as many as pay off
};

// Reads a stream as kKinetoReader does; `path` names it in the capture and in messages.
Result<void> read_kineto(ByteStream& stream, const std::filesystem::path& path,
                         trace::TraceBuilder& builder, const KinetoOptions& options = {});

// metrics.json: a workload's own measurements, unprofiled. Fills Trace::workload; of several such
// files the first is kept.
extern const Reader kStage1MetricsReader;

// The format of all captures that hold requests; their `tool` says who measured them.
inline constexpr std::string_view kRequestsFormat = "requests";

// Requests of a client, or of the engine itself: when each was sent, and when its tokens arrived.
// What `llmprof load` writes, files of its form, and transformers' own timestamps.
extern const Reader kOwnRequestsReader;

// vllm bench serve --save-result --save-detailed: one run, or one per line (--append-result).
extern const Reader kVllmBenchReader;

// SGLang's bench_serving --output-details: no times of day, only durations. Of several runs in one
// file, the last is read.
extern const Reader kSglangBenchReader;

// SGLang's log of requests (--export-metrics-to-file): what the server measured.
extern const Reader kSglangServerReader;

// AIPerf's profile_export.jsonl, with the aggregates in profile_export_aiperf.json beside it.
extern const Reader kAiperfReader;

// GuideLLM's JSON report: the first of its benchmarks that has requests.
extern const Reader kGuidellmReader;

// profile_export.json of GenAI-Perf and perf_analyzer: the first experiment that has requests.
extern const Reader kGenaiPerfReader;

// OTLP traces in JSON with the request spans of vLLM or SGLang: one export per line, or one object.
extern const Reader kOtlpSpansReader;

// Memory snapshots of PyTorch (torch.cuda.memory._dump_snapshot): a pickle of plain data.
extern const Reader kTorchMemoryReader;

// Enough of the start of a (decompressed) file to recognize every format.
inline constexpr size_t kHeadBytes = 64UL << 10U;

// All readers in the order they are tried: the most specific first.
std::span<const Reader* const> all_readers();

// The reader for this content, or null.
const Reader* find_reader(std::string_view head);

// Says what the file seems to be and what llmprof can read instead.
Error unreadable(const std::filesystem::path& path, std::string_view head);

}  // namespace llmprof::readers
