#include "analysis/naming/short_name.h"

#include <algorithm>
#include <initializer_list>
#include <optional>
#include <utility>

#include "base/text.h"

namespace llmprof::analysis {
namespace {

constexpr size_t kLongestFusedName = 300;
constexpr std::string_view kNoOperations = "unnamed operations";
constexpr std::string_view kMore = ", \xE2\x80\xA6";
constexpr size_t kMoreCharacters = 3;

using Identifiers = std::vector<std::string_view>;
using enum OperatorRole;

// The operators that a kernel's name lists, each once.
struct NamedOperators {
  Identifiers identifiers;
  const FusedOperators& known;

  [[nodiscard]] bool is(std::string_view identifier, OperatorRole role) const {
    const auto found = known.roles.find(identifier);
    return found != known.roles.end() && found->second == role;
  }
  [[nodiscard]] bool has_role(OperatorRole role) const {
    return std::ranges::any_of(identifiers, [&](std::string_view i) { return is(i, role); });
  }
  [[nodiscard]] bool has(std::initializer_list<std::string_view> all) const {
    return std::ranges::all_of(all, [&](std::string_view wanted) {
      return std::ranges::find(identifiers, wanted) != identifiers.end();
    });
  }
  [[nodiscard]] bool normalizes() const {
    return has_role(norm) || (has({"rsqrt"}) && has_role(moment));
  }
  [[nodiscard]] bool reduces_besides_products() const {
    return std::ranges::any_of(std::initializer_list{norm, moment, softmax, choice, reduction},
                               [&](OperatorRole role) { return has_role(role); });
  }
};

KernelClass class_of_template(const NamedOperators& named) {
  if (named.has_role(attention)) return KernelClass::attention;
  return named.has_role(product) ? KernelClass::gemm : KernelClass::other;
}

// torch.compile turns a product into a reduction only if one side is a vector; otherwise it calls a
// library or a template. A kernel that reads its weights lists their transposition among its
// operators. Without one, a product named with another reduction was done earlier, and the kernel
// reads its result.
KernelClass class_of_reduction(const NamedOperators& named) {
  const bool reads_weights = named.has({"t"}) || named.has({"permute"});
  if (named.has_role(product) && (reads_weights || !named.reduces_besides_products())) {
    return KernelClass::gemv;
  }
  if (named.has_role(choice)) return KernelClass::sampling;
  if (named.normalizes()) return KernelClass::norm;
  if (named.has_role(softmax)) return KernelClass::softmax;
  if (named.has({"abs", "amax"}) && (named.has({"clamp"}) || named.has({"clamp_min"}))) {
    return KernelClass::quantize;
  }
  if (named.has_role(attention) && !named.reduces_besides_products()) {
    return KernelClass::attention;
  }
  return named.has_role(lookup) ? KernelClass::gather : KernelClass::reduction;
}

KernelClass class_of_pointwise(const NamedOperators& named) {
  if (named.normalizes()) return KernelClass::norm;
  if (named.has_role(softmax)) return KernelClass::softmax;
  if (named.has_role(lookup)) return KernelClass::gather;
  if (named.has({"cos", "sin"})) return KernelClass::rope;
  const auto moves = [&](std::string_view identifier) {
    return std::ranges::any_of(std::initializer_list{copy, reshape, product, elsewhere, attention},
                               [&](OperatorRole role) { return named.is(identifier, role); });
  };
  const bool copies = named.has_role(copy) && std::ranges::all_of(named.identifiers, moves);
  return copies ? KernelClass::copy_cast : KernelClass::elementwise;
}

// The role of operators that are the reason for a kernel's class.
std::optional<OperatorRole> deciding_role(KernelClass kernel_class) {
  constexpr std::pair<KernelClass, OperatorRole> kReasons[] = {
      {KernelClass::gemm, product},    {KernelClass::gemv, product},
      {KernelClass::softmax, softmax}, {KernelClass::sampling, choice},
      {KernelClass::gather, lookup},   {KernelClass::attention, attention},
  };
  for (const auto& [of, role] : kReasons) {
    if (of == kernel_class) return role;
  }
  return std::nullopt;
}

// The length of the operator at the front of `rest`: the longest known one, so that "index_put" is
// not read as "index" and "put".
size_t operator_length(std::string_view rest, const FusedOperators& known) {
  for (size_t end = rest.size(); end > 0;) {
    const std::string_view text = rest.substr(0, end);
    if (known.words.contains(text) || known.roles.contains(text)) return end;
    const size_t cut = text.rfind('_');
    end = cut == std::string_view::npos ? 0 : cut;
  }
  return std::max<size_t>(std::min(rest.find('_', 1), rest.size()), 1);
}

bool is_digits(std::string_view text) {
  return !text.empty() && std::ranges::all_of(text, is_digit);
}

Identifiers fused_identifiers(std::string_view identifier, const FusedOperators& operators) {
  constexpr std::string_view kFused = "fused_";
  const size_t start = identifier.find(kFused);
  if (start == std::string_view::npos) return {};
  std::string_view rest = identifier.substr(start + kFused.size());
  const size_t last = rest.rfind('_');
  if (last != std::string_view::npos && is_digits(rest.substr(last + 1))) {
    rest = rest.substr(0, last);
  } else if (is_digits(rest)) {
    return {};
  }
  // Each operator scans the rest of the name; torch.compile's own names are far shorter than this.
  rest = rest.substr(0, kLongestFusedName);
  Identifiers found;
  while (!rest.empty()) {
    const size_t length = operator_length(rest, operators);
    const std::string_view next = rest.substr(0, length);
    rest.remove_prefix(length);
    if (rest.starts_with('_')) rest.remove_prefix(1);
    if (next != "_" && std::ranges::find(found, next) == found.end()) {
      found.push_back(next);
    }
  }
  return found;
}

}  // namespace

KernelClass fused_class(std::string_view identifier, const KernelDescription& kernel,
                        const FusedOperators& operators) {
  const NamedOperators named{fused_identifiers(identifier, operators), operators};
  if (kernel.has(KernelTrait::from_template)) return class_of_template(named);
  return kernel.has(KernelTrait::reduces_rows) ? class_of_reduction(named)
                                               : class_of_pointwise(named);
}

std::string fused_operations(std::string_view identifier, KernelClass kernel_class,
                             const FusedOperators& operators, size_t longest) {
  NamedOperators named{fused_identifiers(identifier, operators), operators};
  // Not work of this kernel; kept only if nothing else is named.
  const auto passes_by = [&](std::string_view i) {
    return named.is(i, reshape) || (!is_product(kernel_class) && named.is(i, product)) ||
           (kernel_class != KernelClass::attention && named.is(i, attention));
  };
  if (!std::ranges::all_of(named.identifiers, passes_by)) {
    std::erase_if(named.identifiers, passes_by);
  }
  if (const auto deciding = deciding_role(kernel_class)) {
    std::ranges::stable_partition(named.identifiers,
                                  [&](std::string_view i) { return named.is(i, *deciding); });
  }
  std::vector<std::string> spoken;
  for (const std::string_view next : named.identifiers) {
    const auto word = operators.words.find(next);
    std::string text = word == operators.words.end() ? std::string(next) : word->second;
    if (std::ranges::find(spoken, text) == spoken.end()) {
      spoken.push_back(std::move(text));
    }
  }
  std::string list;
  for (size_t i = 0; i < spoken.size(); ++i) {
    const size_t room = longest - (i + 1 < spoken.size() ? kMoreCharacters : 0);
    if (list.size() + spoken[i].size() + 2 > room && !list.empty()) {
      return list.append(kMore);
    }
    list.append(list.empty() ? "" : ", ").append(spoken[i]);
  }
  return list.empty() ? std::string(kNoOperations) : list;
}

}  // namespace llmprof::analysis
