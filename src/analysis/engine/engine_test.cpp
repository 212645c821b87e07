#include "analysis/engine/engine.h"

#include <gtest/gtest.h>

#include "testing/hand_made_trace.h"
#include "testing/read_capture.h"
#include "testing/shared_captures.h"

namespace llmprof::analysis {
namespace {

const config::ConfFiles& shipped_conf() {
  static const config::ConfFiles conf = config::ConfFiles::open(std::nullopt).value();
  return conf;
}

const EngineRules& shipped_engines() {
  static const EngineRules rules = EngineRules::load(shipped_conf()).value();
  return rules;
}

profile::Engine engine_in(const trace::Trace& trace, std::string_view command = "") {
  static const KernelRules rules = std::move(*KernelRules::load(shipped_conf()));
  const DescribedNames names(trace, rules);
  return find_engine(shipped_engines(), trace, trace, rank_kernels(trace, names), {}, command);
}

// Whether an engine has a sign of this kind that matches the text.
bool recognized(profile::EngineSign kind, std::string_view text) {
  for (const EngineRule& rule : shipped_engines().all()) {
    for (const SignRule& sign : rule.signs) {
      if (sign.kind == kind && sign.matches(text)) return true;
    }
  }
  return false;
}

constexpr const char* kSilu =
    "void at::native::vectorized_elementwise_kernel<8, at::native::silu_kernel, x>(int)";

TEST(Engine, LlamaCppByItsKernelsAlone) {
  testing::HandMadeTrace made;
  made.kernel("void mul_mat_vec_q<(ggml_type)12, 1, false, false>(void const*)", 0, 10, 90);
  made.kernel("void cutlass::Kernel2<cutlass_80_tensorop_h16816gemm_64x64_64x6_tn_align8>(int)", 0,
              90, 100);
  const profile::Engine found = engine_in(made.freeze());
  EXPECT_EQ(found.name, "llama.cpp");
  EXPECT_EQ(found.framework, "ggml");
  EXPECT_EQ(found.cuda_graphs, false);
  EXPECT_DOUBLE_EQ(found.confidence->value, 0.9);
  ASSERT_EQ(found.evidence.size(), 1U);
  EXPECT_EQ(found.evidence[0].subject, "ggml");
  EXPECT_NEAR(found.evidence[0].share->value, 80 / 90.0, 1e-9);
}

TEST(Engine, JaxByTheNamesOfItsFusions) {
  testing::HandMadeTrace made;
  made.kernel("gemm_fusion_dot_224", 0, 10, 50);
  made.kernel("loop_dynamic_update_slice_fusion_16", 0, 50, 60);
  made.kernel("my_kernel", 0, 60, 100);
  const profile::Engine found = engine_in(made.freeze());
  EXPECT_EQ(found.name, "JAX");
  EXPECT_EQ(found.framework, "XLA");
  ASSERT_EQ(found.evidence.size(), 1U);
  EXPECT_EQ(found.evidence[0].subject, "XLA");
  EXPECT_NEAR(found.evidence[0].share->value, 50 / 90.0, 1e-9);
}

// vLLM runs GGUF files with kernels from ggml.
TEST(Engine, KernelsOfGgmlInPyTorchAreNotLlamaCpp) {
  testing::HandMadeTrace made;
  made.kernel("void mul_mat_vec_q<(ggml_type)12, 1, false, false>(void const*)", 0, 10, 90);
  made.kernel(kSilu, 0, 90, 100);
  EXPECT_EQ(engine_in(made.freeze()).name, profile::kPyTorch);
}

TEST(Engine, PyTorchEagerOrCompiled) {
  testing::HandMadeTrace eager;
  eager.kernel(kSilu, 0, 0, 1000);
  const profile::Engine in_eager = engine_in(eager.freeze());
  EXPECT_EQ(in_eager.name, profile::kPyTorch);
  EXPECT_EQ(in_eager.framework, profile::kPyTorch);
  EXPECT_EQ(in_eager.compiled, false);
  testing::HandMadeTrace compiled;
  compiled.kernel("triton_red_fused_mm_t_view_9", 0, 0, 1000);
  const profile::Engine in_compiled = engine_in(compiled.freeze());
  EXPECT_EQ(in_compiled.name, profile::kPyTorch);
  EXPECT_EQ(in_compiled.compiled, true);
}

TEST(Engine, AFewGeneratedKernelsAreNoCompiledProgram) {
  testing::HandMadeTrace made;
  for (Nanoseconds i = 0; i < 100; ++i) made.kernel(kSilu, 0, i * 100, i * 100 + 100);
  made.kernel("triton_poi_fused_add_0", 0, 10000, 10001);
  EXPECT_EQ(engine_in(made.freeze()).compiled, false);
}

TEST(Engine, WhatAnEngineSaysOfItselfCountsMoreThanKernelsItShips) {
  testing::HandMadeTrace made;
  made.range("step[DECODE bs=32]", 0, 100);
  made.kernel("void vllm::rms_norm_kernel<c10::BFloat16>(int)", 0, 10, 50);
  made.kernel(kSilu, 0, 50, 60);
  const profile::Engine found = engine_in(made.freeze());
  EXPECT_EQ(found.name, "SGLang");
  EXPECT_EQ(found.evidence[0].subject, "step[DECODE bs=32]");
  EXPECT_LT(found.confidence->value, 0.97);  // other engines' kernels leave some doubt
  EXPECT_GT(found.confidence->value, 0.6);
}

TEST(Engine, LentKernelsOfTensorRtLlmDoNotName) {
  testing::HandMadeTrace made;
  made.kernel("void tensorrt_llm::kernels::quantize_with_block_size<2>(int)", 0, 10, 50);
  made.kernel("void vllm::rms_norm_kernel<c10::BFloat16>(int)", 0, 50, 60);
  EXPECT_EQ(engine_in(made.freeze()).name, "vLLM");
}

TEST(Engine, UnknownWhereNothingTells) {
  testing::HandMadeTrace made;
  made.kernel("my_kernel", 0, 10, 50);
  const profile::Engine found = engine_in(made.freeze());
  EXPECT_EQ(found.name, profile::kUnknownEngine);
  EXPECT_EQ(found.framework, std::nullopt);
  EXPECT_TRUE(found.evidence.empty());
}

TEST(Engine, ByTheCommandOfARun) {
  testing::HandMadeTrace made;
  made.kernel(kSilu, 0, 10, 50);
  const trace::Trace trace = made.freeze();
  EXPECT_EQ(engine_in(trace, "python3 workloads/hf_llm.py --model x").name,
            "Hugging Face transformers");
  EXPECT_EQ(engine_in(trace, "vllm serve x").name, "vLLM");
  EXPECT_EQ(engine_in(trace, "python -m sglang.launch_server").name, "SGLang");
  EXPECT_EQ(engine_in(trace, "trtllm-serve x").name, "TensorRT-LLM");
  EXPECT_EQ(engine_in(trace, "python mine.py --vllm-like").name, profile::kPyTorch);
}

// vLLM uses transformers to read configurations.
TEST(Engine, ByThePythonPackagesOnCallStacks) {
  testing::HandMadeTrace made;
  made.kernel(kSilu, 0, 10, 50);
  trace::Trace trace = made.freeze();
  trace.python_packages = {"torch", "transformers"};
  EXPECT_EQ(engine_in(trace).name, "Hugging Face transformers");
  trace.python_packages.insert("vllm");
  EXPECT_EQ(engine_in(trace).name, "vLLM");
}

TEST(EngineSigns, AreWholeWords) {
  EXPECT_TRUE(
      recognized(profile::EngineSign::annotation, "execute_context_1(512)_generation_0(0)"));
  EXPECT_TRUE(recognized(profile::EngineSign::annotation,
                         "execute_2_context_1(sq4sk5sqsq1sqsk1)_generation_1(sq1sk9)"));
  EXPECT_TRUE(recognized(profile::EngineSign::annotation,
                         "[Executor] _forward_step 12: 1 ctx reqs, 3 gen reqs"));
  EXPECT_FALSE(recognized(profile::EngineSign::annotation, "decode_step"));
  EXPECT_FALSE(recognized(profile::EngineSign::annotation, "prefill"));
  EXPECT_TRUE(recognized(profile::EngineSign::process, "/opt/llama.cpp/bin/llama-server"));
  EXPECT_TRUE(recognized(profile::EngineSign::process, "VLLM::EngineCore"));
  EXPECT_FALSE(recognized(profile::EngineSign::process, "python3"));
  EXPECT_FALSE(recognized(profile::EngineSign::process, "my-llama-server2"));
  EXPECT_TRUE(recognized(profile::EngineSign::operators, "vllm::unified_attention"));
  EXPECT_FALSE(recognized(profile::EngineSign::operators, "aten::mm"));
}

// The engines' logs show what was run.
TEST(SharedCapturesEngine, TheEnginesOfKnownCaptures) {
  LLMPROF_NEEDS_SHARED_CAPTURES(folder);
  struct Known {
    const char* file;
    std::string_view engine;
    bool pytorch;
    bool compiled;
    bool graphs;
  };
  for (const Known& known :
       {Known{"engines/llama_cpp_bench_f16.llmtrace.gz", "llama.cpp", false, false, true},
        Known{"engines/llama_cpp_server.llmtrace.gz", "llama.cpp", false, false, true},
        Known{"engines/gpt_fast_compiled.llmtrace.gz", profile::kPyTorch, true, true, true},
        Known{"h200-detection/jax_small.llmtrace.gz", "JAX", false, false, true},
        Known{"public/AMD-AGI+TraceLens__h100_Qwen_Qwen1.5-0.5B-Chat__1016005.json.gz",
              "Hugging Face transformers", true, false, false},
        Known{"h200-llama-eager/nsys.sqlite", profile::kPyTorch, true, false, false},
        Known{"h200-dense-graph/nsys_node.sqlite", profile::kPyTorch, true, false, true},
        Known{"public/AMD-AGI+TraceLens__b200_eager_trace.json.gz", "vLLM", true, false, false},
        Known{"public/AMD-AGI+TraceLens__sglang_Qwen3-8B_decode.json.gz", "SGLang", true, false,
              true},
        Known{"public/AMD-AGI+TraceLens__inference_vllm_decode_full_graph_execution.json.gz",
              "vLLM", true, true, true}}) {
    if (!std::filesystem::exists(folder / known.file)) continue;
    const auto trace = testing::read_capture(folder / known.file);
    ASSERT_TRUE(trace) << known.file;
    const profile::Engine found = engine_in(*trace);
    EXPECT_EQ(found.name, known.engine) << known.file;
    EXPECT_EQ(found.framework == profile::kPyTorch, known.pytorch) << known.file;
    EXPECT_EQ(found.compiled.value_or(false), known.compiled) << known.file;
    EXPECT_EQ(found.cuda_graphs, known.graphs) << known.file;
    EXPECT_GT(found.confidence->value, 0.6) << known.file;
  }
}

}  // namespace
}  // namespace llmprof::analysis
