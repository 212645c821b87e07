#include <fmt/format.h>

#include <algorithm>

#include "analysis/utilization/finding_kinds.h"
#include "analysis/utilization/finding_words.h"

namespace llmprof::analysis {
namespace {

constexpr size_t kNamed = 3;
constexpr double kMega = 1e6;

void add_communication(const StageFacts& facts, std::vector<Finding>& findings) {
  const double exposed = facts.recoverable_of(KernelClass::communication);
  const auto& kernels = facts.by_class[static_cast<size_t>(KernelClass::communication)];
  if (exposed <= 0 || kernels.empty()) return;
  Nanoseconds total = 0;
  for (const KernelInStage& kernel : kernels) total += kernel.total;
  findings.push_back(make_finding(
      facts, exposed, "Communication that no computation hides",
      fmt::format("{}, out of {} in communication kernels; {}; the longest: {}",
                  share_words(facts, exposed),
                  duration_words(static_cast<double>(total) / facts.instances()),
                  count_words(facts, kernels), longest_words(facts, kernels, kNamed)),
      "Find out first whether ranks wait for each other (compare the ranks' start times). Then use "
      "a low-latency all-reduce for small messages, overlap with the next product, or spread the "
      "model over fewer GPUs."));
}

void add_copies(const StageFacts& facts, std::vector<Finding>& findings) {
  const double time = facts.time(BudgetPart::memory_operations) + facts.time(KernelClass::memory);
  if (time <= 0 || facts.copies.empty()) return;
  std::string each;
  for (size_t i = 0; i < std::min(kNamed, facts.copies.size()); ++i) {
    const CopiesInStage& copies = facts.copies[i];
    if (i > 0) each += ", ";
    each += fmt::format("{} {} of {:.3g} MB together",
                        number_words(static_cast<double>(copies.calls) / facts.instances()),
                        copies.what, static_cast<double>(copies.bytes) / facts.instances() / kMega);
  }
  findings.push_back(make_finding(
      facts, time, "Copies and fills while no kernel runs",
      fmt::format("{}; {}: {}", share_words(facts, time), facts.a_unit(), each),
      "Keep what the next step needs on the GPU; send the rest through pinned memory on a stream "
      "of its own, beside the kernels."));
}

}  // namespace

void find_transfers(const StageFacts& facts, std::vector<Finding>& findings) {
  add_communication(facts, findings);
  add_copies(facts, findings);
}

}  // namespace llmprof::analysis
