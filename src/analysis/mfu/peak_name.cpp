#include "analysis/mfu/peak_name.h"

namespace llmprof::analysis {

std::string peak_name(std::string_view format, const llm::GpuSpec& gpu) {
  if (gpu.is_measured()) return gpu.measured_format + ", measured on this CPU";
  if (format == "f32") return "fp32, CUDA cores";
  if (format == "fp8" && gpu.tensor_fp8) return "fp8 dense";
  if (format == "nvfp4" && gpu.tensor_fp4) return "fp4 dense";
  if (format == "int8" && gpu.tensor_int8) return "int8 dense";
  return format == "f16" || gpu.fp16_only ? "fp16 dense" : "bf16 dense";
}

}  // namespace llmprof::analysis
