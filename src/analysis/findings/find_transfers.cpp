#include <algorithm>

#include "analysis/findings/finders.h"
#include "analysis/findings/make_finding.h"

namespace llmprof::analysis {
namespace {

constexpr size_t kNamedCopies = 3;

void add_communication(const StageFacts& facts, std::vector<Finding>& findings) {
  const double exposed = facts.recoverable_of(KernelClass::communication);
  const auto& kernels = facts.by_class[static_cast<size_t>(KernelClass::communication)];
  if (exposed <= 0 || kernels.empty()) return;
  Nanoseconds total = 0;
  for (const KernelInStage& kernel : kernels) total += kernel.total;
  profile::FindingValues values;
  values
      .add("communication_time",
           profile::to_milliseconds(static_cast<double>(total) / facts.instances()))
      .add_all(kernel_counts(facts, kernels))
      .add_all(longest_kernels(facts, kernels));
  findings.push_back(
      make_finding(facts, profile::FindingKind::exposed_communication, exposed, std::move(values)));
}

void add_copies(const StageFacts& facts, std::vector<Finding>& findings) {
  const double time = facts.time(BudgetPart::memory_operations) + facts.time(KernelClass::memory);
  if (time <= 0 || facts.copies.empty()) return;
  profile::FindingValues values;
  for (size_t i = 0; i < std::min(kNamedCopies, facts.copies.size()); ++i) {
    const CopiesInStage& copies = facts.copies[i];
    values.add_number("copies_per_instance", static_cast<double>(copies.calls) / facts.instances(),
                      copies.what);
    values.add("bytes_per_instance",
               profile::Bytes{static_cast<double>(copies.bytes) / facts.instances()}, copies.what);
  }
  findings.push_back(
      make_finding(facts, profile::FindingKind::exposed_copies, time, std::move(values)));
}

}  // namespace

void find_transfers(const StageFacts& facts, std::vector<Finding>& findings) {
  add_communication(facts, findings);
  add_copies(facts, findings);
}

}  // namespace llmprof::analysis
