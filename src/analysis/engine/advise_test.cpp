#include "analysis/engine/engine.h"

#include <gtest/gtest.h>

#include "profile/finding_kinds.h"
#include "profile/finding_values.h"
#include "profile/stages.h"

namespace llmprof::analysis {
namespace {

using profile::FindingKind;
using profile::FindingValues;

const std::vector<std::string_view> kShippedEngines = {
    "llama.cpp", "vLLM", "SGLang",          "TensorRT-LLM",         "Hugging Face transformers",
    "JAX",       "ATOM", profile::kPyTorch, profile::kUnknownEngine};

profile::Engine engine_named(std::string_view name, bool pytorch, bool compiled = false) {
  profile::Engine engine;
  engine.name = name;
  if (pytorch) {
    engine.framework = profile::kPyTorch;
    engine.compiled = compiled;
  }
  return engine;
}

bool on_pytorch(std::string_view engine) { return engine != "llama.cpp" && engine != "JAX"; }

profile::Finding finding_of(FindingKind kind, FindingValues values) {
  profile::Finding finding;
  finding.kind = kind;
  finding.stage = "decode";
  finding.values = std::move(values).take();
  return finding;
}

std::string advice_for(const profile::Engine& engine, profile::Finding finding) {
  static const EngineRules rules =
      EngineRules::load(config::ConfFiles::open(std::nullopt).value()).value();
  std::vector<profile::Finding> findings = {std::move(finding)};
  advise(rules, engine, findings);
  return findings.front().advice;
}

// Every kind of finding that engines have advice for, with the values that change the advice.
std::vector<profile::Finding> all_findings() {
  std::vector<profile::Finding> findings;
  for (const FindingKind kind :
       {FindingKind::launch_bound, FindingKind::gap_between_steps, FindingKind::synchronization,
        FindingKind::gemm_above_floor, FindingKind::gemv_above_floor,
        FindingKind::attention_above_floor, FindingKind::small_kernels}) {
    for (const char* bound : {"memory", "compute"}) {
      for (const char* library : {"", "ggml", "FlashAttention 2", "FlashAttention 3 (Hopper)"}) {
        for (unsigned flags = 0; flags < 16; ++flags) {
          FindingValues values;
          values.add("bound_by", bound);
          if (*library != '\0') values.add("library", library);
          values.add("decodes", (flags & 1U) != 0).add("graphs_used", (flags & 2U) != 0);
          values.add("splits_cache", (flags & 4U) != 0);
          values.add("quantized", (flags & 8U) != 0);
          findings.push_back(finding_of(kind, std::move(values)));
        }
      }
    }
  }
  return findings;
}

TEST(Advise, EveryEngineOnEveryKind) {
  for (const std::string_view name : kShippedEngines) {
    for (const bool compiled : {false, true}) {
      for (const profile::Finding& finding : all_findings()) {
        std::string advice = advice_for(engine_named(name, on_pytorch(name), compiled), finding);
        if (const size_t gap = advice.find("{longest_gap}"); gap != std::string::npos) {
          advice.erase(gap, 13);
        }
        EXPECT_TRUE(advice.ends_with('.'))
            << name << ", " << to_string(finding.kind) << ": " << advice;
        EXPECT_EQ(advice.find_first_of("{}"), std::string::npos) << advice;
        EXPECT_EQ(advice.find("  "), std::string::npos) << advice;
      }
    }
  }
}

// Advice that the program already follows is worse than none.
TEST(Advise, FitsTheProgram) {
  const auto advice = [](FindingKind kind, std::string_view name, std::string_view text) {
    FindingValues seen;
    seen.add(name, text);
    if (name != "decodes") seen.add("decodes", true);
    if (name != "compiled") seen.add("compiled", false);
    const bool launches = kind == FindingKind::launch_bound;
    return advice_for(engine_named(profile::kUnknownEngine, launches),
                      finding_of(kind, std::move(seen)));
  };
  EXPECT_TRUE(advice(FindingKind::launch_bound, "graphs_used", "yes")
                  .starts_with("CUDA graphs are in use"));
  EXPECT_NE(advice(FindingKind::launch_bound, "decodes", "no").find("fixed prompt lengths"),
            std::string::npos);
  EXPECT_TRUE(advice(FindingKind::launch_bound, "compiled", "yes")
                  .starts_with("torch.compile is in use without CUDA graphs"));
  EXPECT_TRUE(advice(FindingKind::launch_bound, "engine", "vLLM")
                  .starts_with("Enable vLLM's CUDA graph mode"));
  EXPECT_TRUE(
      advice(FindingKind::small_kernels, "compiled", "yes").starts_with("torch.compile is in use"));
  EXPECT_EQ(advice(FindingKind::small_kernels, "compiled", "no").find("torch.compile"),
            std::string::npos);
  EXPECT_NE(advice(FindingKind::small_kernels, "framework", "PyTorch").find("torch.compile first"),
            std::string::npos);
  EXPECT_TRUE(advice(FindingKind::attention_above_floor, "splits_cache", "yes")
                  .starts_with("The KV cache is already split"));
  EXPECT_NE(advice(FindingKind::gemm_above_floor, "bound_by", "compute").find("last wave"),
            std::string::npos);
}

TEST(Advise, NeverNamesAFrameworkThatTheProgramDoesNotUse) {
  for (const std::string_view name :
       {std::string_view("llama.cpp"), std::string_view("JAX"), profile::kUnknownEngine}) {
    for (const profile::Finding& finding : all_findings()) {
      const std::string advice = advice_for(engine_named(name, false), finding);
      for (const char* word : {"torch", "Torch", "max-autotune"}) {
        EXPECT_EQ(advice.find(word), std::string::npos) << name << ": " << advice;
      }
      if (name == "JAX") continue;  // it has its own terms
      for (const char* word : {".item()", "is_causal"}) {
        EXPECT_EQ(advice.find(word), std::string::npos) << name << ": " << advice;
      }
    }
  }
}

TEST(Advise, SpeaksOfNoTokensToAModelThatHasNone) {
  for (profile::Finding finding : all_findings()) {
    finding.stage = std::string(profile::kForwardStage);
    for (const std::string_view name : kShippedEngines) {
      for (const bool compiled : {false, true}) {
        const std::string advice = advice_for(engine_named(name, true, compiled), finding);
        for (const char* word : {"KV cache", "token", "prompt", "RoPE", "sampling", "generate()",
                                 "speculative", "causal", "decode"}) {
          EXPECT_EQ(advice.find(word), std::string::npos)
              << to_string(finding.kind) << ": " << advice;
        }
      }
    }
  }
}

TEST(Advise, AModelThatIsNoLlmToCompileThisStageToo) {
  FindingValues values;
  values.add("decodes", false).add("compiled", false);
  profile::Finding finding = finding_of(FindingKind::launch_bound, std::move(values));
  finding.stage = std::string(profile::kForwardStage);
  const std::string advice = advice_for(engine_named(profile::kPyTorch, true, true), finding);
  EXPECT_NE(advice.find("Fixed input sizes"), std::string::npos) << advice;
}

TEST(Advise, NothingThatTheProgramDoesAlready) {
  for (const profile::Finding& finding : all_findings()) {
    const std::string compiled = advice_for(engine_named(profile::kPyTorch, true, true), finding);
    EXPECT_EQ(compiled.find("torch.compile first"), std::string::npos) << compiled;
    if (!profile::has_flag(finding.values, "graphs_used")) continue;
    for (const std::string_view name : kShippedEngines) {
      const std::string advice = advice_for(engine_named(name, on_pytorch(name)), finding);
      EXPECT_EQ(advice.find("Replay the step as one CUDA graph"), std::string::npos) << advice;
      EXPECT_EQ(advice.find("CUDA graph mode"), std::string::npos) << advice;
    }
  }
}

TEST(Advise, OnExpertsOnlyWhereAnEngineBalancesThem) {
  profile::Finding experts = finding_of(FindingKind::expert_imbalance, {});
  for (const char* name : {"vLLM", "SGLang"}) {
    EXPECT_NE(advice_for(engine_named(name, true), experts).find("--enable-eplb"),
              std::string::npos);
  }
  EXPECT_EQ(advice_for(engine_named("ATOM", true), experts), "");
  experts.advice = "As given.";
  EXPECT_EQ(advice_for(engine_named("vLLM", true), experts), "As given.");
}

// Findings on requests belong to no stage.
profile::Finding finding_on_requests(FindingKind kind, bool full = false, bool saturated = false) {
  FindingValues values;
  values.add("batch_is_full", full).add("over_saturated", saturated);
  profile::Finding finding = finding_of(kind, std::move(values));
  finding.stage.reset();
  return finding;
}

TEST(Advise, EveryEngineOnRequests) {
  for (const auto& word : profile::kWords<FindingKind>) {
    if (!profile::is_of_requests(word.value)) continue;
    for (const std::string_view name : kShippedEngines) {
      for (unsigned flags = 0; flags < 4; ++flags) {
        const std::string advice =
            advice_for(engine_named(name, on_pytorch(name)),
                       finding_on_requests(word.value, (flags & 1U) != 0, (flags & 2U) != 0));
        EXPECT_TRUE(advice.ends_with('.')) << name << ", " << word.name << ": " << advice;
        EXPECT_EQ(advice.find_first_of("{}"), std::string::npos) << advice;
        EXPECT_EQ(advice.find("  "), std::string::npos) << advice;
      }
    }
  }
}

TEST(Advise, OnRequestsInTheEnginesOwnOptions) {
  const auto holds = [](std::string_view engine, FindingKind kind, std::string_view option,
                        bool full = true, bool saturated = false) {
    const std::string advice = advice_for(engine_named(engine, on_pytorch(engine)),
                                          finding_on_requests(kind, full, saturated));
    return advice.find(option) != std::string::npos;
  };
  using enum FindingKind;
  EXPECT_TRUE(holds("llama.cpp", requests_queued, "-np"));
  EXPECT_FALSE(holds("llama.cpp", requests_queued, "-np", false));
  EXPECT_FALSE(holds("llama.cpp", requests_queued, "-np", true, true));
  EXPECT_TRUE(holds("llama.cpp", requests_delayed_by_prompts, "-b"));
  EXPECT_TRUE(holds("vLLM", requests_delayed_by_prompts, "--max-num-batched-tokens"));
  EXPECT_TRUE(holds("vLLM", requests_queued, "--max-num-seqs"));
  EXPECT_TRUE(holds("vLLM", requests_preempted, "--gpu-memory-utilization"));
  EXPECT_TRUE(holds("vLLM", requests_delayed_by_host, "--async-scheduling"));
  EXPECT_TRUE(holds("SGLang", requests_delayed_by_prompts, "--chunked-prefill-size"));
  EXPECT_TRUE(holds("SGLang", requests_queued, "--max-running-requests"));
  EXPECT_TRUE(holds("SGLang", requests_without_graph, "--cuda-graph-max-bs"));
  EXPECT_TRUE(holds("TensorRT-LLM", requests_delayed_by_prompts, "max_num_tokens"));
  EXPECT_TRUE(holds("TensorRT-LLM", requests_preempted, "free_gpu_memory_fraction"));
  EXPECT_TRUE(holds("Hugging Face transformers", requests_preempted, "num_blocks"));
  EXPECT_TRUE(holds("Hugging Face transformers", requests_queued, "max_batch_tokens"));
  EXPECT_TRUE(holds(profile::kUnknownEngine, requests_delayed_by_prompts, "chunk"));
}

TEST(Advise, InTheEnginesOwnOptions) {
  const auto holds = [](std::string_view engine, FindingKind kind, std::string_view option) {
    FindingValues values;
    values.add("decodes", true).add("bound_by", "memory");
    const std::string advice =
        advice_for(engine_named(engine, on_pytorch(engine)), finding_of(kind, std::move(values)));
    return advice.find(option) != std::string::npos;
  };
  EXPECT_TRUE(holds("llama.cpp", FindingKind::launch_bound, "GGML_CUDA_GRAPHS"));
  EXPECT_TRUE(holds("vLLM", FindingKind::launch_bound, "--enforce-eager"));
  EXPECT_TRUE(holds("SGLang", FindingKind::launch_bound, "--cuda-graph-max-bs"));
  EXPECT_TRUE(holds("TensorRT-LLM", FindingKind::launch_bound, "cuda_graph_config"));
  EXPECT_TRUE(
      holds("Hugging Face transformers", FindingKind::launch_bound, "cache_implementation"));
  EXPECT_TRUE(holds("JAX", FindingKind::launch_bound, "--xla_gpu_enable_command_buffer"));
  EXPECT_TRUE(holds("vLLM", FindingKind::synchronization, "--async-scheduling"));
  EXPECT_TRUE(holds("llama.cpp", FindingKind::gemm_above_floor, "Q4_K_M"));
}

}  // namespace
}  // namespace llmprof::analysis
