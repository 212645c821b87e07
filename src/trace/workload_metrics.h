#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace llmprof::trace {

// A workload's own measurements, unprofiled (its metrics.json).
struct WorkloadMetrics {
  struct StageTiming {
    std::string name;  // "prefill", "decode", "vision", ...
    double mean_ms = 0;
    std::optional<double> std_ms;
  };
  struct StageMfu {
    std::string name;
    double mfu = 0;  // 0 to 1, computed by the workload
  };
  // The device that the workload says it ran on. The workload measures the peaks on that machine.
  struct Device {
    std::string kind;  // "cpu", "cuda"
    std::string name;  // "Neoverse-N1"
    std::optional<uint64_t> threads;
    std::optional<double> peak_flops_per_s;
    std::optional<double> peak_bytes_per_s;
    std::string number_format;  // of the peak: "f32"
    std::string method;         // how the peaks were measured
    std::string peaks_from;     // "this_run", "kept", "both"; empty: not stated
    std::string peaks_measured_at;
    std::optional<double> own_peak_flops_per_s;
    std::optional<double> own_peak_bytes_per_s;
    std::string peaks_note;  // why the run's own peaks were not used or not kept
  };
  std::string path;
  std::vector<StageTiming> stages;
  std::vector<StageMfu> mfu_per_stage;
  std::optional<double> tokens_per_s;
  std::optional<double> mfu_model_level;
  std::optional<double> peak_tflops;
  std::optional<uint64_t> prompt_tokens;
  std::optional<uint64_t> new_tokens;
  std::optional<uint64_t> batch;
  std::optional<uint64_t> images;
  std::optional<uint64_t> requests;
  std::optional<uint64_t> seed;
  std::optional<uint64_t> tensor_parallel;  // ranks that share each layer
  std::string model;                        // name; empty if not stated
  std::string model_config;  // the keys of a Hugging Face config.json, as JSON; empty: not stated
  std::optional<Device> device;
};

}  // namespace llmprof::trace
