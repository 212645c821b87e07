#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "profile/quantity.h"
#include "profile/run.h"
#include "profile/vocabulary.h"

namespace llmprof::profile {

struct Tool {
  std::string name = "llmprof";
  std::string version;

  void fields(auto& field) const {
    field("name", name, "always llmprof");
    field("version", version, "version of llmprof");
  }
};

struct Gpu {
  std::string device;
  std::optional<std::string> name;
  std::optional<std::string> uuid;
  std::optional<std::string> compute_capability;
  std::optional<uint64_t> sm_count;
  std::optional<uint64_t> memory_bytes;
  std::optional<uint64_t> memory_bandwidth;
  std::optional<uint64_t> clock;

  void fields(auto& field) const {
    field("device", device, "\"cuda:0\"; prefixed with its capture or rank if several were read");
    field("name", name, "name of the GPU, from the capture");
    field("uuid", uuid, "UUID of the GPU, from the capture");
    field("compute_capability", compute_capability, "\"9.0\"");
    field("sm_count", sm_count, "streaming multiprocessors");
    field("memory_bytes", memory_bytes, "size of the GPU's memory");
    field("memory_bandwidth_bytes_per_s", memory_bandwidth,
          "peak memory bandwidth, from the capture");
    field("clock_hz", clock, "highest SM clock, from the capture");
  }
};

// The run that measured a CPU's peaks.
enum class PeaksFrom : uint8_t { this_run, kept, both };
constexpr auto words_of(PeaksFrom /*of*/) {
  using enum PeaksFrom;
  return vocabulary<PeaksFrom>({
      {this_run, "this run measured both"},
      {kept, "best values of earlier runs on this machine"},
      {both, "one peak from this run, one from earlier runs"},
  });
}

struct Cpu {
  std::string device;
  std::optional<std::string> name;
  std::optional<uint64_t> threads;
  std::optional<FlopsPerSecond> peak_flops;
  std::optional<BytesPerSecond> peak_bytes;
  std::optional<std::string> number_format;
  std::optional<std::string> method;
  std::optional<PeaksFrom> peaks_from;
  std::optional<std::string> peaks_measured_at;
  std::optional<FlopsPerSecond> own_peak_flops;
  std::optional<BytesPerSecond> own_peak_bytes;
  std::optional<std::string> peaks_note;

  void fields(auto& field) const {
    field("device", device, "\"cpu:0\"");
    field("name", name, "name of the CPU, from the workload's metrics.json");
    field("threads", threads, "threads that the workload used");
    field("peak_flops_per_s", peak_flops, "peak for MFU, measured by the workload");
    field("peak_bytes_per_s", peak_bytes, "peak for MBU, measured by the workload");
    field("number_format", number_format, "number format of the compute peak");
    field("method", method, "how the peaks were measured");
    field("peaks_from", peaks_from, "which run measured the peaks");
    field("peaks_measured_at", peaks_measured_at, "when the compute peak was measured, UTC");
    field("own_peak_flops_per_s", own_peak_flops, "compute peak that this run measured");
    field("own_peak_bytes_per_s", own_peak_bytes, "memory bandwidth that this run measured");
    field("peaks_note", peaks_note,
          "why this run's own measurement was not used or not kept; otherwise null");
  }
};

// One per reader.
enum class CaptureFormat : uint8_t {
  nsys_sqlite,
  nsys_csv,
  ncu_csv,
  ncu_json,
  pytorch_trace,
  collector_log,
  workload_metrics,
  requests,
  torch_memory,
};
constexpr auto words_of(CaptureFormat /*of*/) {
  using enum CaptureFormat;
  return vocabulary<CaptureFormat>({
      {nsys_sqlite, "", "nsys SQLite"},
      {nsys_csv, "", "nsys stats CSV"},
      {ncu_csv, "", "ncu CSV"},
      {ncu_json, "", "ncu JSON rows"},
      {pytorch_trace, "", "PyTorch trace"},
      {collector_log, "", "llmprof log"},
      {workload_metrics, "the workload's own metrics.json", "Stage 1 metrics"},
      {requests, "requests of a client, or of the engine", "requests"},
      {torch_memory, "memory snapshot of PyTorch", "PyTorch memory snapshot"},
  });
}

struct Capture {
  std::string path;
  CaptureFormat format{};
  std::optional<std::string> tool;
  std::optional<std::string> tool_version;
  std::optional<std::string> schema_version;
  std::optional<std::string> driver;
  std::optional<std::string> cuda;
  std::optional<uint64_t> rank;
  std::optional<int64_t> wall_clock_ns;

  void fields(auto& field) const {
    field("path", path, "path of the input");
    field("format", format, "format, recognized from the content");
    field("tool", tool, "tool that recorded it");
    field("tool_version", tool_version, "version of that tool");
    field("schema_version", schema_version, "version of the file's format");
    field("driver", driver, "version of the GPU's driver");
    field("cuda", cuda, "version of CUDA");
    field("rank", rank, "rank in a distributed job");
    field("wall_clock_ns", wall_clock_ns, "Unix time at time 0 of the capture");
  }
};

// How busy the machine was while the program ran.
struct RecordingLoad {
  RecordingName pass{};
  double seconds = 0;
  double cpus = 0;
  double used = 0;
  double others = 0;

  void fields(auto& field) const {
    field("pass", pass, "name of the recording");
    field("seconds", seconds, "duration of the recording");
    field("cpus", cpus, "CPUs that the program may use");
    field("used", used, "mean number of CPUs used by the program and its children");
    field("others", others,
          "mean number of these CPUs used by other programs meanwhile; if no CPU was left idle, "
          "they slowed the program down");
  }
};

enum class DeviceKind : uint8_t { gpu, cpu };
constexpr auto words_of(DeviceKind /*of*/) {
  return vocabulary<DeviceKind>({{DeviceKind::cpu, "operators that the program recorded"}});
}

struct Context {
  std::vector<Gpu> gpus;
  std::vector<Cpu> cpus;
  std::vector<Capture> captures;
  DeviceKind device_kind = DeviceKind::gpu;
  std::vector<RecordingLoad> load;

  void fields(auto& field) const {
    field("gpus", gpus, "GPUs in the captures");
    field("cpus", cpus, "CPUs whose operators are in the captures");
    field("captures", captures, "one per input");
    field("device_kind", device_kind, "what all kernels ran on");
    field("load", load,
          "CPU load during each recording of a run; empty for captures without a run");
  }
};

struct StepRange {
  uint64_t first = 0;
  std::optional<uint64_t> last;

  void fields(auto& field) const {
    field("first", first, "counted from 0");
    field("last", last, "last step; null if the range is open");
  }
};

struct Selection {
  std::optional<std::string> stage;
  std::optional<StepRange> steps;
  std::optional<uint64_t> device;
  std::string words;

  void fields(auto& field) const {
    field("stage", stage, "value of --stage");
    field("steps", steps, "value of --steps");
    field("device", device, "value of --device, CUDA's device number");
    field("words", words, "the selection as a sentence");
  }
};

struct Model {
  std::optional<std::string> name;
  std::optional<std::string> variant;
  uint64_t params = 0;
  uint64_t active_params = 0;
  std::string dtype;
  std::string weights_dtype;
  std::string kv_cache_dtype;
  uint64_t layers = 0;
  Bytes weight_bytes;
  Bytes kv_bytes_per_token;
  std::optional<std::string> source;
  std::vector<std::string> notes;

  void fields(auto& field) const {
    field("name", name, "name of the model");
    field("variant", variant, "model_type of its configuration");
    field("params", params, "number of parameters");
    field("active_params", active_params, "parameters used per token");
    field("dtype", dtype, "number format of activations");
    field("weights_dtype", weights_dtype, "number format of weights");
    field("kv_cache_dtype", kv_cache_dtype, "number format of the KV cache");
    field("layers", layers, "number of layers");
    field("weight_bytes", weight_bytes, "size of all weights");
    field("kv_bytes_per_token", kv_bytes_per_token, "KV cache per token of context");
    field("source", source, "file or preset that describes the model");
    field("notes", notes, "what FLOP and byte counts leave out or assume");
  }
};

// Source of a count that nothing states.
inline constexpr std::string_view kAssumed = "assumed";

struct Workload {
  std::optional<std::string> command;
  std::optional<uint64_t> batch;
  std::optional<std::string> batch_source;
  std::optional<uint64_t> prompt_tokens;
  std::optional<std::string> prompt_tokens_source;
  std::optional<uint64_t> new_tokens;
  std::optional<std::string> new_tokens_source;
  std::optional<uint64_t> images;
  uint64_t tp = 1;
  uint64_t pp = 1;
  uint64_t ep = 1;

  void fields(auto& field) const {
    field("command", command, "command of the run");
    field("batch", batch, "number of sequences");
    field("batch_source", batch_source,
          "source of batch: a flag, metrics.json, a run's inputs.yaml, the steps");
    field("prompt_tokens", prompt_tokens, "prompt tokens per sequence");
    field("prompt_tokens_source", prompt_tokens_source, "source of prompt_tokens");
    field("new_tokens", new_tokens, "generated tokens per sequence");
    field("new_tokens_source", new_tokens_source, "source of new_tokens");
    field("images", images, "images per request");
    field("tp", tp, "degree of tensor parallelism");
    field("pp", pp, "degree of pipeline parallelism");
    field("ep", ep, "degree of expert parallelism");
  }
};

}  // namespace llmprof::profile
