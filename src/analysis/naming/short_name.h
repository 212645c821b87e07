#pragma once

#include <cstddef>
#include <functional>
#include <map>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "analysis/naming/classes.h"
#include "base/error.h"

// Kernel names: one spelling for all tools, what an ATen kernel does, what torch.compile fused, and
// the templates of kernels.yaml that combine these into a short name.
namespace llmprof::analysis {

// The rest of a longer name is ignored; what distinguishes kernels comes first.
inline constexpr size_t kKernelNameHead = 64UL << 10U;

// One spelling for what nsys, CUPTI and the mangled form spell differently: the function with its
// namespaces and template arguments, without return type, parameter lists, anonymous namespaces,
// `const`, the types and suffixes of literals and the numbers of lambdas. Calls that only wrap
// nested lambdas are folded away:
//   at::native::elementwise_kernel<128, 4, at::native::silu_kernel::{lambda(c10::BFloat16)}>
// The rules in kernels.yaml match this. Linear in the (cut) name.
std::string canonical_kernel_name(std::string_view full_name);

// "a::b<x, y<z>>::{lambda(int)}" in parts; `args` have no surrounding blanks.
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

// The identifier's words joined by underscores: "Rope_From_Cache_Kernel" for "RopeFromCacheKernel",
// "RMS_Norm" for "RMSNorm".
std::string words_of_identifier(std::string_view identifier);

// The display name of a data type: "c10::BFloat16", "__nv_bfloat16" and "bf16" are "bf16";
// OpaqueType<2> is "2-byte". Empty if it is not a data type.
std::string spoken_type(std::string_view type);

// The first data type of weights or activations in a canonical kernel name; the type of a number or
// an index only if there is no other. Empty if there is none.
std::string first_spoken_type(std::string_view canonical);

// The name of a number in ggml's type enumeration, "q4_K" for "12"; empty if unknown.
std::string ggml_type(std::string_view number);

// Identifier to display word, from the `operations` of kernels.yaml.
using OperationWords = std::map<std::string, std::string, std::less<>>;

// What an ATen kernel does, read from the functor in its template arguments:
// elementwise_kernel<128, 4, gpu_kernel_impl_nocast<BinaryFunctor<Half, Half, Half,
// MulFunctor<float>>>> is {"mul", "f16", "strided"}. Unknown parts stay empty.
struct KernelOperation {
  std::string name;
  std::string dtype;
  std::string_view how;
};
KernelOperation kernel_operation(std::string_view canonical, const OperationWords& words);

// "SiLU" for "silu_kernel_cuda"; an identifier without a word only loses its usual affixes.
std::string spoken_operation(std::string_view identifier, const OperationWords& words);

// What an operator does in a kernel that fuses it: `fused_operators` of kernels.yaml.
enum class OperatorRole : uint8_t {
  product,
  attention,
  norm,
  moment,
  softmax,
  choice,
  lookup,
  reduction,
  reshape,
  copy,
  elsewhere,
};
constexpr auto words_of(OperatorRole /*of*/) {
  return profile::vocabulary<OperatorRole>({{OperatorRole::elsewhere, "another kernel's work"}});
}
struct FusedOperators {
  OperationWords words;
  std::map<std::string, OperatorRole, std::less<>> roles;
};

// The name of a kernel that torch.compile generated shows how it works and the program's operators
// that it fuses, in alphabetical order: "triton_red_fused__to_copy_mean_rsqrt_3". The list may
// include operators whose results the kernel only reads, so it alone does not show what the kernel
// computes; fused_class weighs it against how the kernel works.

// What the kernel spends its time on, by its traits; `other` if the name does not show it.
KernelClass fused_class(std::string_view identifier, const KernelDescription& kernel,
                        const FusedOperators& operators);

// "mm, SiLU, mul" for display: operators that decide the class first, without reshapes, cut at a
// comma to `longest` characters; "unnamed operations" if the name has none.
std::string fused_operations(std::string_view identifier, KernelClass kernel_class,
                             const FusedOperators& operators, size_t longest);

inline constexpr size_t kLongestShortName = 60;

// What a name template may refer to.
struct NamedKernel {
  std::string_view canonical;
  std::span<const std::string_view> captures;  // 0: the whole match
  const FusedOperators& operators;
  KernelClass kernel_class = KernelClass::other;
};

// The `name` of a rule in kernels.yaml; the top of that file explains its syntax.
class NameTemplate {
 public:
  // Errors say what is wrong, not where.
  static Result<NameTemplate> parse(std::string_view text, int captures);

  // 1 to 60 printable characters.
  [[nodiscard]] std::string expand(const NamedKernel& kernel) const;

 private:
  struct Part {
    std::string text;                                    // if there is no field
    std::string (*field)(const NamedKernel&) = nullptr;  // null for a capture
    size_t capture = 0;
    std::string (*filter)(std::string_view, const OperationWords&) = nullptr;

    [[nodiscard]] std::string value(const NamedKernel& kernel) const;
  };
  static Result<Part> parse_field(std::string_view text, int captures);

  std::vector<Part> parts_;
};

}  // namespace llmprof::analysis
