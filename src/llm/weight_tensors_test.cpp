#include "llm/weight_tensors.h"

#include <gtest/gtest.h>

#include "llm/cost.h"

namespace llmprof::llm {
namespace {

const config::ConfFiles& shipped_conf() {
  static const config::ConfFiles files = *config::ConfFiles::open(std::nullopt);
  return files;
}

uint64_t parameters_of(const ModelSpec& model, uint32_t tp = 1) {
  uint64_t sum = 0;
  for (const WeightTensor& tensor : weight_tensors(model, tp))
    sum += tensor.elements * tensor.count;
  return sum;
}

ModelSpec preset_model(const std::string& name) {
  auto model = load_model_spec(name, shipped_conf());
  EXPECT_TRUE(model) << model.error().message;
  return model ? std::move(*model) : ModelSpec();
}

// As the checkpoints' own indices count them; DeepSeek-V3 without the layer for multi-token
// prediction.
TEST(WeightTensors, CountTheParametersOfPublishedModels) {
  struct Published {
    const char* preset;
    uint64_t parameters;
  };
  for (const auto& [name, parameters] :
       {Published{"llama_1b", 1'235'814'400}, Published{"llama3_8b", 8'030'261'248},
        Published{"llama2_7b", 6'738'415'616}, Published{"qwen3_8b", 8'190'735'360},
        Published{"mixtral_8x7b", 46'702'792'704}, Published{"deepseek_v3", 671'026'419'200},
        Published{"llama3_70b", 70'553'706'496}, Published{"qwen2_7b", 7'615'616'512},
        Published{"gemma2_9b", 9'241'705'984}, Published{"phi2", 2'779'683'840}}) {
    EXPECT_NEAR(static_cast<double>(parameters_of(preset_model(name))),
                static_cast<double>(parameters), 0.00001 * static_cast<double>(parameters))
        << name;
  }
}

TEST(WeightTensors, SumToTheCostModelsCounts) {
  for (const std::string& name : shipped_conf().names_in("model/llm")) {
    const ModelSpec model = preset_model("llm/" + name);
    EXPECT_EQ(parameters_of(model), parameter_count(model)) << name;
    double bytes = 0;
    for (const WeightTensor& tensor : weight_tensors(model, 1)) {
      bytes += static_cast<double>(tensor.elements * tensor.count) * bytes_per_value(model, tensor);
    }
    EXPECT_NEAR(bytes, weight_bytes(model), 1e-9 * bytes) << name;
  }
}

// Two GPUs hold half of each matrix, and all norms.
TEST(WeightTensors, AreSplitOverGpus) {
  const ModelSpec model = preset_model("llama3_8b");
  const uint64_t norms = 65ULL * 4096;
  EXPECT_EQ(parameters_of(model, 2), (8'030'261'248 - norms) / 2 + norms);
}

// Qwen3-Next-80B-A3B: 36 of 48 layers keep a state in place of a cache. Its checkpoint, without the
// layer for multi-token prediction, has 79.67 B parameters.
TEST(WeightTensors, LinearAttention) {
  const auto model = parse_hugging_face_config(R"({"model_type": "qwen3_next", "hidden_size": 2048,
    "intermediate_size": 5120, "num_hidden_layers": 48, "num_attention_heads": 16,
    "num_key_value_heads": 2, "vocab_size": 151936, "num_experts": 512, "num_experts_per_tok": 10,
    "moe_intermediate_size": 512, "shared_expert_intermediate_size": 512,
    "decoder_sparse_step": 1, "linear_num_key_heads": 16, "linear_num_value_heads": 32,
    "linear_key_head_dim": 128, "linear_value_head_dim": 128, "linear_conv_kernel_dim": 4,
    "dtype": "bfloat16"})",
                                               "next.json");
  ASSERT_TRUE(model) << model.error().message;
  EXPECT_NEAR(static_cast<double>(parameters_of(*model)), 79.67e9, 0.005 * 79.67e9);
  EXPECT_EQ(parameters_of(*model), parameter_count(*model));
  // Keys and values of 2 heads of 256 in 12 layers.
  EXPECT_EQ(kv_bytes_per_token(*model), 12 * 2 * 2 * 256 * 2);
}

}  // namespace
}  // namespace llmprof::llm
