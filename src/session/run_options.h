#pragma once

#include <chrono>
#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "base/error.h"
#include "capture/ncu/ncu_capture.h"
#include "capture/nsys/nsys_capture.h"
#include "capture/workload_command.h"
#include "config/compose.h"

namespace llmprof {

// What `llmprof run` was asked for, as the composed configuration (conf/runner/stage2.yaml) says.
enum class RunMode : uint8_t { deep, light };

// conf/profiling/torch/*.yaml: handed to the workload, which profiles itself.
struct TorchOptions {
  bool record_shapes = true;
  bool with_stack = false;
  bool profile_memory = false;
  uint64_t requests = 1;  // profiled ones
};

// conf/profiling/collector/*.yaml
struct CollectorOptions {
  std::optional<uint64_t> max_log_mb;  // LLMPROF_LOG_MAX_MB; none: the library's own limit
};

struct PipelineToggles {
  bool collector = true;
  bool nsys = false;
  bool ncu = false;
  bool torch_profiler = false;
};

// What is told of the model, beside what is run: goes into inputs.yaml and the reports.
struct ModelChoice {
  std::string target;  // preset ("llm/llama_1b"), config.json or folder; empty: none told
  // What ran, overrides included, as the text of a Hugging Face config.json; empty: not a preset.
  std::string config_json;
  std::string name;
  std::string variant;
  std::optional<uint64_t> params;
  std::string dtype;
  std::string weights;  // "random" or "real"
  std::string path;     // of real weights, or of a configuration on this machine
};

// What the workload is asked to do, for the record and the analysis.
struct WorkloadFacts {
  std::string name;  // "cpu_llm", "hf_llm", "program"
  std::optional<uint64_t> prompt_tokens;
  std::optional<uint64_t> new_tokens;
  std::optional<uint64_t> batch;
  std::optional<uint64_t> requests;
  std::optional<uint64_t> seed;
  std::optional<uint64_t> expected_seconds;  // of one unprofiled run, for the plan alone
  std::optional<std::filesystem::path> inputs_manifest;
};

struct RunOptions {
  RunMode mode = RunMode::deep;
  uint64_t top_n_kernels = 10;
  uint64_t repeats = 1;  // of the control run
  std::optional<std::chrono::milliseconds> timeout;
  std::optional<uint64_t> max_trace_bytes;
  std::string device = "cuda:0";
  std::filesystem::path stage2_folder;  // artifacts.stage2_dir
  std::filesystem::path run_folder;     // hydra.run.dir; empty: a fresh one in stage2_folder
  bool change_folder = false;           // hydra.job.chdir: the workload runs in the run's folder
  PipelineToggles pipeline;
  NsysOptions nsys;
  NcuOptions ncu;
  TorchOptions torch;
  CollectorOptions collector;
  ModelChoice model;
  WorkloadFacts facts;
  WorkloadCommand workload;
};

// conf/runner/stage2.yaml with the command line's overrides. A model may be named by its path as
// well (model=/models/mine, +model.target=...); a `program`, what stood behind `--`, brings the
// workload of that name and no model, unless they are chosen.
Result<ComposedConfig> compose_run(const ConfFiles& conf, const std::vector<std::string>& overrides,
                                   const std::vector<std::string>& program,
                                   const ComposeContext& context);

// Every value is checked; errors are of kind usage, name the file and line or the override, and the
// nearest valid value or key. `program` takes the place of the workload's command.
Result<RunOptions> read_run_options(const ComposedConfig& config,
                                    const std::vector<std::string>& program);

}  // namespace llmprof
