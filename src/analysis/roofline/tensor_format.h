#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "llm/gpu_spec.h"
#include "llm/model_spec.h"

namespace llmprof::analysis {

// The number format that tensor cores multiply in a kernel, and how it is known.
struct TensorFormat {
  std::string name;  // as GpuSpec::peak_for spells it, or "tf32"
  bool by_model = false;
};

// From the kernel's name, otherwise from the model's weights; none if both are inconclusive, or if
// the model's experts are stored in another format.
std::optional<TensorFormat> tensor_format(std::string_view kernel_name,
                                          const std::optional<llm::ModelSpec>& model);

struct TensorPeak {
  double flops = 0;  // FLOP/s
  std::string name;  // "bf16 dense"
};
// None if no such peak is known for the GPU.
std::optional<TensorPeak> tensor_peak(const llm::GpuSpec& gpu, std::string_view format);

}  // namespace llmprof::analysis
