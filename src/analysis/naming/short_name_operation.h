#pragma once

#include <functional>
#include <map>
#include <string>
#include <string_view>

namespace llmprof::analysis {

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
