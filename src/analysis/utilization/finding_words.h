#pragma once

#include <span>
#include <string>

#include "analysis/utilization/findings.h"
#include "analysis/utilization/stage_facts.h"

namespace llmprof::analysis {

// "850 ns", "12.3 us", "4.56 ms", "1.20 s".
std::string duration_words(double nanoseconds);
std::string percent_words(double share);
// "12430", "about 366", "36.5", "2".
std::string number_words(double number);

// "12430 kernels", "1 gap".
std::string counted_words(double number, std::string_view one);

// "4.56 ms a request, 12.3 % of the stage's wall time".
std::string share_words(const StageFacts& facts, double nanoseconds);

// "mul (bf16, strided) 2.10 ms in 1728 calls, ...": the first of some kernels, a request.
std::string longest_words(const StageFacts& facts, std::span<const KernelInStage> kernels,
                          size_t most);

// "72 kernels a step of 1.5 us on average", or a request where it is one pass.
std::string count_words(const StageFacts& facts, std::span<const KernelInStage> kernels);

// A finding of this stage, worth `recoverable` ns an instance.
Finding make_finding(const StageFacts& facts, double recoverable, std::string title,
                     std::string evidence, std::string advice);

}  // namespace llmprof::analysis
