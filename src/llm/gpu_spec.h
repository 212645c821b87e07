#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/error.h"
#include "config/conf_files.h"

namespace llmprof::llm {

// Dense peaks of a GPU (data sheets often include 2:4 sparsity), or measured peaks of a CPU.
struct GpuSpec {
  std::string name;             // "H200 SXM"
  double memory_bandwidth = 0;  // bytes per second
  // All memory, as the driver reports it, or, if `memory_is_nominal`, as the data sheet does, which
  // is a few percent less. 0: unknown.
  uint64_t memory_bytes = 0;
  bool memory_is_nominal = false;
  double tensor_bf16 = 0;  // FLOP per second; fp16 is the same
  bool fp16_only = false;  // Volta and Turing cannot multiply bf16
  std::optional<double> tensor_fp8;
  std::optional<double> tensor_fp4;
  std::optional<double> tensor_int8;
  std::optional<double> tensor_tf32;
  std::optional<double> fp32;  // CUDA cores
  // For a CPU: the number format of the one measured peak ("f32"), and how it was measured.
  std::string measured_format;
  std::string measured_how;

  [[nodiscard]] bool is_measured() const { return !measured_format.empty(); }

  // The peak for products with weights in this format ("bf16", "f16", "f32", "fp8", "int4", ...).
  // Weights with fewer bits than the hardware multiplies are converted first, so they run at the
  // bf16 peak. None if the GPU's peak is unknown.
  [[nodiscard]] std::optional<double> peak_for(std::string_view number_format) const;
  // The name of this peak: "bf16 dense".
  [[nodiscard]] std::string peak_name(std::string_view number_format) const;
};

// Measured CPU peaks: every product runs at the only peak there is.
GpuSpec measured_cpu(std::string name, double flops, double bandwidth, std::string number_format,
                     std::string how);

// conf/gpus.yaml, the user's before the shipped one. Finds "NVIDIA H200", "H200", "h200 sxm". Never
// guesses: none for unlisted names, for names that several variants share, and for parts of a GPU
// (fewer SMs than it has).
class GpuSpecs {
 public:
  static Result<GpuSpecs> load(const config::ConfFiles& conf);
  // `sm_count` and `memory_bytes` (0: unknown) distinguish variants of the same name.
  [[nodiscard]] std::optional<GpuSpec> find(std::string_view name, uint32_t sm_count = 0,
                                            uint64_t memory_bytes = 0) const;
  [[nodiscard]] std::vector<std::string> names() const;

 private:
  struct Entry {
    GpuSpec spec;
    std::vector<std::string> names;  // normalized for comparison
    uint32_t sm_count = 0;           // 0: not stated
    uint64_t memory_bytes = 0;       // nominal; 0: not stated
  };
  static Result<void> read(const config::ConfText& text, std::vector<Entry>& into);
  [[nodiscard]] static bool fits(const Entry& entry, uint32_t sm_count, uint64_t memory_bytes);

  std::vector<Entry> entries_;
};

}  // namespace llmprof::llm
