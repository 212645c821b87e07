#include "analysis/roofline/tensor_format.h"

#include <algorithm>
#include <array>
#include <span>
#include <utility>

#include "analysis/naming/short_name.h"

namespace llmprof::analysis {
namespace {

constexpr std::string_view kTf32 = "tf32";

bool is_letter_or_digit(char c) {
  return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z');
}

using FormatSpelling = std::pair<std::string_view, std::string_view>;

std::string format_spelled(std::span<const FormatSpelling> spellings, std::string_view said) {
  const auto known = std::ranges::find(spellings, said, &FormatSpelling::first);
  return std::string(known == spellings.end() ? "" : known->second);
}

// Converts a type in a kernel name to the spelling of GpuSpec::peak_for. Tensor cores multiply
// 32-bit numbers as TF32.
std::string peak_spelling(std::string_view spoken) {
  constexpr std::array<FormatSpelling, 6> kSpellings = {{{"bf16", "bf16"},
                                                         {"f16", "f16"},
                                                         {"fp4", "nvfp4"},
                                                         {"i8", "int8"},
                                                         {"tf32", kTf32},
                                                         {"f32", kTf32}}};
  return spoken.starts_with("fp8") ? "fp8" : format_spelled(kSpellings, spoken);
}

// "nvjet_sm90_tst_64x8_...": one letter for the type of the first operand. Unknown letters give no
// format.
std::string nvjet_format(std::string_view name) {
  constexpr std::string_view kPrefix = "nvjet_";
  if (!name.starts_with(kPrefix)) return {};
  name.remove_prefix(kPrefix.size());
  if (name.starts_with("sm")) name.remove_prefix(std::min(name.find('_'), name.size() - 1) + 1);
  constexpr std::array<FormatSpelling, 4> kLetters = {
      {{"t", "bf16"}, {"h", "f16"}, {"q", "fp8"}, {"s", kTf32}}};
  return format_spelled(kLetters, name.substr(0, 1));
}

// The first type among the words of "cutlass_80_tensorop_bf16_s16816gemm_relu_...".
std::string format_among_words(std::string_view name) {
  for (size_t i = 0; i < name.size();) {
    size_t end = i;
    while (end < name.size() && is_letter_or_digit(name[end])) ++end;
    if (std::string format = peak_spelling(spoken_type(name.substr(i, end - i))); !format.empty()) {
      return format;
    }
    i = end + 1;
  }
  return {};
}

std::string format_of_name(std::string_view kernel_name) {
  const std::string canonical = canonical_kernel_name(kernel_name);
  if (std::string format = nvjet_format(canonical); !format.empty()) return format;
  if (std::string format = peak_spelling(first_spoken_type(canonical)); !format.empty()) {
    return format;
  }
  return format_among_words(canonical);
}

}  // namespace

std::optional<TensorFormat> tensor_format(std::string_view kernel_name,
                                          const std::optional<llm::ModelSpec>& model) {
  if (std::string format = format_of_name(kernel_name); !format.empty()) {
    return TensorFormat{std::move(format), false};
  }
  if (!model || (model->experts && model->experts->name != model->weights.name)) {
    return std::nullopt;
  }
  const std::string& weights = model->weights.name;
  return TensorFormat{weights == "f32" ? std::string(kTf32) : weights, true};
}

std::optional<TensorPeak> tensor_peak(const llm::GpuSpec& gpu, std::string_view format) {
  if (format == kTf32) {
    if (!gpu.tensor_tf32) return std::nullopt;
    return TensorPeak{*gpu.tensor_tf32, "tf32 dense"};
  }
  const auto peak = gpu.peak_for(format);
  if (!peak || *peak <= 0) return std::nullopt;
  return TensorPeak{*peak, gpu.peak_name(format)};
}

}  // namespace llmprof::analysis
