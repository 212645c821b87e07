#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "analysis/naming/classes.h"
#include "analysis/naming/short_name_operation.h"
#include "base/error.h"

namespace llmprof::analysis {

inline constexpr size_t kLongestShortName = 60;

// What a name template may speak of.
struct NamedKernel {
  std::string_view canonical;
  std::span<const std::string_view> captures;  // 0: the whole match
  const OperationWords& words;
  KernelClass kernel_class = KernelClass::other;
};

// The `name` of a rule in kernels.yaml, whose syntax stands at the top of that file.
class NameTemplate {
 public:
  // Errors say what is wrong, not where.
  static Result<NameTemplate> parse(std::string_view text, int captures);

  // 1 to 60 printable characters.
  [[nodiscard]] std::string expand(const NamedKernel& kernel) const;

 private:
  struct Part {
    std::string text;                                    // where there is no field
    std::string (*field)(const NamedKernel&) = nullptr;  // none of a capture
    size_t capture = 0;
    std::string (*filter)(std::string_view, const OperationWords&) = nullptr;

    [[nodiscard]] std::string value(const NamedKernel& kernel) const;
  };
  static Result<Part> parse_field(std::string_view text, int captures);

  std::vector<Part> parts_;
};

}  // namespace llmprof::analysis
