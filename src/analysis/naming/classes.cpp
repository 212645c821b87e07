#include "analysis/naming/classes.h"

#include <algorithm>
#include <array>

namespace llmprof::analysis {
namespace {

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

}  // namespace llmprof::analysis
