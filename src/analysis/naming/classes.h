#pragma once

#include <bitset>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/error.h"
#include "config/conf_files.h"
#include "profile/budget_parts.h"
#include "trace/trace.h"

namespace llmprof::analysis {

using profile::is_product;
using profile::KernelClass;

// What a kernel's name shows besides its class: `traits` of conf/kernels.yaml.
enum class KernelTrait : uint8_t {
  kv_cache,
  convolution,
  backward,
  token_choice,
  block_per_row,
  concatenation,
  split_cache,
  quantized,
  experts,
  generated,
  reduces_rows,
  from_template,
};
constexpr auto words_of(KernelTrait /*of*/) {
  using enum KernelTrait;
  return profile::vocabulary<KernelTrait>({
      {kv_cache, "writes the keys and values of a sequence, or reads them by page"},
      {convolution, "a matrix product by its class"},
      {backward, "of a backward pass: training"},
      {token_choice, "picks the next token"},
      {block_per_row, "launched with one block for each row that it gathers"},
      {concatenation, "a copy by its class"},
      {split_cache, "attention over parts of the KV cache, or what joins these"},
      {quantized, "a product with weights of less than 16 bits"},
      {experts, "works for the experts of a mixture-of-experts model"},
      {generated, "written by torch.compile"},
      {reduces_rows, "generated: one block reduces one or more rows"},
      {from_template, "generated: from a template for products or attention"},
  });
}
inline constexpr size_t kKernelTraits = profile::kWords<KernelTrait>.size();

struct KernelDescription {
  std::string short_name;  // printable, 1 to 60 characters
  std::string library;     // empty if the name does not show it
  KernelClass kernel_class = KernelClass::other;
  std::bitset<kKernelTraits> traits{};
  // If kernels.yaml says what the name abbreviates; else none.
  std::string number_format{};  // that tensor cores multiply
  std::optional<CollectiveKind> collective{};

  [[nodiscard]] bool has(KernelTrait trait) const {
    return traits.test(static_cast<size_t>(trait));
  }
};

// The rules of conf/kernels.yaml, preceded by the user's own. Cheap to copy, thread-safe.
class KernelRules {
 public:
  // The first text's rules are tried first. A mistake is an error of kind usage that names the
  // file, line and rule.
  static Result<KernelRules> parse(std::span<const config::ConfText> texts);
  // Every kernels.yaml of the conf folders, the user's rules first.
  static Result<KernelRules> load(const config::ConfFiles& conf);

  // Takes about ten microseconds: callers cache the result for each distinct name. Time and memory
  // are bounded for any name.
  [[nodiscard]] KernelDescription describe(std::string_view full_name) const;

 private:
  class Compiled;
  std::shared_ptr<const Compiled> compiled_;
};

// Descriptions of all kernel names in a trace, each looked up once. Different kernels get different
// short names, whatever the rules call them.
class DescribedNames {
 public:
  DescribedNames(const trace::Trace& trace, const KernelRules& rules);

  // `name` must occur in a kernel, profiled launch or kernel summary of the trace.
  [[nodiscard]] const KernelDescription& operator[](trace::StringId name) const {
    return descriptions_[row_[name.index()]];
  }

 private:
  std::vector<uint32_t> row_;  // by string
  std::vector<KernelDescription> descriptions_;
};

}  // namespace llmprof::analysis
