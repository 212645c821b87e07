#include "report/findings/engine_advice.h"

#include <fmt/format.h>

#include "profile/engine.h"
#include "report/format/sentences.h"

namespace llmprof::report {
namespace {

enum class Kind { llama_cpp, vllm, sglang, tensorrt_llm, transformers, pytorch, other };

// Engines of LLMs have advice of their own, which fits their LLMs alone.
Kind kind_of(const Evidence& evidence) {
  if (!evidence.of_llm()) return evidence.pytorch() ? Kind::pytorch : Kind::other;
  const std::string name = evidence.engine();
  if (name == profile::kLlamaCpp) return Kind::llama_cpp;
  if (name == profile::kVllm) return Kind::vllm;
  if (name == profile::kSglang) return Kind::sglang;
  if (name == profile::kTensorRtLlm) return Kind::tensorrt_llm;
  if (name == profile::kTransformers) return Kind::transformers;
  if (name == profile::kPyTorch) return Kind::pytorch;
  return Kind::other;
}

std::string_view by_hand(const Evidence& evidence) {
  return evidence.of_llm()
             ? "norm with residual, RoPE with the cache write, and the gated activation"
             : "norms with what follows them, and activations";
}
std::string_view fixed_shapes(const Evidence& evidence) {
  return evidence.of_llm() ? "a static KV cache" : "fixed shapes";
}

constexpr std::string_view kCompileToo =
    "The program uses torch.compile, but not in this stage: compile this stage too.";
constexpr std::string_view kUnfused =
    "torch.compile is in use: look for what it left unfused (graph breaks, custom operators), then "
    "write fused kernels for ";

}  // namespace

std::string fusion_advice(const Evidence& evidence) {
  switch (kind_of(evidence)) {
    case Kind::llama_cpp:
      return "llama.cpp fuses norms, additions and the gated activation by itself: use a current "
             "build, and check that GGML_CUDA_DISABLE_FUSION is not set. What remains are kernels "
             "of the model's graph; more tokens per pass (parallel sequences, speculative "
             "decoding) share their cost.";
    case Kind::vllm:
      return evidence.compiled()
                 ? "vLLM compiles the model already: enable the fusion passes of its compilation "
                   "configuration (pass_config: norm with quantization, activation with "
                   "quantization, AllReduce with norm)."
                 : fmt::format(
                       "Enable vLLM's compilation (without --enforce-eager it is the "
                       "default): it fuses {}.",
                       by_hand(evidence));
    case Kind::sglang:
      return evidence.compiled()
                 ? fmt::format(
                       "SGLang compiles the model already: look for custom operators that "
                       "it cannot fuse, then write fused kernels for {}.",
                       by_hand(evidence))
                 : "Try --enable-torch-compile for small batches, and an attention backend with "
                   "fused RoPE and cache writes (--attention-backend).";
    case Kind::tensorrt_llm:
      return "Enable torch_compile_config of the LLM arguments (PyTorch backend), or the fused "
             "plugins where the engine was built ahead of time, for " +
             std::string(by_hand(evidence)) + ".";
    case Kind::transformers:
    case Kind::pytorch:
      if (evidence.compiled()) return fmt::format("{}{}.", kUnfused, by_hand(evidence));
      if (evidence.compiled_elsewhere()) {
        return fmt::format("{} Then write fused kernels for {}.", kCompileToo, by_hand(evidence));
      }
      return fmt::format(
          "Fuse them: with torch.compile first, then with hand-written kernels for {}.",
          by_hand(evidence));
    case Kind::other:
      break;
  }
  if (evidence.compiled()) return fmt::format("{}{}.", kUnfused, by_hand(evidence));
  return fmt::format("Fuse them: for example {}.", by_hand(evidence));
}

std::string graph_advice(const Evidence& evidence) {
  switch (kind_of(evidence)) {
    case Kind::llama_cpp:
      return "llama.cpp replays decode as one CUDA graph where it can: check that it was built "
             "with GGML_CUDA_GRAPHS=ON, that GGML_CUDA_DISABLE_GRAPHS is not set, and that all "
             "layers are on one GPU (-ngl 99). Batches whose size changes from step to step are "
             "not replayed.";
    case Kind::vllm:
      return "Enable vLLM's CUDA graph mode for this stage: run without --enforce-eager, and "
             "capture this batch size (cudagraph_capture_sizes of --compilation-config).";
    case Kind::sglang:
      return "Enable SGLang's CUDA graph mode for this stage: run without --disable-cuda-graph, "
             "and raise --cuda-graph-max-bs to this batch size.";
    case Kind::tensorrt_llm:
      return "Enable TensorRT-LLM's CUDA graph mode for this stage: set cuda_graph_config of the "
             "LLM arguments, with this batch size among batch_sizes or with enable_padding.";
    case Kind::transformers:
      if (!evidence.compiled()) {
        return "Replay the step as one CUDA graph: generate() with "
               "cache_implementation=\"static\" compiles the decode step with "
               "torch.compile(mode=\"reduce-overhead\").";
      }
      break;
    case Kind::pytorch:
      if (!evidence.compiled()) {
        return fmt::format(
            "Replay the step as one CUDA graph: use {} and torch.compile(mode="
            "\"reduce-overhead\").",
            fixed_shapes(evidence));
      }
      break;
    case Kind::other:
      if (const std::string name = evidence.engine(); !name.empty()) {
        return fmt::format(
            "Enable {}'s CUDA graph mode for this stage: the step is then replayed as one CUDA "
            "graph, not launched kernel by kernel.",
            name);
      }
      if (!evidence.compiled()) {
        return fmt::format(
            "Replay the step as one CUDA graph: use fixed shapes{}, and the engine's own graph "
            "mode where it has one.",
            evidence.of_llm() ? ", a static KV cache" : "");
      }
      break;
  }
  return fmt::format(
      "torch.compile is in use without CUDA graphs: add mode=\"reduce-overhead\" and {}, so that "
      "the step is replayed as one CUDA graph.",
      fixed_shapes(evidence));
}

std::string outside_of_graphs_advice(const Evidence& evidence) {
  switch (kind_of(evidence)) {
    case Kind::llama_cpp:
    case Kind::vllm:
    case Kind::sglang:
    case Kind::tensorrt_llm:
      return between_steps_advice(evidence);
    case Kind::transformers:
    case Kind::pytorch:
    case Kind::other:
      break;
  }
  return "Launch the next graph before the previous one ends, and add the remaining kernels to a "
         "graph.";
}

std::string fewer_launches_advice(const Evidence& evidence) {
  std::string fewer = "fuse small kernels first";
  switch (kind_of(evidence)) {
    case Kind::llama_cpp:
      return "Launch fewer, larger kernels: process the prompt in larger physical batches (-ub), "
             "and several prompts in one pass.";
    case Kind::vllm:
      return "Launch fewer, larger kernels: more tokens per pass (--max-num-batched-tokens), and "
             "piecewise CUDA graphs for this number of tokens (cudagraph_mode and "
             "cudagraph_capture_sizes of --compilation-config).";
    case Kind::sglang:
      return "Launch fewer, larger kernels: more tokens per pass (--chunked-prefill-size), and "
             "piecewise CUDA graphs where this version has them (--enable-piecewise-cuda-graph).";
    case Kind::tensorrt_llm:
      return "Launch fewer, larger kernels: more tokens per pass (max_num_tokens), and piecewise "
             "CUDA graphs (torch_compile_config of the LLM arguments).";
    case Kind::transformers:
    case Kind::pytorch:
      if (evidence.compiled_elsewhere()) {
        return fmt::format(
            "Launch fewer, larger kernels: {} Fixed {}, or marked dynamic ones, keep it from "
            "compiling again.",
            after_colon(kCompileToo), evidence.of_llm() ? "prompt lengths" : "input sizes");
      }
      if (!evidence.compiled()) fewer = "use torch.compile first";
      break;
    case Kind::other:
      break;
  }
  if (evidence.compiled()) {
    fewer =
        "torch.compile is in use, so look for what it left unfused (graph breaks, custom "
        "operators)";
  }
  return fmt::format(
      "Launch fewer, larger kernels: {}. Then use CUDA graphs for a few fixed {} where the shapes "
      "allow it.",
      fewer, evidence.of_llm() ? "prompt lengths" : "input sizes");
}

std::string synchronization_advice(const Evidence& evidence) {
  if (!evidence.of_llm()) {
    return fmt::format(
        "Remove the synchronization from the loop{}: keep results on the GPU, and copy what the "
        "host needs asynchronously into pinned memory.",
        evidence.pytorch() ? " (no .item(), .cpu() or tensor in a condition)" : "");
  }
  switch (kind_of(evidence)) {
    case Kind::llama_cpp:
      return "llama.cpp reads the logits back after every step to choose the token on the CPU: "
             "sample on the GPU where this version can (--backend-sampling), or decode several "
             "sequences per step, which share the wait.";
    case Kind::vllm:
      return "Let vLLM schedule the next step while the GPU works (--async-scheduling), and avoid "
             "request options that need results on the host (logits processors, log "
             "probabilities, structured output).";
    case Kind::sglang:
      return "Keep SGLang's overlap scheduler on (without --disable-overlap-schedule), and avoid "
             "request options that need results on the host (log probabilities, custom logits "
             "processors).";
    case Kind::tensorrt_llm:
      return "Keep TensorRT-LLM's overlap scheduler on (disable_overlap_scheduler: false), and "
             "avoid request options that need results on the host.";
    case Kind::transformers:
      return "Remove the synchronization from the loop: generate() reads every token back for its "
             "stopping criteria and streamers. With a static cache and few criteria it waits "
             "least; "
             "code of your own avoids .item(), .cpu() and tensors in conditions.";
    case Kind::pytorch:
      return "Remove the synchronization from the loop: no .item(), .cpu() or tensor in a "
             "condition. Sample on the GPU, and copy tokens with a non-blocking copy into pinned "
             "memory.";
    case Kind::other:
      break;
  }
  return "Remove the synchronization from the loop: sample on the GPU, and copy tokens "
         "asynchronously into pinned memory.";
}

std::string between_steps_advice(const Evidence& evidence) {
  switch (kind_of(evidence)) {
    case Kind::llama_cpp:
      return "Between steps llama.cpp samples and builds the next graph on the CPU: sample on the "
             "GPU where this version can (--backend-sampling), use few samplers, and decode "
             "several sequences per step, which share this time.";
    case Kind::vllm:
      return "Overlap it with the GPU: --async-scheduling, a front end in processes of its own "
             "(--api-server-count), and less work per step on the host (log probabilities, "
             "structured output).";
    case Kind::sglang:
      return "Overlap it with the GPU: keep the overlap scheduler on (without "
             "--disable-overlap-schedule), and raise --stream-interval where tokens are streamed.";
    case Kind::tensorrt_llm:
      return "Overlap it with the GPU: keep the overlap scheduler on "
             "(disable_overlap_scheduler: false), and raise stream_interval where tokens are "
             "streamed.";
    case Kind::transformers:
    case Kind::pytorch:
    case Kind::other:
      break;
  }
  if (!evidence.of_llm()) {
    return "Launch the next step before the host reads the previous one's result: keep what "
           "decides "
           "on the next step on the GPU.";
  }
  return "Launch the next step before the host reads the previous token: keep sampling and the "
         "stop check on the GPU, and detokenize one step behind.";
}

std::string memory_bound_product_advice(const Evidence& evidence) {
  const bool quantized = evidence.flag("quantized");
  const std::string_view few =
      evidence.of_llm()
          ? "more tokens per pass (larger batch, speculative decoding) lower the floor itself."
          : "a larger batch lower the floor itself.";
  switch (kind_of(evidence)) {
    case Kind::llama_cpp:
      return fmt::format(
          "The weights are read below the memory bandwidth, by llama.cpp's own kernels: compare "
          "with its current version first. Only fewer bytes ({}) or {}",
          quantized ? "a smaller quantization" : "quantized weights such as Q8_0 or Q4_K_M", few);
    case Kind::vllm:
    case Kind::sglang:
    case Kind::tensorrt_llm:
      return fmt::format(
          "The weights are read below the memory bandwidth: try {}'s other GEMM backends for few "
          "rows first. Only fewer bytes ({}) or {}",
          evidence.engine(), quantized ? "a smaller quantization" : "fp8 or int4 weights", few);
    case Kind::transformers:
    case Kind::pytorch:
    case Kind::other:
      break;
  }
  const bool torch = evidence.pytorch();
  return fmt::format(
      "The weights are read below the memory bandwidth: tune the GEMMs for few rows first (split-K "
      "or GEMV kernels, cuBLASLt{} choices). Only fewer bytes ({}) or {}",
      torch ? " or max-autotune" : "", quantized ? "a smaller quantization" : "fp8 or int4 weights",
      few);
}

std::string compute_bound_product_advice(const Evidence& evidence) {
  const std::string_view tile =
      "Compare the slowest GEMM's tile with its shape first: dimensions that leave part of the "
      "last "
      "wave idle.";
  if (kind_of(evidence) == Kind::llama_cpp) {
    return fmt::format("{} Then try another physical batch (-ub), and {}.", tile,
                       evidence.flag("quantized")
                           ? "cuBLAS instead of the quantized kernels (GGML_CUDA_FORCE_CUBLAS)"
                           : "quantized weights, whose products run on the int8 tensor cores");
  }
  return fmt::format("{} Then try {}fp8 where accuracy allows it.", tile,
                     evidence.pytorch() ? "max-autotune, then " : "");
}

std::string decode_attention_advice(const Evidence& evidence) {
  if (evidence.flag("splits_cache")) {
    return kind_of(evidence) == Kind::llama_cpp
               ? "The KV cache is already split over the SMs. At short contexts each kernel is "
                 "bound by latency, which only more sequences per step hide; at long ones a "
                 "quantized cache (-ctk q8_0 -ctv q8_0) halves the bytes."
               : "The KV cache is already split over the SMs: remove mask tensors and layout "
                 "changes first. At short contexts each kernel is bound by latency, which only "
                 "more sequences per step or fusion with the cache write hide.";
  }
  switch (kind_of(evidence)) {
    case Kind::llama_cpp:
      return "Switch FlashAttention on (-fa on): it splits the KV cache over the SMs.";
    case Kind::vllm:
    case Kind::sglang:
      return "Try another attention backend (--attention-backend: FlashInfer, FlashAttention), "
             "which splits the KV cache over the SMs.";
    default:
      return "Use a decode kernel that splits the KV cache over the SMs (FlashDecoding, "
             "FlashInfer), reads it in the layout in which it was written, and takes the length "
             "instead of a mask tensor.";
  }
}

std::string prefill_attention_advice(const Evidence& evidence) {
  const std::string library = evidence.has("library") ? evidence.text("library") : "";
  const Kind kind = kind_of(evidence);
  if (kind == Kind::llama_cpp) {
    return library == "ggml" ? "llama.cpp's own FlashAttention is in use: compare with its current "
                               "version, and with K and V of one type (-ctk, -ctv)."
                             : "Switch FlashAttention on (-fa on).";
  }
  if (kind == Kind::vllm || kind == Kind::sglang) {
    return fmt::format("{}Compare the attention backends for this GPU (--attention-backend).",
                       library.empty() ? "" : library + " is in use. ");
  }
  if (!evidence.of_llm()) {
    return "Use a FlashAttention kernel for this GPU (version 3 on Hopper), without a mask tensor.";
  }
  const std::string_view causal =
      evidence.pytorch()
          ? "is_causal instead of a mask tensor, and grouped heads without repeating K and V."
          : "a causal flag instead of a mask tensor, and grouped heads without repeating K and V.";
  if (library.starts_with("FlashAttention 3")) {
    return fmt::format("{} is in use already: check that it is called with {}", library, causal);
  }
  if (library.starts_with("FlashAttention")) {
    return fmt::format("{} is in use: version 3 is faster on Hopper. Call it with {}", library,
                       causal);
  }
  return fmt::format(
      "Use a causal FlashAttention kernel for this GPU (version 3 on Hopper), with {}", causal);
}

}  // namespace llmprof::report
