#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cctype>

#include "report/numbers.h"
#include "report/sections/sections.h"

namespace llmprof::report {
namespace {

// Words that a clause begins without a capital letter; what is no name begins a sentence with one.
constexpr std::array<std::string_view, 20> kPlainWords = {
    "a",    "an",  "by",  "few",   "from",  "in",   "it",    "its",    "no",   "none",
    "only", "one", "the", "their", "there", "this", "these", "totals", "what", "nothing"};

std::string with_plain_start(std::string_view text, bool capital) {
  std::string result(text);
  if (result.empty()) return result;
  const size_t end = std::min(result.find_first_of(" ,;:"), result.size());
  std::string word = result.substr(0, end);
  std::transform(word.begin(), word.end(), word.begin(),
                 [](unsigned char c) { return static_cast<char>(std::tolower(c)); });
  const bool known = std::find(kPlainWords.begin(), kPlainWords.end(), word) != kPlainWords.end();
  const bool a_name = !std::all_of(result.begin(), result.begin() + static_cast<ptrdiff_t>(end),
                                   [](char c) { return c >= 'a' && c <= 'z'; });
  if (!known && (a_name || !capital)) return result;
  if (capital) word[0] = static_cast<char>(std::toupper(static_cast<unsigned char>(word[0])));
  return result.replace(0, end, word);
}

std::string with_stop(std::string text) {
  if (!text.empty() && text.back() != '.') text += '.';
  return text;
}

}  // namespace

std::string sentence(std::string_view reason) { return with_stop(with_plain_start(reason, true)); }

std::string clause(std::string_view reason) { return with_stop(with_plain_start(reason, false)); }

std::string why_no_stages(const analysis::Profile& profile) {
  const std::string& reason = profile.stages.reason;
  if (!reason.empty()) return clause(reason);
  switch (profile.ranking.source) {
    case analysis::KernelSource::profiler:
      return "a kernel profiler measures launches out of the program's own time; add a timeline "
             "(nsys SQLite or a PyTorch trace) to see stages.";
    case analysis::KernelSource::summary:
      return "totals per kernel have no place in time; add a timeline (nsys SQLite or a PyTorch "
             "trace) to see stages.";
    case analysis::KernelSource::timeline:
    case analysis::KernelSource::none:
      break;
  }
  return "no stage was found; set NVTX ranges named prefill and decode_all around those parts of "
         "the program.";
}

std::string why_no_utilization(const analysis::Profile& profile) {
  if (profile.stages.stages.empty()) return "there are no stages (see the per-stage timings).";
  const analysis::Utilization& use = profile.utilization;
  if (!use.why_not.empty()) return clause(use.why_not);
  for (const analysis::StageUtilization& stage : use.stages) {
    if (!stage.why_not.empty()) return clause(stage.why_not);
  }
  return "no model was named; give its config.json or a preset with --model.";
}

std::string why_no_operators(const analysis::Profile& profile) {
  if (!profile.operators.missing.empty()) return clause(profile.operators.missing);
  return "no framework operators were captured; a PyTorch trace (torch.profiler) has them, and so "
         "has an nsys capture of a program under torch.autograd.profiler.emit_nvtx.";
}

std::string no_stages_words(const analysis::Profile& profile) {
  constexpr std::string_view kNoLlm = "this does not look like LLM inference";
  const std::string why = why_no_stages(profile);
  if (why.starts_with(kNoLlm)) return sentence(why);
  const bool attention_missing = why.starts_with("no kernel is known as attention");
  return fmt::format("{}: {}",
                     attention_missing ? with_plain_start(kNoLlm, true)
                                       : "Prefill and decode cannot be told apart",
                     why);
}

std::string why_no_findings(const analysis::Profile& profile) {
  if (profile.stages.stages.empty()) {
    if (profile.ranking.source == analysis::KernelSource::timeline) {
      return "findings compare the parts of stages, and there are none (see the per-stage "
             "timings).";
    }
    return "findings compare the parts of stages: capture a timeline of the same program (nsys "
           "profile, or PyTorch's profiler) and analyse it together with this capture.";
  }
  return "no part of any stage stands above its floor by enough to be worth a change.";
}

bool bound_is_known(const analysis::StageUtilization* use) {
  return use != nullptr && use->floor && use->mfu_wall && use->mfu_busy && use->mbu_wall &&
         use->mbu_busy;
}

std::string token_count_words(const analysis::TokenCount& count) {
  return grouped(count.value) + (count.source == "assumed" ? " (assumed)" : "");
}

std::string step_count_words(const analysis::Stage& stage, const StageFacts& facts) {
  const bool one_each = facts.decode_steps == 0 && facts.steps == stage.wall.count;
  if (facts.steps == 0 || one_each) return std::string(kMissing);
  if (facts.tracing.steps_traced == facts.tracing.steps_all) return grouped(facts.steps);
  return fmt::format("{} of {} traced", grouped(facts.tracing.steps_traced),
                     grouped(facts.tracing.steps_all));
}

Column text_column(std::string_view title) { return {std::string(title), Column::Kind::text}; }
Column number_column(std::string_view title) { return {std::string(title), Column::Kind::number}; }
Column code_column(std::string_view title) { return {std::string(title), Column::Kind::code}; }

}  // namespace llmprof::report
