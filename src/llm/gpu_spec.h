#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/error.h"
#include "config/conf_files.h"

namespace llmprof::llm {

// A GPU's dense peaks (without 2:4 sparsity, which data sheets like to include), or a CPU's that
// were measured on it.
struct GpuSpec {
  std::string name;             // "H200 SXM"
  double memory_bandwidth = 0;  // bytes a second
  double tensor_bf16 = 0;       // FLOP a second; fp16 is the same
  bool fp16_only = false;       // Volta and Turing multiply no bf16
  std::optional<double> tensor_fp8;
  std::optional<double> tensor_fp4;
  std::optional<double> tensor_int8;
  std::optional<double> tensor_tf32;
  std::optional<double> fp32;  // CUDA cores
  // Of a CPU: the number format that the one measured peak is of ("f32"), and how it was measured.
  std::string measured_format;
  std::string measured_how;

  [[nodiscard]] bool is_measured() const { return !measured_format.empty(); }

  // For products whose weights are stored so ("bf16", "f16", "f32", "fp8", "int4", ...): weights of
  // fewer bits than the hardware multiplies are converted first, so they run at bf16's. None where
  // the GPU has no such peak on record.
  [[nodiscard]] std::optional<double> peak_for(std::string_view number_format) const;
  // Which peak that is: "bf16 dense".
  [[nodiscard]] std::string peak_name(std::string_view number_format) const;
};

// A CPU's peaks as measured: every product runs at the one peak there is.
GpuSpec measured_cpu(std::string name, double flops, double bandwidth, std::string number_format,
                     std::string how);

// conf/gpus.yaml, the user's over the shipped one. Finds "NVIDIA H200", "H200", "h200 sxm"; none
// for what is not listed, for names that several variants have, and for parts of a GPU (fewer SMs
// than it has): there is no guess.
class GpuSpecs {
 public:
  static Result<GpuSpecs> load(const config::ConfFiles& conf);
  // `sm_count` and `memory_bytes`, where known (0: not), distinguish variants of the same name.
  [[nodiscard]] std::optional<GpuSpec> find(std::string_view name, uint32_t sm_count = 0,
                                            uint64_t memory_bytes = 0) const;
  [[nodiscard]] std::vector<std::string> names() const;

 private:
  struct Entry {
    GpuSpec spec;
    std::vector<std::string> names;  // as normalized for comparison
    uint32_t sm_count = 0;           // 0: not stated
    uint64_t memory_bytes = 0;       // nominal; 0: not stated
  };
  static Result<void> read(const config::ConfText& text, std::vector<Entry>& into);
  [[nodiscard]] static bool fits(const Entry& entry, uint32_t sm_count, uint64_t memory_bytes);

  std::vector<Entry> entries_;
};

}  // namespace llmprof::llm
