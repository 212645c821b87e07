#include <gtest/gtest.h>

#include <map>
#include <string>

#include "analysis/naming/kernel_rules_file.h"
#include "analysis/naming/short_name.h"

namespace llmprof::analysis {
namespace {

// The roles of the shipped kernels.yaml, with a few words.
const FusedOperators& some_operators() {
  static const FusedOperators operators = [] {
    KernelRulesFile shipped;
    read_kernel_rules(*config::built_in_conf("kernels.yaml"), shipped);
    shipped.operators.words = {{"_to_copy", "cast"},
                               {"_unsafe_view", "view"},
                               {"_softmax", "softmax"},
                               {"silu", "SiLU"},
                               {"_scaled_dot_product_cudnn_attention", "sdpa"}};
    return shipped.operators;
  }();
  return operators;
}

KernelClass class_of_fused(std::string_view name) {
  static const auto rules = KernelRules::load({});
  return fused_class(name, rules->describe(name), some_operators());
}

std::string operations_of(std::string_view name, size_t longest) {
  return fused_operations(name, class_of_fused(name), some_operators(), longest);
}

// From gpt-fast's decode on an H200, where the launch shape distinguishes products from norms: a
// product has at least one block per row of its weights, a norm of one token a single block.
TEST(FusedClass, ProductsAreDistinguishedFromReadersOfTheirResults) {
  const std::map<std::string, KernelClass> expected = {
      {"triton_red_fused__unsafe_view_mm_mul_silu_t_view_10", KernelClass::gemv},
      {"triton_red_fused__to_copy_add_mean_mm_mul_rsqrt_t_view_15", KernelClass::gemv},
      {"triton_red_fused_mm_t_view_9", KernelClass::gemv},
      {"triton_red_fused__to_copy_add_embedding_mean_mm_mul_rsqrt_t_view_1", KernelClass::gemv},
      {"triton_red_fused__to_copy__unsafe_view_add_mean_mm_mul_rsqrt_view_19", KernelClass::norm},
      {"triton_red_fused__to_copy__unsafe_view_add_mean_mm_mul_rsqrt_18", KernelClass::norm},
      {"triton_red_fused__to_copy__unsafe_view_add_mean_mm_mul_16", KernelClass::reduction},
      {"triton_poi_fused__unsafe_view_index_put_mm_split_with_sizes_transpose_view_3",
       KernelClass::elementwise}};
  for (const auto& [name, kernel_class] : expected) {
    EXPECT_EQ(to_string(class_of_fused(name)), to_string(kernel_class)) << name;
  }
}

TEST(FusedClass, WhatTakesTheTimeDecides) {
  const std::map<std::string, KernelClass> expected = {
      {"triton_red_fused_mm_3", KernelClass::gemv},
      {"triton_per_fused_add_bmm_4", KernelClass::gemv},
      {"triton_tem_fused_mm_2", KernelClass::gemm},
      {"triton_tem_fused_add_convolution_7", KernelClass::gemm},
      {"triton_tem_fused_flex_attention_0", KernelClass::attention},
      {"triton_tem_fused_0", KernelClass::other},
      {"triton_red_fused__softmax__to_copy_argmax_div_exp_exponential_sub_28",
       KernelClass::sampling},
      {"triton_red_fused__softmax_lt_prepare_softmax_online_where_26", KernelClass::softmax},
      {"triton_red_fused__to_copy_native_layer_norm_3", KernelClass::norm},
      {"triton_poi_fused_native_layer_norm_4", KernelClass::norm},
      {"triton_per_fused__to_copy_abs_amax_clamp_div_3", KernelClass::quantize},
      {"triton_red_fused_embedding_mean_0", KernelClass::gather},
      {"triton_red_fused_sum_1", KernelClass::reduction},
      {"triton_poi_fused_embedding_0", KernelClass::gather},
      {"triton_poi_fused_add_cos_mul_sin_2", KernelClass::rope},
      {"triton_poi_fused_cat_7", KernelClass::copy_cast},
      {"triton_poi_fused__to_copy_mm_view_7", KernelClass::copy_cast},
      {"triton_poi_fused__scaled_dot_product_cudnn_attention_clone_expand_7",
       KernelClass::copy_cast},
      {"triton_poi_fused_mul_silu_5", KernelClass::elementwise}};
  for (const auto& [name, kernel_class] : expected) {
    EXPECT_EQ(to_string(class_of_fused(name)), to_string(kernel_class)) << name;
  }
}

TEST(FusedOperations, BeginWithWhatDecides) {
  EXPECT_EQ(operations_of("triton_red_fused__to_copy_add_mean_mm_rsqrt_t_view_15", 34),
            "mm, cast, add, mean, rsqrt");
  EXPECT_EQ(operations_of("triton_red_fused__to_copy__unsafe_view_add_mean_mm_rsqrt_18", 34),
            "cast, add, mean, rsqrt");
  EXPECT_EQ(operations_of("triton_poi_fused_view_0", 34), "view");
  EXPECT_EQ(operations_of("triton_red_fused_add_mean_mul_pow_1", 14), "add, mean, \xE2\x80\xA6");
}

}  // namespace
}  // namespace llmprof::analysis
