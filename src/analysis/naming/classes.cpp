#include "analysis/naming/classes.h"

#include <algorithm>
#include <array>

namespace llmprof::analysis {
namespace {

constexpr std::array<std::string_view, 16> kClasses = {
    "gemm",     "gemv",           "attention",        "norm",
    "rope",     "elementwise",    "copy/cast",        "reduction",
    "softmax",  "sampling/top-k", "embedding/gather", "moe routing",
    "quantise", "communication",  "memset/memcpy",    "other"};
static_assert(kClasses.size() == static_cast<size_t>(KernelClass::other) + 1);

constexpr std::array<std::string_view, kKernelTraits> kTraits = {
    "kv_cache",      "convolution",   "backward",    "token_choice",
    "block_per_row", "concatenation", "split_cache", "quantized"};

}  // namespace

std::string_view to_string(KernelTrait trait) { return kTraits.at(static_cast<size_t>(trait)); }

std::optional<KernelTrait> parse_kernel_trait(std::string_view text) {
  const auto* found = std::find(kTraits.begin(), kTraits.end(), text);
  if (found == kTraits.end()) return std::nullopt;
  return static_cast<KernelTrait>(found - kTraits.begin());
}

std::span<const std::string_view> all_traits() { return kTraits; }

std::string_view to_string(KernelClass kernel_class) {
  return kClasses.at(static_cast<size_t>(kernel_class));
}

std::optional<KernelClass> parse_kernel_class(std::string_view text) {
  const auto* found = std::find(kClasses.begin(), kClasses.end(), text);
  if (found == kClasses.end()) return std::nullopt;
  return static_cast<KernelClass>(found - kClasses.begin());
}

std::span<const std::string_view> all_classes() { return kClasses; }

}  // namespace llmprof::analysis
