#include "analysis/naming/short_name.h"

#include <algorithm>
#include <array>

#include "base/text.h"

namespace llmprof::analysis {
namespace {

// The last component of a type's name, and how it is displayed.
struct Spelling {
  std::string_view spoken;
  WordList written;
};

constexpr std::array kFloats = {
    Spelling{"bf16",
             {"BFloat16|__hip_bfloat16|__nv_bfloat16|__nv_bfloat162|bf16|bf16_t|"
              "bf16bf16|bfloat16|bfloat16_t|hip_bfloat16|nv_bfloat16"}},
    Spelling{"fp4", {"Float4_e2m1fn_x2|__nv_fp4_e2m1|float_e2m1_t|nvfp4"}},
    Spelling{"fp8 e4m3",
             {"Float8_e4m3fn|__hip_fp8_e4m3|__hip_fp8_e4m3_fnuz|__nv_fp8_e4m3|e4m3|"
              "e4m3bf16|e4m3e4m3|e4m3f16|e4m3f32|float8_e4m3fn|float_e4m3_t"}},
    Spelling{"fp8 e5m2", {"Float8_e5m2|__hip_fp8_e5m2|__nv_fp8_e5m2|float8_e5m2|float_e5m2_t"}},
    Spelling{"fp8 e8m0", {"Float8_e8m0fnu"}},
    Spelling{"f16",
             {"Half|_Float16|__half|__half2|f16|f16f16|float16|fp16|fp16_t|half|"
              "half_t|nv_half"}},
    Spelling{"c128", {"complex<double>"}},
    Spelling{"c64", {"complex<float>"}},
    Spelling{"f64", {"double|f64"}},
    Spelling{"f32", {"f32|f32f32|float"}},
    Spelling{"fp8", {"fp8|fp8_t"}},
    Spelling{"i8", {"s8s8"}},
    Spelling{"tf32", {"tf32|tf32f32|tfloat32_t"}},
};
constexpr std::array kIntegers = {
    Spelling{"bool", {"bool"}},
    Spelling{"i8", {"char|i8|int8|int8_t|signed char"}},
    Spelling{"i16", {"i16|int16_t|short"}},
    Spelling{"i32", {"i32|int|int32|int32_t"}},
    Spelling{"i64", {"i64|int64|int64_t|long|long long"}},
    Spelling{"u32", {"u32|uint32_t|unsigned int"}},
    Spelling{"u64", {"u64|uint64_t|unsigned long|unsigned long long"}},
    Spelling{"u8", {"u8|uint8|uint8_t|unsigned char"}},
    Spelling{"u16", {"unsigned short"}},
};

template <size_t N>
std::string_view look_up(const std::array<Spelling, N>& table, std::string_view type) {
  const auto* found = std::ranges::find_if(
      table, [&](const Spelling& each) { return each.written.contains(type); });
  return found == table.end() ? std::string_view() : found->spoken;
}

std::string_view last_component(std::string_view type) {
  const size_t colon = type.substr(0, type.find('<')).rfind("::");
  return colon == std::string_view::npos ? type : type.substr(colon + 2);
}

bool is_type_character(char c) { return is_identifier(c) || c == ':'; }

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

// A mask's bool says less than the type of the data.
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

// How a kernel accesses its tensors. Vectorized kernels never convert types on the way.
std::string_view way_of_access(std::string_view launcher, bool casts) {
  if (launcher.starts_with("vectorized")) return "vectorized";
  if (launcher.starts_with("unrolled")) return casts ? "unrolled, casting" : "unrolled";
  if (launcher == "elementwise_kernel" || launcher == "elementwise_kernel_manual_unroll") {
    return casts ? "strided, casting" : "strided";
  }
  return {};
}

bool is_launcher(std::string_view identifier) {
  constexpr std::array<std::string_view, 6> kWords = {
      "gpu_kernel_impl", "gpu_kernel_impl_nocast", "gpu_index_kernel",
      "ReduceOp",        "func_wrapper_t",         "opmath_symmetric_gpu_kernel_with_scalars"};
  return contains(identifier, "elementwise_kernel") || identifier == "reduce_kernel" ||
         contains(identifier, "multi_tensor_apply_kernel") ||
         std::ranges::find(kWords, identifier) != kWords.end();
}

bool takes_scalar(std::string_view identifier) {
  return identifier == "AUnaryFunctor" || identifier == "BUnaryFunctor";
}

}  // namespace

std::string spoken_type(std::string_view type) {
  type = trim(type);
  while (!type.empty() && (type.back() == '*' || type.back() == '&' || type.back() == ' ')) {
    type.remove_suffix(1);
  }
  type = last_component(type);
  if (type.starts_with("OpaqueType<") && type.ends_with('>')) {
    return std::string(type.substr(11, type.size() - 12)) + "-byte";
  }
  if (const std::string_view spoken = look_up(kFloats, type); !spoken.empty()) {
    return std::string(spoken);
  }
  return std::string(look_up(kIntegers, type));
}

std::string first_spoken_type(std::string_view canonical) {
  for (size_t i = canonical.find('<'); i < canonical.size();) {
    if (!is_type_character(canonical[i])) {
      ++i;
      continue;
    }
    size_t end = i;
    while (end < canonical.size() && is_type_character(canonical[end])) ++end;
    const std::string_view spoken = look_up(kFloats, last_component(canonical.substr(i, end - i)));
    if (!spoken.empty()) return std::string(spoken);
    i = end;
  }
  return {};
}

std::string ggml_type(std::string_view number) {
  // Gaps are types that ggml has removed.
  constexpr std::array<std::string_view, 41> kTypes = {
      "f32",     "f16",   "q4_0",   "q4_1",  "",      "",       "q5_0", "q5_1",    "q8_0",
      "q8_1",    "q2_K",  "q3_K",   "q4_K",  "q5_K",  "q6_K",   "q8_K", "iq2_xxs", "iq2_xs",
      "iq3_xxs", "iq1_s", "iq4_nl", "iq3_s", "iq2_s", "iq4_xs", "i8",   "i16",     "i32",
      "i64",     "f64",   "iq1_m",  "bf16",  "",      "",       "",     "tq1_0",   "tq2_0",
      "",        "",      "",       "mxfp4", "nvfp4"};
  const auto value = parse_int(number);
  if (!value || *value < 0 || static_cast<size_t>(*value) >= kTypes.size()) return {};
  return std::string(kTypes.at(static_cast<size_t>(*value)));
}

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
  std::ranges::transform(plain, plain.begin(), to_lower);
  const auto found = words.find(plain);
  return found == words.end() ? std::string(identifier) : found->second;
}

KernelOperation kernel_operation(std::string_view canonical, const OperationWords& words) {
  KernelOperation operation;
  std::string_view at = canonical;
  bool scalar = false;
  // Tensors of another type are converted on the way in or out.
  bool casts = contains(canonical, "LoadWithCast");
  for (int unwrapped = 0; unwrapped < 12; ++unwrapped) {
    const TemplateName parts = split_template(at);
    const std::string_view identifier = own_identifier(parts.path);
    const bool functor = identifier == "BinaryFunctor" || takes_scalar(identifier);
    if (!is_launcher(identifier) && !functor) break;
    casts = casts || identifier == "gpu_kernel_impl";
    if (functor || identifier == "ReduceOp") {
      if (operation.dtype.empty() && !parts.args.empty()) {
        operation.dtype = spoken_type(parts.args.front());
      }
      scalar = scalar || takes_scalar(identifier);
    }
    const auto inner = std::ranges::find_if(parts.args, [](std::string_view argument) {
      return !is_number(argument) && spoken_type(argument).empty() &&
             !contains(argument.substr(0, argument.find('<')), "Metadata") &&
             (contains(argument, "::") || contains(argument, "<"));
    });
    if (inner == parts.args.end()) break;
    at = *inner;
  }
  operation.how = way_of_access(own_identifier(split_template(canonical).path), casts);
  if (at == canonical) return operation;
  const TemplateName parts = split_template(at);
  if (operation.dtype.empty()) operation.dtype = type_of_parameters(last_lambda_parameters(at));
  // A functor that moves bytes names the size of the element instead.
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
