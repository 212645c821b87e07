#pragma once

#include <functional>
#include <map>
#include <string>
#include <string_view>

namespace llmprof::analysis {

// How a data type is said: "c10::BFloat16", "__nv_bfloat16" and "bf16" are "bf16"; OpaqueType<2> is
// "2-byte". Empty for what is not a data type.
std::string spoken_type(std::string_view type);

// The first data type of weights or activations in a canonical kernel name; a number's or an
// index's type only where there is no other. Empty where there is none.
std::string first_spoken_type(std::string_view canonical);

// A number of ggml's enumeration of types, "12" as "q4_K"; empty where it is not known.
std::string ggml_type(std::string_view number);

// Identifier to spoken word, from the `operations` of kernels.yaml.
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

// "silu_kernel_cuda" as "SiLU"; what has no word of its own loses only its usual affixes.
std::string spoken_operation(std::string_view identifier, const OperationWords& words);

}  // namespace llmprof::analysis
