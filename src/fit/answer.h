#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "profile/vocabulary.h"

namespace llmprof::fit {

enum class Engine : uint8_t { hf_static, llama_cpp };
constexpr auto words_of(Engine /*of*/) {
  using enum Engine;
  return profile::vocabulary<Engine>(
      {{hf_static, "Hugging Face transformers with a StaticCache, on PyTorch", "hf-static"},
       {llama_cpp, "llama.cpp with all layers on the GPU", "llama.cpp"}});
}

// What memory is for.
enum class Purpose : uint8_t {
  weights,
  kv_cache,
  activations,
  libraries,
  graphs,
  allocator,
  driver
};
constexpr auto words_of(Purpose /*of*/) {
  using enum Purpose;
  return profile::vocabulary<Purpose>(
      {{weights, "the model's tensors"},
       {kv_cache, "keys, values and states of sequences", "KV cache"},
       {activations, "tensors of one forward pass, at their largest"},
       {libraries, "workspaces of cuBLAS, and NCCL"},
       {graphs, "warm-up on its own stream, the graph's private pool, the executable graph",
        "CUDA graphs"},
       {allocator, "reserved by the framework's allocator, but free"},
       {driver, "reserved by the driver, the CUDA context, kernels' code"}});
}

// How a number of bytes is known.
enum class Basis : uint8_t { exact, simulated, measured, published };
constexpr auto words_of(Basis /*of*/) {
  using enum Basis;
  return profile::vocabulary<Basis>(
      {{exact, "computed from the configuration"},
       {simulated, "from the engine's sequence of allocations, through a model of its allocator"},
       {measured, "measured once, on the machine that `how` names"},
       {published, "published by others"}});
}

struct MemoryRow {
  Purpose kind = Purpose::weights;
  std::string name;
  uint64_t bytes = 0;
  Basis basis = Basis::exact;
  std::string how;

  void fields(auto& field) const {
    field("kind", kind, "what the memory is for");
    field("name", name, "the part, in words");
    field("bytes", bytes, "bytes on one GPU");
    field("basis", basis, "how the number is known");
    field("how", how, "where it comes from");
  }
};

// Another batch and context.
struct Alternative {
  std::string kv_cache;
  uint64_t batch = 0;
  uint64_t context = 0;
  uint64_t needed_bytes = 0;
  bool fits = false;

  void fields(auto& field) const {
    field("kv_cache", kv_cache, "format of the KV cache");
    field("batch", batch, "sequences");
    field("context", context, "tokens per sequence");
    field("needed_bytes", needed_bytes, "bytes needed on one GPU");
    field("fits", fits, "whether the GPU has that memory");
  }
};

// The largest batch of one context.
struct Capacity {
  std::string kv_cache;
  uint64_t context = 0;
  std::optional<uint64_t> largest_batch;

  void fields(auto& field) const {
    field("kv_cache", kv_cache, "format of the KV cache");
    field("context", context, "tokens per sequence");
    field("largest_batch", largest_batch,
          "largest batch that leaves 1 % of the GPU's memory; null if none does");
  }
};

struct Answer {
  std::string model;
  std::string variant;
  std::string source;
  uint64_t parameters = 0;
  Engine engine = Engine::hf_static;
  std::string gpu;
  uint64_t gpu_bytes = 0;
  uint32_t tp = 1;
  std::string weights;
  std::string kv_cache;
  uint64_t batch = 0;
  uint64_t context = 0;
  uint64_t prompt_tokens = 0;
  bool graphs = true;
  bool fits = false;
  uint64_t needed_bytes = 0;
  uint64_t kv_bytes_per_token = 0;
  uint64_t state_bytes_per_sequence = 0;
  std::vector<MemoryRow> rows;
  std::optional<uint64_t> largest_batch;
  std::optional<uint64_t> largest_context;
  std::vector<Alternative> table;
  std::vector<Capacity> capacities;
  std::vector<std::string> notes;

  void fields(auto& field) const {
    field("model", model, "name of the model");
    field("variant", variant, "model_type of its configuration");
    field("source", source, "file or preset that it was read from");
    field("parameters", parameters, "parameters of the whole model");
    field("engine", engine, "program that runs the model");
    field("gpu", gpu, "GPU, as in conf/gpus.yaml");
    field("gpu_bytes", gpu_bytes, "all memory of the GPU");
    field("tp", tp, "GPUs over which each layer is split");
    field("weights", weights, "format of the linear layers");
    field("kv_cache", kv_cache, "format of the KV cache");
    field("batch", batch, "sequences");
    field("context", context, "tokens per sequence, prompt included");
    field("prompt_tokens", prompt_tokens, "tokens per sequence in one prefill");
    field("graphs", graphs, "whether decode is captured in a CUDA graph");
    field("fits", fits, "whether needed_bytes is at most gpu_bytes");
    field("needed_bytes", needed_bytes, "sum of the rows: the peak on one GPU");
    field("kv_bytes_per_token", kv_bytes_per_token,
          "growth of the cache per token of one sequence, in layers without a window, on one GPU");
    field("state_bytes_per_sequence", state_bytes_per_sequence,
          "state of fixed size per sequence (linear attention), on one GPU");
    field("rows", rows, "what takes the memory, on one GPU");
    field("largest_batch", largest_batch,
          "largest batch at this context that leaves 1 % of the GPU's memory; null if none does");
    field("largest_context", largest_context,
          "largest context at this batch that leaves 1 %, at most the model's own; null if none "
          "does");
    field("table", table, "other batches and contexts, with bf16 and fp8 caches");
    field("capacities", capacities,
          "largest batches at contexts from 1,024 tokens to 131,072 or the model's own, with the "
          "formats of the table");
    field("notes", notes, "what is not counted, and caveats");
  }
};

}  // namespace llmprof::fit
