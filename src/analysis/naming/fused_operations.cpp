#include "analysis/naming/short_name.h"

#include <algorithm>
#include <initializer_list>
#include <utility>

#include "base/text.h"

namespace llmprof::analysis {
namespace {

constexpr size_t kLongestFusedName = 300;
constexpr std::string_view kNoOperations = "unnamed operations";
constexpr std::string_view kMore = ", \xE2\x80\xA6";
constexpr size_t kMoreCharacters = 3;

using Identifiers = std::vector<std::string_view>;

constexpr WordList kProductWords = {
    "mm|bmm|addmm|baddbmm|mv|addmv|dot|vdot|_scaled_mm|_int_mm|_grouped_mm|mm_plus_mm|matmul|"
    "convolution"};
constexpr WordList kFlexAttention = {
    "flex_attention|flex_decoding|flex_attention_backward|flex_flash_attention"};
constexpr WordList kNorms = {
    "native_layer_norm|native_layer_norm_backward|native_group_norm|native_batch_norm|"
    "_native_batch_norm_legit|_native_batch_norm_legit_functional|_fused_rms_norm|rms_norm"};
constexpr WordList kMoments = {"mean|var|var_mean|std|std_mean|linalg_vector_norm"};
constexpr WordList kSoftmaxes = {
    "_softmax|softmax|_log_softmax|log_softmax|_safe_softmax|logsumexp|prepare_softmax_online|"
    "_softmax_backward_data"};
constexpr WordList kChoices = {"argmax|argmin|topk|sort|multinomial|searchsorted"};
constexpr WordList kLookups = {"embedding|index_select|embedding_dense_backward"};
constexpr WordList kOtherReductions = {
    "sum|amax|amin|max|min|any|all|prod|cumsum|cumprod|aminmax|norm|nll_loss_forward|"
    "count_nonzero"};
// Operators that neither change nor move values in a fused kernel.
constexpr WordList kReshapes = {
    "view|_unsafe_view|reshape|permute|transpose|t|expand|unsqueeze|squeeze|select|slice|"
    "split|split_with_sizes|unbind|alias|as_strided|detach|chunk|scalar_tensor|unflatten|"
    "flatten"};
constexpr WordList kCopyWords = {
    "_to_copy|clone|copy|copy_|cat|stack|repeat|slice_scatter|select_scatter|constant_pad_nd|"
    "new_zeros|lift_fresh_copy|roll|flip"};
// Run elsewhere; a pointwise kernel that names them prepares their inputs or reads their results.
constexpr WordList kElsewhere = {"moe_forward|moe_forward_shared"};

bool has_any(const Identifiers& identifiers, const WordList& list) {
  return std::ranges::any_of(
      identifiers, [&](std::string_view identifier) { return list.contains(identifier); });
}

bool has(const Identifiers& identifiers, std::initializer_list<std::string_view> all) {
  return std::ranges::all_of(all, [&](std::string_view wanted) {
    return std::ranges::find(identifiers, wanted) != identifiers.end();
  });
}

bool is_attention(std::string_view identifier) {
  return identifier.starts_with("_scaled_dot_product") ||
         identifier.starts_with("scaled_dot_product") || kFlexAttention.contains(identifier);
}

bool has_attention(const Identifiers& identifiers) {
  return std::ranges::any_of(identifiers, is_attention);
}

bool normalizes(const Identifiers& identifiers) {
  return has_any(identifiers, kNorms) ||
         (has(identifiers, {"rsqrt"}) && has_any(identifiers, kMoments));
}

bool reduces_besides_products(const Identifiers& identifiers) {
  return normalizes(identifiers) || has_any(identifiers, kMoments) ||
         has_any(identifiers, kSoftmaxes) || has_any(identifiers, kChoices) ||
         has_any(identifiers, kOtherReductions);
}

KernelClass class_of_template(const Identifiers& identifiers) {
  if (has_attention(identifiers)) return KernelClass::attention;
  return has_any(identifiers, kProductWords) ? KernelClass::gemm : KernelClass::other;
}

// One block reduces one or more rows. torch.compile turns a product into a reduction only if one
// side is a vector; otherwise it calls a library or a template. A kernel that reads its weights
// lists their transposition among its operators. Without one, a product named with another
// reduction was done earlier, and the kernel reads its result.
KernelClass class_of_reduction(const Identifiers& identifiers) {
  const bool reads_weights = has(identifiers, {"t"}) || has(identifiers, {"permute"});
  if (has_any(identifiers, kProductWords) &&
      (reads_weights || !reduces_besides_products(identifiers))) {
    return KernelClass::gemv;
  }
  if (has_any(identifiers, kChoices)) return KernelClass::sampling;
  if (normalizes(identifiers)) return KernelClass::norm;
  if (has_any(identifiers, kSoftmaxes)) return KernelClass::softmax;
  if (has(identifiers, {"abs", "amax"}) &&
      (has(identifiers, {"clamp"}) || has(identifiers, {"clamp_min"}))) {
    return KernelClass::quantize;
  }
  if (has_attention(identifiers) && !reduces_besides_products(identifiers)) {
    return KernelClass::attention;
  }
  if (has_any(identifiers, kLookups)) return KernelClass::gather;
  return KernelClass::reduction;
}

KernelClass class_of_pointwise(const Identifiers& identifiers) {
  if (normalizes(identifiers)) return KernelClass::norm;
  if (has_any(identifiers, kSoftmaxes)) return KernelClass::softmax;
  if (has_any(identifiers, kLookups)) return KernelClass::gather;
  if (has(identifiers, {"cos", "sin"})) return KernelClass::rope;
  const auto moves = [](std::string_view identifier) {
    return kCopyWords.contains(identifier) || kReshapes.contains(identifier) ||
           kProductWords.contains(identifier) || kElsewhere.contains(identifier) ||
           is_attention(identifier);
  };
  const bool copies = has_any(identifiers, kCopyWords) && std::ranges::all_of(identifiers, moves);
  return copies ? KernelClass::copy_cast : KernelClass::elementwise;
}

// Whether an operator is the reason for the kernel's class.
bool decides(std::string_view identifier, KernelClass kernel_class) {
  constexpr std::pair<KernelClass, const WordList*> kReasons[] = {
      {KernelClass::gemm, &kProductWords}, {KernelClass::gemv, &kProductWords},
      {KernelClass::softmax, &kSoftmaxes}, {KernelClass::sampling, &kChoices},
      {KernelClass::gather, &kLookups},
  };
  if (kernel_class == KernelClass::attention) return is_attention(identifier);
  return std::ranges::any_of(kReasons, [&](const auto& reason) {
    return reason.first == kernel_class && reason.second->contains(identifier);
  });
}

// The length of the operator at the front of `rest`: the longest known one, so that "index_put" is
// not read as "index" and "put".
size_t operator_length(std::string_view rest, const OperationWords& words) {
  const auto known = [&](std::string_view text) {
    constexpr const WordList* kLists[] = {
        &kProductWords, &kFlexAttention,   &kNorms,    &kMoments,   &kSoftmaxes,
        &kLookups,      &kOtherReductions, &kReshapes, &kCopyWords, &kElsewhere};
    return words.contains(text) ||
           std::ranges::any_of(kLists, [&](const WordList* list) { return list->contains(text); });
  };
  for (size_t end = rest.size(); end > 0;) {
    if (known(rest.substr(0, end))) return end;
    const size_t cut = rest.substr(0, end).rfind('_');
    end = cut == std::string_view::npos ? 0 : cut;
  }
  return std::max<size_t>(std::min(rest.find('_', 1), rest.size()), 1);
}

bool is_digits(std::string_view text) {
  return !text.empty() && std::ranges::all_of(text, is_digit);
}

}  // namespace

Identifiers fused_identifiers(std::string_view identifier, const OperationWords& words) {
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
    const size_t length = operator_length(rest, words);
    const std::string_view next = rest.substr(0, length);
    rest.remove_prefix(length);
    if (rest.starts_with('_')) rest.remove_prefix(1);
    if (next != "_" && std::ranges::find(found, next) == found.end()) {
      found.push_back(next);
    }
  }
  return found;
}

KernelClass fused_class(std::string_view identifier, const OperationWords& words) {
  const Identifiers identifiers = fused_identifiers(identifier, words);
  if (identifier.starts_with("triton_tem_")) return class_of_template(identifiers);
  if (identifier.starts_with("triton_red_") || identifier.starts_with("triton_per_")) {
    return class_of_reduction(identifiers);
  }
  return class_of_pointwise(identifiers);
}

std::string fused_operations(std::string_view identifier, const OperationWords& words,
                             size_t longest) {
  Identifiers identifiers = fused_identifiers(identifier, words);
  const KernelClass kernel_class = fused_class(identifier, words);
  const auto is_reshape = [](std::string_view i) { return kReshapes.contains(i); };
  // Not work of this kernel; kept only if nothing else is named.
  const auto passes_by = [&](std::string_view i) {
    return is_reshape(i) || (!is_product(kernel_class) && kProductWords.contains(i)) ||
           (kernel_class != KernelClass::attention && is_attention(i));
  };
  if (!std::ranges::all_of(identifiers, passes_by)) {
    std::erase_if(identifiers, passes_by);
  }
  std::ranges::stable_partition(identifiers,
                                [&](std::string_view i) { return decides(i, kernel_class); });
  std::vector<std::string> spoken;
  for (const std::string_view next : identifiers) {
    const auto word = words.find(next);
    std::string text = word == words.end() ? std::string(next) : word->second;
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
