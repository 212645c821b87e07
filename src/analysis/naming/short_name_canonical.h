#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

namespace llmprof::analysis {

// No more of a name is looked at; what distinguishes kernels comes first.
inline constexpr size_t kKernelNameHead = 64UL << 10U;

// One spelling for what nsys, CUPTI and the mangled form spell differently: the function with its
// namespaces and template arguments, without return type, parameter lists, anonymous namespaces,
// `const`, the types and suffixes of literals and the numbers of lambdas, and with the wrapping
// calls of nested lambdas folded away:
//   at::native::elementwise_kernel<128, 4, at::native::silu_kernel::{lambda(c10::BFloat16)}>
// This is what the rules in kernels.yaml match. Linear in the (cut) name.
std::string canonical_kernel_name(std::string_view full_name);

// "a::b<x, y<z>>::{lambda(int)}" in parts; `args` are without surrounding blanks.
struct TemplateName {
  std::string_view path;  // "a::b"
  std::vector<std::string_view> args;
  std::string_view tail;  // "::{lambda(int)}"
};
TemplateName split_template(std::string_view canonical);

// The last identifier of the function itself, without namespaces and template arguments.
std::string_view own_identifier(std::string_view canonical);

// "a", "", "b" of "a::::b".
std::vector<std::string> split_at(std::string_view separator, std::string_view text);
// "a", "b" of "_a__b".
std::vector<std::string> between_underscores(std::string_view name);

// Its words with underscores between them: "Rope_From_Cache_Kernel" for "RopeFromCacheKernel",
// "RMS_Norm" for "RMSNorm".
std::string words_of_identifier(std::string_view identifier);

}  // namespace llmprof::analysis
