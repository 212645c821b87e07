#include "analysis/utilization/finding_words.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

namespace llmprof::analysis {
namespace {

constexpr double kMicro = 1e3;
constexpr double kMilli = 1e6;
constexpr double kSecond = 1e9;
constexpr double kPercent = 100;
constexpr double kExact = 100;  // no decimals from here on

}  // namespace

std::string duration_words(double nanoseconds) {
  if (nanoseconds < kMicro) return fmt::format("{:.0f} ns", nanoseconds);
  if (nanoseconds < kMilli) return fmt::format("{:.1f} us", nanoseconds / kMicro);
  if (nanoseconds < kSecond) return fmt::format("{:.2f} ms", nanoseconds / kMilli);
  return fmt::format("{:.2f} s", nanoseconds / kSecond);
}

std::string number_words(double number) {
  if (number < kExact) return fmt::format("{:.4g}", number);
  return fmt::format("{}{:.0f}", number == std::floor(number) ? "" : "about ", number);
}

std::string counted_words(double number, std::string_view one) {
  return fmt::format("{} {}{}", number_words(number), one, number == 1 ? "" : "s");
}

std::string percent_words(double share) { return fmt::format("{:.1f} %", share * kPercent); }

std::string share_words(const StageFacts& facts, double nanoseconds) {
  return fmt::format("{} {}, {} of the stage's wall time", duration_words(nanoseconds),
                     facts.a_unit(), percent_words(nanoseconds / facts.recoverable->wall));
}

std::string longest_words(const StageFacts& facts, std::span<const KernelInStage> kernels,
                          size_t most) {
  std::string words;
  for (const KernelInStage& kernel : kernels.first(std::min(most, kernels.size()))) {
    if (!words.empty()) words += ", ";
    words +=
        fmt::format("{} {} in {}", facts.ranking->rows[kernel.row].description.short_name,
                    duration_words(static_cast<double>(kernel.total) / facts.instances()),
                    counted_words(static_cast<double>(kernel.calls) / facts.instances(), "call"));
  }
  return words;
}

std::string count_words(const StageFacts& facts, std::span<const KernelInStage> kernels) {
  uint64_t calls = 0;
  Nanoseconds total = 0;
  for (const KernelInStage& kernel : kernels) {
    calls += kernel.calls;
    total += kernel.total;
  }
  const auto count = static_cast<double>(calls);
  return fmt::format("{} {} of {} on average", counted_words(count / facts.passes(), "kernel"),
                     facts.a_pass(),
                     duration_words(calls == 0 ? 0 : static_cast<double>(total) / count));
}

Finding make_finding(const StageFacts& facts, double recoverable, std::string title,
                     std::string evidence, std::string advice) {
  Finding finding;
  finding.title = std::move(title);
  finding.evidence = std::move(evidence);
  finding.advice = std::move(advice);
  finding.stage = facts.stage->name;
  finding.recoverable = recoverable;
  finding.total_recoverable = recoverable * facts.instances();
  finding.unit = facts.unit();
  if (facts.recoverable->tokens > 0) finding.per_token = recoverable / facts.recoverable->tokens;
  finding.share_of_wall = facts.recoverable->wall > 0 ? recoverable / facts.recoverable->wall : 0;
  return finding;
}

}  // namespace llmprof::analysis
