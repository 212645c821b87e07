#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "llm/gpu_spec.h"
#include "llm/model_spec.h"

namespace llmprof::analysis {

// What the tensor cores multiply in a kernel, and how that is known.
struct TensorFormat {
  std::string name;  // as GpuSpec::peak_for spells it, or "tf32"
  bool by_model = false;
};

// By the kernel's name, else by the model's weights; none where neither tells, and for a model
// whose experts are stored in another format.
std::optional<TensorFormat> tensor_format(std::string_view kernel_name,
                                          const std::optional<llm::ModelSpec>& model);

struct TensorPeak {
  double flops = 0;  // a second
  std::string name;  // "bf16 dense"
};
// None where the GPU has no such peak on record.
std::optional<TensorPeak> tensor_peak(const llm::GpuSpec& gpu, std::string_view format);

}  // namespace llmprof::analysis
