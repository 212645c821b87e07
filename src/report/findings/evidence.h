#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "profile/findings.h"
#include "report/document.h"

namespace llmprof::report {

// What reports say of a finding: profile.json's title, evidence and advice.
struct FindingWords {
  std::string title;
  std::string evidence;
  std::string advice;
};

// A finding's values as words are made of them. Figures of a missing value are "-".
class Evidence {
 public:
  Evidence(const profile::Finding& finding, bool on_cpu) : finding_(finding), on_cpu_(on_cpu) {}

  [[nodiscard]] bool on_cpu() const { return on_cpu_; }
  [[nodiscard]] std::string stage() const;
  // False for forward passes of a model that is not known to generate tokens: what only an LLM has
  // (tokens, a KV cache, prompts) is no advice for it.
  [[nodiscard]] bool of_llm() const;
  [[nodiscard]] bool has(std::string_view name) const;
  [[nodiscard]] bool flag(std::string_view name) const;
  [[nodiscard]] double number(std::string_view name) const;  // 0 where it is missing
  [[nodiscard]] std::string text(std::string_view name) const;
  [[nodiscard]] std::optional<profile::Milliseconds> time(std::string_view name) const;
  [[nodiscard]] Figure share(std::string_view name) const;
  [[nodiscard]] Figure clock(std::string_view name) const;
  // All values of one name, in their order.
  [[nodiscard]] std::vector<const profile::FindingValue*> all(std::string_view name) const;
  [[nodiscard]] const profile::Finding& finding() const { return finding_; }

  // "per request", "per 8 steps", "in the traced part of a request".
  [[nodiscard]] std::string per_unit() const;
  // "up to 4.560 ms per request (12.3 % of the stage's wall time)".
  [[nodiscard]] std::string saving() const;
  // "1.234 ms"; averages, which are often of microseconds, have one digit more: "0.0123 ms".
  [[nodiscard]] std::string single_time(std::string_view name) const;
  [[nodiscard]] std::string mean_time(std::string_view name) const;
  // "12,430 gaps", "36.5 gaps".
  [[nodiscard]] std::string counted(std::string_view name, std::string_view one) const;
  // "; the longest gap is 1.234 ms, on the host: cudaStreamSynchronize"; empty where it is missing.
  [[nodiscard]] std::string longest_gap() const;
  // "72 kernels per step".
  [[nodiscard]] std::string kernels_per_pass() const;
  // "72 kernels per step of 0.001532 ms on average".
  [[nodiscard]] std::string kernel_counts() const;
  // "the longest: mul (bf16, strided) 2.100 ms in 1,728 calls, ...".
  [[nodiscard]] std::string longest_kernels() const;

 private:
  const profile::Finding& finding_;
  bool on_cpu_;
};

std::string counted_mean(double number, std::string_view one);

}  // namespace llmprof::report
