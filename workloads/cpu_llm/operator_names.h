#pragma once

#include "cpu_llm/matrix_product.h"

// The names in the profile; README.md lists them. conf/kernels.yaml derives the class of a kernel
// from the words in them.
namespace cpu_llm::names {

inline constexpr const char* kEmbedding = "cpu::embedding_lookup";
inline constexpr const char* kRmsNorm = "cpu::rms_norm";
inline constexpr const char* kAddRmsNorm = "cpu::fused_add_rms_norm";
inline constexpr const char* kFinalNorm = "cpu::final_fused_add_rms_norm";
inline constexpr ProductName kQkv = {"cpu::gemv_qkv", "cpu::gemm_qkv"};
inline constexpr const char* kRope = "cpu::rope";
inline constexpr const char* kKvAppend = "cpu::kv_cache_append";
inline constexpr const char* kAttentionPrefill = "cpu::attention_prefill";
inline constexpr const char* kAttentionDecode = "cpu::attention_decode";
inline constexpr ProductName kOProj = {"cpu::gemv_o_proj", "cpu::gemm_o_proj"};
inline constexpr ProductName kGateUp = {"cpu::gemv_gate_up", "cpu::gemm_gate_up"};
inline constexpr const char* kSiluMul = "cpu::silu_mul";
inline constexpr ProductName kDownProj = {"cpu::gemv_down_proj", "cpu::gemm_down_proj"};
inline constexpr ProductName kLmHead = {"cpu::gemv_lm_head", "cpu::gemm_lm_head"};
inline constexpr const char* kAllReduce = "cpu::all_reduce";
inline constexpr const char* kAllGather = "cpu::all_gather";
inline constexpr const char* kArgmax = "cpu::argmax";

}  // namespace cpu_llm::names
