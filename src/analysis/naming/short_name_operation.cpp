#include "analysis/naming/short_name_operation.h"

#include <algorithm>
#include <array>

#include "analysis/naming/short_name_canonical.h"
#include "analysis/naming/short_name_types.h"
#include "base/text.h"

namespace llmprof::analysis {
namespace {

bool is_number(std::string_view text) {
  return !text.empty() && text.find_first_not_of("-0123456789") == std::string_view::npos;
}

// The parameter types of the last lambda, "a, b" of "...::{lambda(a, b)}".
std::string_view last_lambda_parameters(std::string_view text) {
  constexpr std::string_view kLambda = "{lambda(";
  const size_t start = text.rfind(kLambda);
  if (start == std::string_view::npos) return {};
  const std::string_view rest = text.substr(start + kLambda.size());
  const size_t end = rest.rfind(")}");
  return end == std::string_view::npos ? std::string_view() : rest.substr(0, end);
}

// A mask's bool says less than the data beside it.
std::string type_of_parameters(std::string_view parameters) {
  std::string found;
  while (!parameters.empty()) {
    const size_t comma = std::min(parameters.find(','), parameters.size());
    const std::string type = spoken_type(parameters.substr(0, comma));
    if (!type.empty() && type != "bool") return type;
    if (found.empty()) found = type;
    parameters.remove_prefix(std::min(comma + 1, parameters.size()));
  }
  return found;
}

std::string_view way_of_access(std::string_view launcher) {
  if (launcher.starts_with("vectorized")) return "vectorized";
  if (launcher.starts_with("unrolled")) return "unrolled";
  if (launcher == "elementwise_kernel" || launcher == "elementwise_kernel_manual_unroll") {
    return "strided";
  }
  return {};
}

bool is_launcher(std::string_view identifier) {
  constexpr std::array<std::string_view, 6> kWords = {
      "gpu_kernel_impl", "gpu_kernel_impl_nocast", "gpu_index_kernel",
      "ReduceOp",        "func_wrapper_t",         "opmath_symmetric_gpu_kernel_with_scalars"};
  return contains(identifier, "elementwise_kernel") || identifier == "reduce_kernel" ||
         contains(identifier, "multi_tensor_apply_kernel") ||
         std::find(kWords.begin(), kWords.end(), identifier) != kWords.end();
}

bool takes_scalar(std::string_view identifier) {
  return identifier == "AUnaryFunctor" || identifier == "BUnaryFunctor";
}

}  // namespace

std::string spoken_operation(std::string_view identifier, const OperationWords& words) {
  constexpr std::array<std::string_view, 13> kEndings = {
      "_kernel",        "_cuda",      "_impl",  "_stub",    "Functor",
      "CUDAKernelImpl", "KernelImpl", "Kernel", "_functor", "Ops",
      "_template",      "_out_frame", "_out"};
  constexpr std::array<std::string_view, 3> kBeginnings = {"launch_", "CUDAFunctor_", "cuda_"};
  const auto word = [&]() -> const std::string* {
    const auto found = words.find(identifier);
    return found == words.end() ? nullptr : &found->second;
  };
  for (bool changed = true; changed && word() == nullptr;) {
    changed = false;
    for (const std::string_view ending : kEndings) {
      if (identifier.ends_with(ending) && identifier.size() > ending.size()) {
        identifier.remove_suffix(ending.size());
        changed = true;
        break;
      }
    }
    for (const std::string_view beginning : kBeginnings) {
      if (!changed && identifier.starts_with(beginning) && identifier.size() > beginning.size()) {
        identifier.remove_prefix(beginning.size());
        changed = true;
      }
    }
  }
  if (const std::string* known = word()) return *known;
  std::string plain(identifier);
  // GeluCUDAKernelImpl and gelu_kernel are one operation.
  std::transform(plain.begin(), plain.end(), plain.begin(), [](char c) {
    return c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c;
  });
  const auto found = words.find(plain);
  return found == words.end() ? std::string(identifier) : found->second;
}

KernelOperation kernel_operation(std::string_view canonical, const OperationWords& words) {
  KernelOperation operation;
  std::string_view at = canonical;
  bool scalar = false;
  operation.how = way_of_access(own_identifier(split_template(at).path));
  for (int unwrapped = 0; unwrapped < 12; ++unwrapped) {
    const TemplateName parts = split_template(at);
    const std::string_view identifier = own_identifier(parts.path);
    const bool functor = identifier == "BinaryFunctor" || takes_scalar(identifier);
    if (!is_launcher(identifier) && !functor) break;
    // A tensor of another type is converted on the way in or out.
    const bool casts =
        identifier == "gpu_kernel_impl" || (unwrapped == 0 && contains(canonical, "LoadWithCast"));
    if (casts && operation.how == "strided") operation.how = "strided, casting";
    if (casts && operation.how == "unrolled") operation.how = "unrolled, casting";
    if (functor || identifier == "ReduceOp") {
      if (operation.dtype.empty() && !parts.args.empty()) {
        operation.dtype = spoken_type(parts.args.front());
      }
      scalar = scalar || takes_scalar(identifier);
    }
    const auto inner =
        std::find_if(parts.args.begin(), parts.args.end(), [](std::string_view argument) {
          return !is_number(argument) && spoken_type(argument).empty() &&
                 !contains(argument.substr(0, argument.find('<')), "Metadata") &&
                 (contains(argument, "::") || contains(argument, "<"));
        });
    if (inner == parts.args.end()) break;
    at = *inner;
  }
  if (at == canonical) return operation;
  const TemplateName parts = split_template(at);
  if (operation.dtype.empty()) operation.dtype = type_of_parameters(last_lambda_parameters(at));
  // A functor that moves bytes names the element's size instead.
  std::string of_arguments;
  for (const std::string_view argument : parts.args) {
    const std::string type = spoken_type(argument);
    if (type.ends_with("-byte")) operation.dtype = type;
    if (of_arguments.empty()) of_arguments = type;
  }
  if (operation.dtype.empty()) operation.dtype = of_arguments;
  std::string_view identifier = own_identifier(at);
  constexpr std::string_view kOnSelf = "CUDAFunctorOnSelf_";
  if (identifier.starts_with(kOnSelf)) {
    identifier.remove_prefix(kOnSelf.size());
    scalar = true;
  }
  operation.name = spoken_operation(identifier, words);
  if (scalar && !operation.name.empty()) operation.name += " scalar";
  return operation;
}

}  // namespace llmprof::analysis
