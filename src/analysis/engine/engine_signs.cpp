#include "analysis/engine/engine_signs.h"

#include <re2/re2.h>

#include <array>
#include <memory>
#include <vector>

#include "profile/engine.h"

namespace llmprof::analysis {
namespace {

constexpr double kSaysSo = 0.97;        // the engine's own words
constexpr double kOwnOperators = 0.95;  // registered by its library alone
constexpr double kOwnKernels = 0.9;     // no other engine ships them
constexpr double kSharedKernels = 0.7;  // others ship them, seldom
constexpr double kLentKernels = 0.5;    // FlashInfer brings them to every engine

struct Sign {
  const char* expression;
  std::string_view engine;
  double weight;
};

class Signs {
 public:
  template <size_t N>
  explicit Signs(const std::array<Sign, N>& signs) {
    for (const Sign& sign : signs) {
      expressions_.push_back(std::make_unique<RE2>(sign.expression, RE2::Latin1));
      betrayed_.push_back({sign.engine, sign.weight});
    }
  }
  [[nodiscard]] std::optional<Betrayed> find(std::string_view text) const {
    for (size_t i = 0; i < expressions_.size(); ++i) {
      if (RE2::PartialMatch(re2::StringPiece(text.data(), text.size()), *expressions_[i])) {
        return betrayed_[i];
      }
    }
    return std::nullopt;
  }

 private:
  std::vector<std::unique_ptr<RE2>> expressions_;
  std::vector<Betrayed> betrayed_;
};

using profile::kLlamaCpp;
using profile::kSglang;
using profile::kTensorRtLlm;
using profile::kTransformers;
using profile::kVllm;

}  // namespace

std::optional<Betrayed> engine_of_annotation(std::string_view text) {
  static const Signs signs(std::array{
      Sign{R"(^execute_(?:\d+_)?context_\S*_generation_)", kVllm, kSaysSo},
      Sign{R"(^gpu_model_runner: )", kVllm, kSaysSo},
      Sign{R"(^step\[(?:EXTEND|DECODE|MIXED|TARGET_VERIFY|DRAFT_EXTEND|IDLE|PREBUILT)\b)", kSglang,
           kSaysSo},
      Sign{R"(^\[Executor\] _forward_step )", kTensorRtLlm, kSaysSo},
      Sign{R"(^(?:prefill|decode)\[bs=\d+ )", "ATOM", kSaysSo},
      Sign{R"(^(?:transformers/|[A-Z]\w*(?:ForCausalLM|ForConditionalGeneration)\b))",
           kTransformers, kSharedKernels},
  });
  return signs.find(text);
}

std::optional<Betrayed> engine_of_process(std::string_view name) {
  static const Signs signs(std::array{
      Sign{R"((?:^|/)llama-(?:bench|server|cli|run|batched\S*|parallel|perplexity|simple\S*)$)",
           kLlamaCpp, kSaysSo},
      Sign{R"((?:^|/)(?:ollama|ollama_llama_server|koboldcpp|LM Studio)\b)", kLlamaCpp,
           kOwnKernels},
      Sign{R"(^VLLM::|(?:^|/)vllm$)", kVllm, kSaysSo},
      Sign{R"(^sglang::)", kSglang, kSaysSo},
      Sign{R"((?:^|/)trtllm-\w+$)", kTensorRtLlm, kSaysSo},
  });
  return signs.find(name);
}

std::optional<Betrayed> engine_of_command(std::string_view command) {
  static const Signs signs(std::array{
      Sign{R"((?:^|[/\s])llama-(?:bench|server|cli|run|batched\S*|parallel|perplexity)(?:\s|$))",
           kLlamaCpp, kSaysSo},
      Sign{R"((?:^|[/\s])vllm(?:\s|$)|\bvllm\.entrypoints\b)", kVllm, kSaysSo},
      Sign{R"(\bsglang\.(?:launch_server|bench_\w+))", kSglang, kSaysSo},
      Sign{R"((?:^|[/\s])trtllm-\w+(?:\s|$))", kTensorRtLlm, kSaysSo},
      Sign{R"((?:^|[/\s])(?:hf_llm\.py|transformers(?:-cli)?\s+(?:serve|chat)))", kTransformers,
           kSaysSo},
  });
  return signs.find(command);
}

std::optional<Betrayed> engine_of_python_package(std::string_view package) {
  static const Signs signs(std::array{
      Sign{R"(^vllm$)", kVllm, kOwnOperators},
      Sign{R"(^sglang$)", kSglang, kOwnOperators},
      Sign{R"(^tensorrt_llm$)", kTensorRtLlm, kOwnOperators},
      Sign{R"(^transformers$)", kTransformers, kSharedKernels},
  });
  return signs.find(package);
}

std::optional<Betrayed> engine_of_operator(std::string_view name) {
  static const Signs signs(std::array{
      Sign{R"(^(?:vllm|_vllm_fa\d_C)::)", kVllm, kOwnOperators},
      Sign{R"(^(?:_C_cache_ops|_moe_C|_C)::)", kVllm, kSharedKernels},
      Sign{R"(^(?:sgl_kernel|sglang)::)", kSglang, kOwnOperators},
      Sign{R"(^(?:trtllm|tensorrt_llm)::)", kTensorRtLlm, kOwnOperators},
  });
  return signs.find(name);
}

std::optional<Betrayed> engine_of_kernel(std::string_view canonical) {
  static const Signs signs(std::array{
      Sign{R"(^(?:sgl_kernel|sgl_hip|sglang)::)", kSglang, kOwnKernels},
      Sign{R"(^(?:write_req_to_token_pool|create_flashinfer_kv_indices|resolve_future_token_ids))",
           kSglang, kOwnKernels},
      Sign{R"(^(?:vllm|_moe_C)::)", kVllm, kSharedKernels},
      Sign{R"(^turbomind::)", "LMDeploy", kOwnKernels},
      Sign{R"(^tensorrt_llm::(?:runtime|kernels::(?:mmha|decoder|invoke|xqa)))", kTensorRtLlm,
           kSharedKernels},
      Sign{R"(^tensorrt_llm::)", kTensorRtLlm, kLentKernels},
  });
  return signs.find(canonical);
}

}  // namespace llmprof::analysis
