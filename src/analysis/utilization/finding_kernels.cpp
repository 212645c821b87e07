#include <fmt/format.h>

#include <algorithm>

#include "analysis/utilization/finding_kinds.h"
#include "analysis/utilization/finding_words.h"

namespace llmprof::analysis {
namespace {

constexpr size_t kNamed = 3;  // kernels named in the evidence
// Attention kernels a pass below which once a layer and once a pass cannot be told apart.
constexpr double kFewestLayers = 4;

std::vector<KernelInStage> kernels_of(const StageFacts& facts,
                                      std::span<const KernelClass> classes) {
  std::vector<KernelInStage> kernels;
  for (const KernelClass kernel_class : classes) {
    const auto& more = facts.by_class[static_cast<size_t>(kernel_class)];
    kernels.insert(kernels.end(), more.begin(), more.end());
  }
  std::stable_sort(kernels.begin(), kernels.end(),
                   [](const auto& a, const auto& b) { return a.total > b.total; });
  return kernels;
}

struct Kind {
  std::span<const KernelClass> classes;
  std::string title;
  std::string advice;
};

double time_of(const StageFacts& facts, std::span<const KernelClass> classes) {
  double time = 0;
  for (const KernelClass kernel_class : classes) time += facts.time(kernel_class);
  return time;
}

double recoverable_of(const StageFacts& facts, std::span<const KernelClass> classes) {
  double time = 0;
  for (const KernelClass kernel_class : classes) time += facts.recoverable_of(kernel_class);
  return time;
}

// Kernels whose floor is 0: all of their time is above it.
void add_small(const StageFacts& facts, const Kind& kind, std::vector<Finding>& findings) {
  const double recoverable = recoverable_of(facts, kind.classes);
  const std::vector<KernelInStage> kernels = kernels_of(facts, kind.classes);
  if (recoverable <= 0 || kernels.empty()) return;
  findings.push_back(
      make_finding(facts, recoverable, kind.title,
                   fmt::format("{}: {}; the longest: {}", share_words(facts, recoverable),
                               count_words(facts, kernels), longest_words(facts, kernels, kNamed)),
                   kind.advice));
}

// Kernels with a floor from the model's cost.
void add_above_floor(const StageFacts& facts, const Kind& kind, std::vector<Finding>& findings) {
  const double recoverable = recoverable_of(facts, kind.classes);
  const std::vector<KernelInStage> kernels = kernels_of(facts, kind.classes);
  if (recoverable <= 0 || kernels.empty()) return;
  const double time = time_of(facts, kind.classes);
  std::string rule;
  double floor = 0;
  for (const KernelClass kernel_class : kind.classes) {
    const RecoverablePart* part = facts.by_part[static_cast<size_t>(kernel_class)];
    if (part == nullptr) continue;
    floor += part->floor;
    if (rule.empty()) rule = part->floor_rule;
  }
  findings.push_back(make_finding(
      facts, recoverable, kind.title,
      fmt::format("{} against a floor of {} ({}), {:.3g} times as long; above it {}; {}; the "
                  "longest: {}",
                  duration_words(time), duration_words(floor), rule, time / floor,
                  share_words(facts, recoverable), count_words(facts, kernels),
                  longest_words(facts, kernels, kNamed)),
      kind.advice));
}

constexpr KernelClass kProducts[] = {KernelClass::gemm, KernelClass::gemv};
constexpr KernelClass kAttention[] = {KernelClass::attention};
constexpr KernelClass kFusable[] = {
    KernelClass::norm,    KernelClass::rope,   KernelClass::elementwise, KernelClass::reduction,
    KernelClass::softmax, KernelClass::gather, KernelClass::quantise};
constexpr KernelClass kCopies[] = {KernelClass::copy_cast};

bool concatenates(const StageFacts& facts) {
  const auto& copies = facts.by_class[static_cast<size_t>(KernelClass::copy_cast)];
  return std::any_of(copies.begin(), copies.end(), [&](const KernelInStage& kernel) {
    return facts.ranking->rows[kernel.row].description.short_name.starts_with("concatenate");
  });
}

double calls_of(std::span<const KernelInStage> kernels) {
  double calls = 0;
  for (const KernelInStage& kernel : kernels) calls += static_cast<double>(kernel.calls);
  return calls;
}

double total_of(std::span<const KernelInStage> kernels) {
  double total = 0;
  for (const KernelInStage& kernel : kernels) total += static_cast<double>(kernel.total);
  return total;
}

// The kernels that choose something: tokens once a pass, experts in every layer. Their names do not
// tell which, their number does.
struct SelectionKernels {
  std::vector<KernelInStage> tokens;
  std::vector<KernelInStage> experts;  // with the kernels that only routing has
  double tokens_time = 0;              // ns an instance
  double experts_time = 0;
};

SelectionKernels selection_of(const StageFacts& facts) {
  SelectionKernels selection;
  const auto& routing = facts.by_class[static_cast<size_t>(KernelClass::moe_routing)];
  const auto& sampling = facts.by_class[static_cast<size_t>(KernelClass::sampling)];
  const double layers =
      calls_of(facts.by_class[static_cast<size_t>(KernelClass::attention)]) / facts.passes();
  selection.experts = routing;
  for (const KernelInStage& kernel : sampling) {
    const double each_pass = static_cast<double>(kernel.calls) / facts.passes();
    const bool in_layers = layers >= kFewestLayers && each_pass >= layers / 2;
    (in_layers ? selection.experts : selection.tokens).push_back(kernel);
  }
  std::stable_sort(selection.experts.begin(), selection.experts.end(),
                   [](const auto& a, const auto& b) { return a.total > b.total; });
  const double of_sampling = facts.recoverable_of(KernelClass::sampling);
  const double whole = total_of(sampling);
  selection.tokens_time = whole > 0 ? of_sampling * total_of(selection.tokens) / whole : 0;
  selection.experts_time =
      facts.recoverable_of(KernelClass::moe_routing) + of_sampling - selection.tokens_time;
  return selection;
}

void add_selection(const StageFacts& facts, std::span<const KernelInStage> kernels, double time,
                   std::string title, std::string advice, std::vector<Finding>& findings) {
  if (time <= 0 || kernels.empty()) return;
  findings.push_back(
      make_finding(facts, time, std::move(title),
                   fmt::format("{}: {}; the longest: {}", share_words(facts, time),
                               count_words(facts, kernels), longest_words(facts, kernels, kNamed)),
                   std::move(advice)));
}

std::string products_advice(const StageFacts& facts) {
  if (facts.memory_bound) {
    return "The weights are read too slowly: tune the products for few rows first (split-K or "
           "GEMV kernels, cuBLASLt or max-autotune choices). Below the floor lead only fewer bytes "
           "(fp8 or int4 weights) or more tokens a pass (batch, speculative decoding).";
  }
  return "Look at the slowest product's tile against its shape first: dimensions that leave part "
         "of "
         "the last wave idle, then max-autotune, then fp8 where accuracy allows.";
}

bool splits_the_cache(const StageFacts& facts) {
  const auto& kernels = facts.by_class[static_cast<size_t>(KernelClass::attention)];
  return std::any_of(kernels.begin(), kernels.end(), [&](const KernelInStage& kernel) {
    return facts.ranking->rows[kernel.row].description.short_name.find("split") !=
           std::string::npos;
  });
}

std::string attention_advice(const StageFacts& facts) {
  if (facts.decodes() && splits_the_cache(facts)) {
    return "The KV cache is split over the SMs already: take the mask tensor and layout changes "
           "away first; at short contexts each kernel waits on latency, which only more sequences "
           "a step or fusion with the cache write hide.";
  }
  if (facts.decodes()) {
    return "Use a decode kernel that splits the KV cache over the SMs (FlashDecoding, FlashInfer), "
           "reads it in the layout it was written in, and takes the length instead of a mask "
           "tensor.";
  }
  return "Use a causal FlashAttention kernel for this GPU (version 3 on Hopper) with is_causal "
         "instead of a mask tensor, and grouped heads without repeating K and V.";
}

}  // namespace

void find_kernel_time(const StageFacts& facts, std::vector<Finding>& findings) {
  add_above_floor(facts, {kProducts, "Matrix products above their floor", products_advice(facts)},
                  findings);
  add_above_floor(facts, {kAttention, "Attention above its floor", attention_advice(facts)},
                  findings);
  add_small(facts,
            {kFusable, "Small kernels that can be fused",
             "Fuse them: torch.compile first, then hand-written kernels for norm with residual, "
             "rope with the cache write, and the gated activation."},
            findings);
  add_small(facts,
            {kCopies, "Copies and casts",
             concatenates(facts)
                 ? "Take the concatenations out first: write K and V into a preallocated cache and "
                   "rotate in place; then keep one data type and one layout from end to end."
                 : "Keep one data type and one layout from end to end: casts around norms go into "
                   "the norm kernel, layout changes into the product that reads or writes them."},
            findings);
  const SelectionKernels selection = selection_of(facts);
  add_selection(facts, selection.tokens, selection.tokens_time, "Token selection",
                "Select the token in one fused kernel (top-k, top-p and draw together), on the "
                "last position's logits only.",
                findings);
  add_selection(facts, selection.experts, selection.experts_time, "Expert routing",
                "Use a fused routing kernel (gate, top-k and token order together) with grouped "
                "products for the experts instead of one product an expert.",
                findings);
}

}  // namespace llmprof::analysis
