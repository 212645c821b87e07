#pragma once

#include <cstddef>
#include <span>
#include <string_view>

#include "analysis/findings/findings.h"
#include "analysis/findings/stage_facts.h"
#include "profile/finding_values.h"

namespace llmprof::analysis {

inline constexpr size_t kNamedKernels = 3;  // of those that a finding is about, the longest

// A finding of this stage with a potential saving of `recoverable` ns per instance.
Finding make_finding(const StageFacts& facts, profile::FindingKind kind, double recoverable,
                     profile::FindingValues values = {});

// kernel_time and kernel_calls of the first ones, per instance.
profile::FindingValues longest_kernels(const StageFacts& facts,
                                       std::span<const KernelInStage> kernels);

// kernels_per_pass, pass and mean_kernel.
profile::FindingValues kernel_counts(const StageFacts& facts,
                                     std::span<const KernelInStage> kernels);

// compiled, and engine and framework where they are known.
profile::FindingValues program_values(const StageFacts& facts);

// Leaves the text of that value, of several of one name the nth, to the words of these reasons.
void explain_value(std::string_view name, profile::Reasons reasons, Finding& finding,
                   size_t nth = 0);

}  // namespace llmprof::analysis
