#pragma once

#include <cstdint>
#include <optional>
#include <string_view>
#include <vector>

#include "fit/request.h"
#include "llm/model_spec.h"

namespace llmprof::fit {

// A format of GGUF files by its name: "f16", "q8_0", "q4_k_m", ... Its `bytes` are those of most
// matrices; others get the format that llama-quantize gives them. None if unknown.
std::optional<llm::NumberFormat> gguf_format(std::string_view name);
std::vector<std::string_view> gguf_formats();

// Cells of a layer with a window: those of one micro-batch are added, and padded.
uint64_t llama_cpp_window(const Request& request, const llm::LayerSpec& layer);

// Model, cache and compute buffers of one GPU.
void add_llama_cpp(Need& need, const Request& request);

}  // namespace llmprof::fit
