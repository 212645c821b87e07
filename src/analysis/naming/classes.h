#pragma once

#include <bitset>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "base/error.h"
#include "config/conf_files.h"
#include "profile/budget_parts.h"

namespace llmprof::analysis {

using profile::is_product;
using profile::KernelClass;

// What else a kernel's name says, beside its class: `traits` of conf/kernels.yaml.
enum class KernelTrait : uint8_t {
  kv_cache,       // it writes the keys and values of a sequence, or reads them page by page
  convolution,    // a matrix product by its class
  backward,       // of a backward pass: training
  token_choice,   // it picks the next token
  block_per_row,  // launched with one block for each row that it gathers
  concatenation,  // a copy by its class
  split_cache,    // attention over parts of the KV cache, or what joins these
  quantized,      // a product with weights of less than 16 bits
};
inline constexpr size_t kKernelTraits = 8;
std::string_view to_string(KernelTrait trait);
std::optional<KernelTrait> parse_kernel_trait(std::string_view text);
std::span<const std::string_view> all_traits();

struct KernelDescription {
  std::string short_name;  // printable, 1 to 60 characters
  std::string library;     // empty where the name does not show it
  KernelClass kernel_class = KernelClass::other;
  std::bitset<kKernelTraits> traits;

  [[nodiscard]] bool has(KernelTrait trait) const {
    return traits.test(static_cast<size_t>(trait));
  }
};

// The rules of conf/kernels.yaml, with a user's own in front. Cheap to copy, safe for threads.
class KernelRules {
 public:
  // The first text's rules are tried first. A mistake is an error of kind usage that names the
  // file, the line and the rule.
  static Result<KernelRules> parse(std::span<const config::ConfText> texts);
  // All the conf folder's kernels.yaml, the user's rules first.
  static Result<KernelRules> load(const config::ConfFiles& conf);

  // About ten microseconds; the caller keeps what it gets for each distinct name. Bounded in time
  // and memory whatever the name.
  [[nodiscard]] KernelDescription describe(std::string_view full_name) const;

 private:
  class Compiled;
  std::shared_ptr<const Compiled> compiled_;
};

}  // namespace llmprof::analysis
