#include "llm/model_spec.h"

#include <gtest/gtest.h>

#include <algorithm>

#include "base/text.h"
#include "config/config_tree.h"
#include "llm/cost.h"
#include "testing/shared_captures.h"
#include "testing/temporary_folder.h"

namespace llmprof::llm {
namespace {

const config::ConfFiles& conf() {
  static const config::ConfFiles files = *config::ConfFiles::open(std::nullopt);
  return files;
}

std::string small(std::string_view more, std::string_view type = "llama") {
  return "{\"model_type\": \"" + std::string(type) +
         "\", \"hidden_size\": 64, \"intermediate_size\": 96, \"num_hidden_layers\": 4, "
         "\"num_attention_heads\": 4, \"vocab_size\": 100, \"dtype\": \"bfloat16\"" +
         std::string(more) + "}";
}

ModelSpec parsed(const std::string& json) {
  auto model = parse_hugging_face_config(json, "c.json");
  EXPECT_TRUE(model) << model.error().message;
  return model ? std::move(*model) : ModelSpec();
}

std::string error_of(const std::string& json) {
  const auto model = parse_hugging_face_config(json, "c.json");
  EXPECT_FALSE(model);
  if (model) return {};
  EXPECT_EQ(model.error().kind, ErrorKind::usage);
  return model.error().message;
}

std::vector<bool> windowed(const ModelSpec& model) {
  std::vector<bool> layers;
  for (const LayerSpec& layer : model.layers) layers.push_back(layer.window > 0);
  return layers;
}

std::vector<bool> sparse(const ModelSpec& model) {
  std::vector<bool> layers;
  for (const LayerSpec& layer : model.layers) {
    layers.push_back(layer.feed_forward == FeedForwardKind::mixture);
  }
  return layers;
}

// The counts that the models' authors publish; every preset states them.
TEST(Presets, ParameterCountsAreThePublishedOnes) {
  const auto names = conf().names_in("model/llm");
  EXPECT_GE(names.size(), 18U);
  for (const std::string& name : names) {
    const auto model = load_model_spec("llm/" + name, conf());
    ASSERT_TRUE(model) << model.error().message;
    EXPECT_FALSE(model->name.empty());
    EXPECT_FALSE(model->variant.empty());
    const auto text = conf().layers("model/llm/" + name + ".yaml");
    const auto document = config::parse_yaml(text->front().text, name);
    if (document->root.find("alias_of") != nullptr) continue;
    ASSERT_NE(document->root.find("params"), nullptr) << name;
    const double published = document->root.find("params")->number().value();
    EXPECT_NEAR(static_cast<double>(parameter_count(*model)), published, 0.01 * published) << name;
  }
}

TEST(Presets, ActiveParametersAreThePublishedOnes) {
  struct Active {
    const char* preset;
    double billions;
  };
  // gpt-oss: 3.6 and 5.1 B with the head; DeepSeek-V3: 37 B; Mixtral: 12.9 B with the embedding.
  for (const Active& active :
       {Active{"gpt_oss_20b", 3.61}, Active{"gpt_oss_120b", 5.13}, Active{"deepseek_v3", 36.6},
        Active{"mixtral_8x7b", 12.75}, Active{"deepseek_ocr", 0.57}}) {
    const auto model = load_model_spec(active.preset, conf());
    ASSERT_TRUE(model);
    EXPECT_NEAR(static_cast<double>(active_parameter_count(*model)) / 1e9, active.billions,
                0.01 * active.billions)
        << active.preset;
  }
}

TEST(Presets, AreFoundByFileAndByModelName) {
  for (const char* what : {"qwen2_7b", "llm/qwen2_7b", "model/llm/qwen2_7b", "qwen2_7b.yaml",
                           "Qwen/Qwen2-7B", "qwen/qwen2-7b"}) {
    const auto model = load_model_spec(what, conf());
    ASSERT_TRUE(model) << what << ": " << model.error().message;
    EXPECT_EQ(model->name, "Qwen/Qwen2-7B");
  }
  const auto alias = load_model_spec("llm/alt", conf());
  ASSERT_TRUE(alias);
  EXPECT_EQ(alias->name, "Qwen/Qwen2.5-0.5B");
}

TEST(Presets, TheUsersComeFirst) {
  const testing::TemporaryFolder folder;
  std::filesystem::create_directories(folder.path() / "model/llm");
  folder.write("model/llm/qwen2_7b.yaml",
               "name: mine\ndtype: float16\nkv_cache_dtype: fp8\nconfig: " + small("") +
                   "\ndefault_workload: hf_llm\nweights: real\npath: /models/mine\n");
  folder.write("model/llm/wrong.yaml", "name: x\nconfg: {}\n");
  const auto files = config::ConfFiles::open(folder.path());
  const auto model = load_model_spec("qwen2_7b", *files);
  ASSERT_TRUE(model) << model.error().message;
  EXPECT_EQ(model->name, "mine");
  EXPECT_EQ(model->dtype.name, "bf16");  // from the configuration
  EXPECT_EQ(model->kv_cache.name, "fp8");
  const auto wrong = load_model_spec("wrong", *files);
  ASSERT_FALSE(wrong);
  EXPECT_TRUE(contains(wrong.error().message, "wrong.yaml:2: unknown key 'confg'; did you mean"))
      << wrong.error().message;
}

TEST(LoadModelSpec, TakesAFileOrItsFolder) {
  const auto file = testing::test_data("models") / "dense_graph_config.json";
  const auto model = load_model_spec(file.string(), conf());
  ASSERT_TRUE(model) << model.error().message;
  EXPECT_EQ(model->name, "dense_graph_config");
  EXPECT_EQ(model->variant, "llama");
  EXPECT_EQ(model->source, file.string());
  const testing::TemporaryFolder folder;
  folder.write("config.json", testing::file_bytes(file));
  const auto in_folder = load_model_spec(folder.path().string(), conf());
  ASSERT_TRUE(in_folder);
  EXPECT_EQ(in_folder->name, folder.path().filename().string());
  EXPECT_FALSE(load_model_spec(folder.path().parent_path().string() + "/no_such.json", conf()));
}

TEST(LoadModelSpec, UnknownNamesTheNearestPreset) {
  const auto model = load_model_spec("llm/qwen2_7", conf());
  ASSERT_FALSE(model);
  EXPECT_EQ(model.error().kind, ErrorKind::usage);
  EXPECT_TRUE(contains(model.error().message, "did you mean 'qwen2_7b'?")) << model.error().message;
  const testing::TemporaryFolder folder;
  EXPECT_TRUE(contains(load_model_spec(folder.path().string(), conf()).error().message,
                       "the folder has no config.json"));
}

TEST(HuggingFaceConfig, MistakesNameFileAndKey) {
  EXPECT_EQ(error_of("[1]"), "c.json: expected the keys of a Hugging Face config.json");
  EXPECT_EQ(error_of("{"), "c.json: not valid JSON");
  EXPECT_TRUE(contains(error_of("{}"), "'model_type' is missing"));
  EXPECT_TRUE(contains(error_of(small("", "qwen4")), "unknown model_type 'qwen4'"));
  EXPECT_TRUE(contains(error_of(R"({"model_type": "llama"})"), "c.json: 'hidden_size' is missing"));
  for (const char* value : {"0", "-1", "1e3", "2000000000", "\"64\\n\"", "99999999999999999999",
                            "[1]", "1.5", "true"}) {
    const std::string json =
        std::string(R"({"model_type": "llama", "hidden_size": )") + value + "}";
    EXPECT_TRUE(contains(error_of(json), "c.json: 'hidden_size' must be an integer from 1"))
        << error_of(json);
  }
  EXPECT_TRUE(contains(error_of(small(", \"num_key_value_heads\": 8")), "more than the 4 heads"));
  EXPECT_TRUE(contains(error_of(small(", \"tie_word_embeddings\": 3")), "must be true or false"));
  EXPECT_TRUE(contains(error_of(small(", \"layer_types\": [\"full_attention\"]")),
                       "one entry for each of the 4 layers"));
}

TEST(HuggingFaceConfig, AbsurdSizesAreRefused) {
  const std::string huge = R"({"model_type": "llama", "hidden_size": 1000000000,
    "intermediate_size": 1000000000, "num_hidden_layers": 10000, "num_attention_heads": 1000000000,
    "vocab_size": 1000000000, "head_dim": 1000000000})";
  EXPECT_TRUE(contains(error_of(huge), "parameters, which is implausible")) << error_of(huge);
  const std::string deep = R"({"model_type": "llama", "hidden_size": 64, "intermediate_size": 64,
    "num_hidden_layers": 1000000000, "num_attention_heads": 4, "vocab_size": 100})";
  EXPECT_TRUE(contains(error_of(deep), "'num_hidden_layers' is 1000000000"));
  const std::string experts = small(
      ", \"n_routed_experts\": 1000000000, \"n_shared_experts\": 1000000000, "
      "\"moe_intermediate_size\": 1000000000, \"num_experts_per_tok\": 2",
      "deepseek_v3");
  EXPECT_TRUE(contains(error_of(experts), "are implausible")) << error_of(experts);
}

TEST(HuggingFaceConfig, FamiliesFillInWhatFilesLeaveUnsaid) {
  EXPECT_FALSE(parsed(small("")).attention_bias);
  EXPECT_TRUE(parsed(small("", "qwen2")).attention_bias);
  EXPECT_FALSE(parsed(small("", "qwen2")).output_bias);
  EXPECT_TRUE(parsed(small(", \"attention_bias\": true")).output_bias);
  EXPECT_TRUE(parsed(small("", "qwen3")).query_key_norm);
  EXPECT_EQ(parsed(small("", "qwen3")).head_dim, 128U);
  EXPECT_TRUE(parsed(small("", "gemma2")).tied_embeddings);
  EXPECT_EQ(parsed(small("", "gemma2")).norms_per_layer, 4U);
  EXPECT_FALSE(parsed(small("", "phi")).gated);
  EXPECT_EQ(parsed(small("")).kv_heads, 4U);
  EXPECT_EQ(parsed(small("")).head_dim, 16U);
  EXPECT_EQ(parsed(small(", \"multi_query\": true")).kv_heads, 1U);
}

TEST(HuggingFaceConfig, Windows) {
  using Layers = std::vector<bool>;
  EXPECT_EQ(windowed(parsed(small(", \"sliding_window\": 8", "mistral"))), Layers(4, true));
  EXPECT_EQ(windowed(parsed(small(", \"sliding_window\": null", "mistral"))), Layers(4, false));
  EXPECT_EQ(windowed(parsed(small(", \"sliding_window\": 8, \"max_window_layers\": 3", "qwen2"))),
            Layers(4, false));
  EXPECT_EQ(windowed(parsed(small(", \"sliding_window\": 8, \"max_window_layers\": 3, "
                                  "\"use_sliding_window\": true",
                                  "qwen2"))),
            (Layers{false, false, false, true}));
  EXPECT_EQ(windowed(parsed(small(", \"sliding_window\": 8", "gemma2"))),
            (Layers{true, false, true, false}));
  EXPECT_EQ(windowed(parsed(
                small(", \"sliding_window\": 8, \"sliding_window_pattern\": 3", "gemma3_text"))),
            (Layers{true, true, false, true}));
  EXPECT_EQ(windowed(parsed(small(", \"sliding_window\": 8, \"layer_types\": [\"full_attention\", "
                                  "\"sliding_attention\", \"full_attention\", \"full_attention\"]",
                                  "gemma3_text"))),
            (Layers{false, true, false, false}));
}

TEST(HuggingFaceConfig, WhereTheExpertsAre) {
  using Layers = std::vector<bool>;
  const std::string qwen =
      ", \"num_experts\": 4, \"num_experts_per_tok\": 2, \"moe_intermediate_size\": 8";
  EXPECT_EQ(sparse(parsed(small(qwen, "qwen3_moe"))), Layers(4, true));
  EXPECT_EQ(sparse(parsed(small(qwen + ", \"decoder_sparse_step\": 2", "qwen3_moe"))),
            (Layers{false, true, false, true}));
  EXPECT_EQ(sparse(parsed(small(qwen + ", \"mlp_only_layers\": [0, 2]", "qwen3_moe"))),
            (Layers{false, true, false, true}));
  const std::string deepseek =
      ", \"n_routed_experts\": 4, \"num_experts_per_tok\": 2, \"moe_intermediate_size\": 8";
  EXPECT_EQ(sparse(parsed(small(deepseek + ", \"first_k_dense_replace\": 3", "deepseek_v2"))),
            (Layers{false, false, false, true}));
  EXPECT_EQ(sparse(parsed(small(deepseek + ", \"moe_layer_freq\": 2", "deepseek_v2"))),
            (Layers{true, false, true, false}));
  EXPECT_EQ(sparse(parsed(small(
                deepseek + ", \"mlp_layer_types\": [\"dense\", \"sparse\", \"sparse\", \"dense\"]",
                "deepseek_v2"))),
            (Layers{false, true, true, false}));
  EXPECT_EQ(sparse(parsed(small("", "deepseek_v2"))), Layers(4, false));
  EXPECT_TRUE(contains(error_of(small(qwen + ", \"mlp_only_layers\": [4]", "qwen3_moe")),
                       "has layer '4', but there are 4 layers"));
  EXPECT_TRUE(
      contains(error_of(small(", \"num_local_experts\": 2, \"num_experts_per_tok\": 3", "mixtral")),
               "but there are 2 experts"));
}

TEST(HuggingFaceConfig, QuantizedFormats) {
  const auto with = [](std::string_view section) {
    return parsed(small(", \"quantization_config\": " + std::string(section)));
  };
  // fp8 with a 4-byte scale per block of 128 x 128.
  EXPECT_DOUBLE_EQ(
      with(R"({"quant_method": "fp8", "weight_block_size": [128, 128]})").weights.bytes,
      1 + 4.0 / 16384);
  EXPECT_DOUBLE_EQ(with(R"({"quant_method": "gptq", "bits": 8, "group_size": -1})").weights.bytes,
                   1);
  const ModelSpec oss = with(R"({"quant_method": "mxfp4"})");
  EXPECT_EQ(oss.weights.name, "bf16");
  EXPECT_DOUBLE_EQ(oss.experts->bytes, 0.5 + 1.0 / 32);
  const ModelSpec compressed = with(R"({"quant_method": "compressed-tensors", "config_groups":
    {"group_0": {"weights": {"num_bits": 8, "type": "float"}, "input_activations": {"num_bits": 8},
     "targets": ["Linear"]}}, "ignore": ["lm_head"],
     "kv_cache_scheme": {"num_bits": 8, "type": "float"}})");
  EXPECT_EQ(compressed.weights.name, "fp8");
  EXPECT_EQ(compressed.kv_cache.name, "fp8");
  EXPECT_FALSE(compressed.quantized_head);
  const ModelSpec w4a16 = with(R"({"quant_method": "compressed-tensors", "config_groups":
    {"group_0": {"weights": {"num_bits": 4, "type": "int", "group_size": 128, "symmetric": true}}}})");
  EXPECT_EQ(w4a16.weights.name, "int4");
  EXPECT_DOUBLE_EQ(w4a16.weights.bytes, 0.5 + 2.0 / 128);
  EXPECT_TRUE(w4a16.quantized_head);
  EXPECT_DOUBLE_EQ(with(R"({"quant_method": "bitsandbytes", "load_in_4bit": true})").weights.bytes,
                   0.5 + 4.0 / 64);
  EXPECT_TRUE(contains(error_of(small(R"(, "quantization_config": {"quant_method": "aqlm"})")),
                       "quant_method 'aqlm'"));
  EXPECT_EQ(parsed(R"({"model_type": "llama", "hidden_size": 64, "intermediate_size": 96,
    "num_hidden_layers": 4, "num_attention_heads": 4, "vocab_size": 100})")
                .notes.size(),
            1U);
}

// The text part of a model that also sees images, as transformers 5 writes it: 3.39 B with a SAM
// tower and an encoder of 24 layers.
TEST(HuggingFaceConfig, SecondDeepSeekOcr) {
  const ModelSpec model = parsed(R"({"model_type": "deepseek_ocr2", "dtype": "bfloat16",
    "text_config": {"model_type": "deepseek_ocr2_text", "hidden_size": 1280,
      "num_hidden_layers": 12, "num_attention_heads": 10, "num_key_value_heads": 10,
      "intermediate_size": 6848, "moe_intermediate_size": 896, "n_routed_experts": 64,
      "n_shared_experts": 2, "num_experts_per_tok": 6, "vocab_size": 129280,
      "mlp_layer_types": ["dense", "sparse", "sparse", "sparse", "sparse", "sparse", "sparse",
                          "sparse", "sparse", "sparse", "sparse", "sparse"]},
    "vision_config": {"encoder_config": {"hidden_size": 896, "num_hidden_layers": 24,
      "num_attention_heads": 14, "num_key_value_heads": 2, "intermediate_size": 4864}}})");
  EXPECT_NEAR(static_cast<double>(parameter_count(model)), 3.39e9, 0.005e9);
  ASSERT_EQ(model.vision.size(), 3U);
  // SAM's 4096 patches: 8 windowed and 4 global layers of 12 x 768^2 weights.
  const double layers = 12 * 2.0 * 4096 * 12 * 768 * 768;
  const double attention = 4.0 * 768 * 4096 * (8 * 196 + 4 * 4096.0);
  EXPECT_NEAR(static_cast<double>(model.vision[0].flops_per_image), layers + attention,
              0.05 * (layers + attention));
  EXPECT_FALSE(model.notes.empty());
}

TEST(HuggingFaceConfig, WhatIsNotCountedIsNoted) {
  const ModelSpec model = parsed(small(", \"num_nextn_predict_layers\": 1"));
  ASSERT_EQ(model.notes.size(), 1U);
  EXPECT_TRUE(contains(model.notes[0], "num_nextn_predict_layers"));
}

}  // namespace
}  // namespace llmprof::llm
