#pragma once

#include <chrono>
#include <cstdint>
#include <filesystem>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "capture/ncu/ncu_capture.h"
#include "capture/nsys/nsys_capture.h"
#include "capture/recording.h"
#include "config/compose.h"

namespace llmprof::session {
namespace fs = std::filesystem;

// The options of `llmprof run`, from the composed configuration (conf/runner/stage2.yaml).
enum class RunMode : uint8_t { deep, light };

// conf/profiling/torch/*.yaml: passed to the workload, which profiles itself.
struct TorchOptions {
  bool record_shapes = true;
  bool with_stack = false;
  bool profile_memory = false;
  bool memory_snapshot = true;  // of a workload that uses CUDA
  uint64_t requests = 1;        // to profile
};

// Of every `period` steps, `traced` are recorded; the others run at the program's own speed.
struct DutyCycle {
  uint64_t traced = 1;
  uint64_t period = 1;
  friend bool operator==(const DutyCycle&, const DutyCycle&) = default;
};

// conf/profiling/collector/*.yaml. CUDA options apply only to programs that use CUDA.
struct CollectorOptions {
  std::optional<uint64_t> max_log_mb;  // per process; none: the library's default limit
  std::string arm = "start";           // "start", "command", or the range that arms it
  std::optional<uint64_t> delay_ms;    // from the start of CUDA until it arms
  std::optional<uint64_t> steps;       // traced steps, after which it detaches
  std::string step_range = "decode_step";
  std::optional<DutyCycle> duty;
  std::optional<double> overhead_budget;  // percent of the program's own time
  bool api = false;                       // every CUDA call, not only launches
  bool counters = true;
  bool counter_rounds = true;          // counters pause between rounds of requests
  std::optional<uint64_t> counter_hz;  // none: the collector chooses
  bool sensors = true;
  std::string memory = "armed";  // "always", "calls", "off": docs/configuration.md
};

// Automatic: depends on the workload and the machine (session/run/run.h).
enum class Switch : uint8_t { off, on, automatic };

struct PipelineToggles {
  bool collector = true;
  Switch nsys = Switch::automatic;
  Switch ncu = Switch::automatic;
  bool torch_profiler = false;
  Switch driver_calls = Switch::automatic;
};

// Facts about the model that runs, for inputs.yaml and the reports.
struct ModelChoice {
  std::string target;  // preset ("llm/llama_1b"), config.json or folder; empty: none named
  // The model that ran, including overrides, as the text of a Hugging Face config.json; empty: not
  // a preset.
  std::string config_json;
  std::string name;
  std::string variant;
  std::optional<uint64_t> params;
  std::string dtype;
  std::string weights;  // "random" or "real"
  std::string path;     // of real weights, or of a local configuration
};

// What the workload is asked to do, for inputs.yaml and the analysis.
struct WorkloadFacts {
  std::string name;  // "cpu_llm", "hf_llm", "program"
  std::optional<uint64_t> prompt_tokens;
  std::optional<uint64_t> new_tokens;
  std::optional<uint64_t> batch;
  std::optional<uint64_t> requests;
  std::optional<uint64_t> seed;
  std::optional<uint64_t> expected_seconds;  // of one unprofiled run; only for the plan
  std::optional<fs::path> inputs_manifest;
};

struct RunOptions {
  RunMode mode = RunMode::deep;
  uint64_t top_n_kernels = 10;
  uint64_t repeats = 1;  // control runs
  std::optional<std::chrono::milliseconds> timeout;
  std::optional<std::chrono::seconds> time_limit;  // for all recordings together
  std::optional<uint64_t> max_trace_bytes;
  std::string device = "cuda:0";
  fs::path stage2_folder;      // artifacts.stage2_dir
  fs::path run_folder;         // hydra.run.dir; empty: a new one in stage2_folder
  bool change_folder = false;  // hydra.job.chdir: the workload runs in the run folder
  PipelineToggles pipeline;
  capture::NsysOptions nsys;
  capture::NcuOptions ncu;
  TorchOptions torch;
  CollectorOptions collector;
  ModelChoice model;
  WorkloadFacts facts;
  capture::WorkloadCommand workload;
  std::optional<uint64_t> ranks;  // workload.ranks: processes that mpirun starts
};

// conf/runner/stage2.yaml with the command line's overrides. A model may also be named by its path
// (model=/models/mine, +model.target=...). A `program` given after `--` selects the workload of
// that name and no model, unless overrides choose them. Errors are thrown (base/needed.h).
config::ComposedConfig compose_run(const config::ConfFiles& conf,
                                   const std::vector<std::string>& overrides,
                                   const std::vector<std::string>& program,
                                   const config::ComposeContext& context);

// A group of the shipped configuration and its choices: "model" and "llm/llama_1b", ...; typed as
// `model=llm/llama_1b`.
struct GroupChoices {
  std::string_view group;
  std::vector<std::string> choices;  // sorted
};
std::vector<GroupChoices> configuration_choices();
// The choices of one group; empty if there is no such group.
std::vector<std::string> choices_in(std::span<const GroupChoices> groups, std::string_view group);

// "key=value" for compose_run; the value is a text, whatever characters it contains.
std::string text_override(std::string_view key, std::string_view value);

// Checks every value. Errors are thrown; they are of kind usage and name the file and line or the
// override, and the nearest valid value or key. `program` replaces the workload's command.
RunOptions read_run_options(const config::ComposedConfig& config,
                            const std::vector<std::string>& program);

}  // namespace llmprof::session
