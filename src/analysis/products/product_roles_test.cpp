#include "analysis/products/product_roles.h"

#include <gtest/gtest.h>

namespace llmprof::analysis {
namespace {

class ProductRoles : public ::testing::Test {
 protected:
  using enum ProductRole;
};
using ModelRoles = std::vector<ProductRole>;

llm::ModelSpec dense_model() {
  llm::ModelSpec model;
  model.hidden = 4096;
  model.intermediate = 11008;
  model.heads = 32;
  model.kv_heads = 8;
  model.head_dim = 128;
  model.vocabulary = 32000;
  model.layers.resize(8);
  return model;
}

ModelRoles roles(const llm::ModelSpec& model, uint64_t n, uint64_t k, uint32_t ranks = 1) {
  return roles_in_model(model, ranks, {1, n, k, 1});
}

TEST_F(ProductRoles, InADenseModel) {
  const llm::ModelSpec model = dense_model();
  EXPECT_EQ(roles(model, 6144, 4096), ModelRoles{qkv});
  EXPECT_EQ(roles(model, 1024, 4096), ModelRoles{qkv});
  EXPECT_EQ(roles(model, 4096, 4096), (ModelRoles{qkv, o}));  // queries alone, or the output
  EXPECT_EQ(roles(model, 22016, 4096), ModelRoles{gate_up});
  EXPECT_EQ(roles(model, 11008, 4096), ModelRoles{gate_up});
  EXPECT_EQ(roles(model, 4096, 11008), ModelRoles{down});
  EXPECT_EQ(roles(model, 32000, 4096), ModelRoles{lm_head});
  EXPECT_EQ(roles(model, 32064, 4096), ModelRoles{lm_head});  // padded
  EXPECT_EQ(roles(model, 5000, 4096), ModelRoles{});
}

TEST_F(ProductRoles, OfARanksPart) {
  const llm::ModelSpec model = dense_model();
  EXPECT_EQ(roles(model, 1536, 4096, 4), ModelRoles{qkv});
  EXPECT_EQ(roles(model, 4096, 1024, 4), ModelRoles{o});
  EXPECT_EQ(roles(model, 5504, 4096, 4), ModelRoles{gate_up});
  EXPECT_EQ(roles(model, 4096, 2752, 4), ModelRoles{down});
}

TEST_F(ProductRoles, InAMixtureOfExperts) {
  llm::ModelSpec model = dense_model();
  model.mixture = llm::MixtureOfExperts{.experts = 64,
                                        .experts_per_token = 6,
                                        .shared_experts = 2,
                                        .expert_size = 896,
                                        .shared_expert_size = 1792};
  for (llm::LayerSpec& layer : model.layers) {
    layer.feed_forward = llm::FeedForwardKind::mixture;
  }
  EXPECT_EQ(roles(model, 64, 4096), ModelRoles{router});
  EXPECT_EQ(roles(model, 896, 4096), ModelRoles{experts_gate_up});
  EXPECT_EQ(roles(model, 3584, 4096), ModelRoles{gate_up});
  EXPECT_EQ(roles(model, 4096, 896), ModelRoles{experts_down});
  EXPECT_EQ(roles(model, 22016, 4096), ModelRoles{});
}

TEST_F(ProductRoles, OfLatentAttention) {
  llm::ModelSpec model = dense_model();
  model.hidden = 2048;
  model.heads = 16;
  model.latent = llm::LatentAttention{0, 512, 128, 64, 128};
  EXPECT_EQ(roles(model, 3072, 2048), ModelRoles{qkv});  // queries
  EXPECT_EQ(roles(model, 576, 2048), ModelRoles{qkv});   // compressed
  EXPECT_EQ(roles(model, 4096, 512), ModelRoles{qkv});   // expanded
  EXPECT_EQ(roles(model, 2048, 2048), ModelRoles{o});
}

TEST_F(ProductRoles, BatchedProductsHaveNoWeights) {
  EXPECT_EQ(roles_in_model(dense_model(), 1, {1, 6144, 4096, 2}), ModelRoles{});
}

}  // namespace
}  // namespace llmprof::analysis
