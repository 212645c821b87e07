#include <algorithm>
#include <cmath>
#include <string>

#include "fit/llama_cpp.h"
#include "fit/measured.h"
#include "fit/request.h"
#include "fit/static_engine.h"
#include "llm/layer_weights.h"
#include "llm/weight_tensors.h"

namespace llmprof::fit {
namespace {

uint64_t rounded(double bytes) { return static_cast<uint64_t>(std::llround(bytes)); }

double weight_bytes_on_gpu(const Request& request) {
  double sum = 0;
  for (const llm::WeightTensor& tensor : llm::weight_tensors(request.model, request.tp)) {
    sum += static_cast<double>(tensor.elements * tensor.count) *
           llm::bytes_per_value(request.model, tensor);
  }
  return sum;
}

void add_driver(Need& need, bool graphs) {
  const std::string how(kMeasuredOn);
  need.add(Purpose::driver, "reserved by the driver", kDriverReserved, Basis::measured, how);
  need.add(Purpose::driver, "CUDA context", kContext, Basis::measured, how);
  need.add(Purpose::driver, "code of kernels", kKernelCode, Basis::measured, how);
  need.add(Purpose::libraries, "cuBLAS", kCublas, Basis::measured, how);
  if (graphs) {
    need.add(Purpose::graphs, "executable graph", kExecutableGraph, Basis::measured, how);
  }
}

void add_nccl(Need& need, uint32_t tp) {
  if (tp < 2) return;
  need.add(Purpose::libraries, "NCCL", tp == 2 ? kNcclOfTwo : kNcclOfMore, Basis::published,
           "ai-dynamo/aiconfigurator's figure for groups of H200");
}

void add_static_engine(Need& need, const Request& request, std::optional<uint64_t> limit) {
  const StaticMemory memory = simulate_static_engine(request, limit);
  const SequenceBytes sequence = sequence_bytes(request);
  const auto batch = static_cast<double>(request.batch);
  const uint64_t weights = rounded(weight_bytes_on_gpu(request));
  const uint64_t cache = rounded(batch * sequence.whole);
  const uint64_t state = rounded(batch * sequence.state);
  need.add(Purpose::weights, "weights", weights, Basis::exact, "each tensor of the configuration");
  need.add(Purpose::kv_cache, "keys and values", cache, Basis::exact,
           "batch x context x bytes per token; windows hold fewer tokens");
  need.add(Purpose::kv_cache, "states of linear attention", state, Basis::exact,
           "batch x state per sequence");
  need.add(Purpose::activations, "activations", memory.activations, Basis::simulated,
           "largest sum of tensors of one pass at a time");
  need.add(Purpose::libraries, "workspace of cuBLAS in PyTorch", memory.workspaces,
           Basis::simulated, "32 MiB per stream on Hopper");
  need.add(Purpose::graphs, "warm-up and graph pool", memory.graphs, Basis::simulated,
           "segments that only the warm-up's stream or the graph can use");
  const uint64_t known =
      weights + cache + state + memory.activations + memory.workspaces + memory.graphs;
  need.add(Purpose::allocator, "free but reserved",
           memory.reserved - std::min(known, memory.reserved), Basis::simulated,
           "segments of PyTorch's allocator, less the tensors in them");
  need.fits = memory.fits;
}

}  // namespace

uint64_t cached_tokens(const Request& request, const llm::LayerSpec& layer) {
  if (layer.window == 0) return request.context;
  const uint64_t window = request.engine == Engine::llama_cpp ? llama_cpp_window(request, layer)
                                                              : uint64_t{layer.window};
  return std::min(window, request.context);
}

SequenceBytes sequence_bytes(const Request& request) {
  const llm::ModelSpec& model = request.model;
  double values = llm::cached_values(model, request.tp);
  // transformers caches what it expands from the latent, llama.cpp the latent.
  if (model.latent && request.engine == Engine::hf_static) {
    const llm::LatentAttention& latent = *model.latent;
    values = (static_cast<double>(latent.nope_dim) + latent.rope_dim + latent.value_dim) *
             model.heads / request.tp;
  }
  SequenceBytes bytes;
  const llm::LinearState state = llm::linear_state(model, request.tp);
  for (const llm::LayerSpec& layer : model.layers) {
    if (layer.attention == llm::AttentionKind::linear) {
      bytes.state += state.recurrent * sizeof(float) + state.convolution * model.dtype.bytes;
      continue;
    }
    const double per_token = values * model.kv_cache.bytes;
    const uint64_t tokens = cached_tokens(request, layer);
    bytes.whole += per_token * static_cast<double>(tokens);
    if (layer.window == 0) bytes.per_token += per_token;
  }
  return bytes;
}

Need need_of(const Request& request, std::optional<uint64_t> gpu_bytes) {
  Need need;
  const bool is_static = request.engine == Engine::hf_static;
  add_driver(need, is_static && request.graphs);
  add_nccl(need, request.tp);
  if (is_static) {
    std::optional<uint64_t> limit;
    if (gpu_bytes) limit = *gpu_bytes - std::min(need.bytes(), *gpu_bytes);
    add_static_engine(need, request, limit);
  } else {
    add_llama_cpp(need, request);
    need.fits = !gpu_bytes || need.bytes() <= *gpu_bytes;
  }
  std::ranges::stable_sort(need.rows, {}, &MemoryRow::kind);
  return need;
}

}  // namespace llmprof::fit
