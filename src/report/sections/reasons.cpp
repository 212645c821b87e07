#include <cctype>

#include "report/sections/sections.h"

namespace llmprof {

std::string sentence(std::string_view reason) {
  std::string text(reason);
  if (text.empty()) return text;
  const bool first_word_is_plain =
      text.size() < 2 || std::islower(static_cast<unsigned char>(text[1])) != 0 || text[1] == ' ';
  if (first_word_is_plain) {
    text[0] = static_cast<char>(std::toupper(static_cast<unsigned char>(text[0])));
  }
  if (text.back() != '.') text += '.';
  return text;
}

std::string why_no_stages(const Profile& profile) {
  const std::string& reason = profile.stages.reason;
  if (!reason.empty()) return sentence(reason);
  switch (profile.ranking.source) {
    case KernelSource::profiler:
      return "A kernel profiler measures launches out of the program's own time; add a timeline "
             "(nsys SQLite or a PyTorch trace) to see stages.";
    case KernelSource::summary:
      return "Totals per kernel have no place in time; add a timeline (nsys SQLite or a PyTorch "
             "trace) to see stages.";
    case KernelSource::timeline:
    case KernelSource::none:
      break;
  }
  return "No stage was found; set NVTX ranges named prefill and decode_all around those parts of "
         "the program.";
}

std::string why_no_utilization(const Profile& profile) {
  if (profile.stages.stages.empty()) return why_no_stages(profile);
  const Utilization& use = profile.utilization;
  if (!use.why_not.empty()) return sentence(use.why_not);
  for (const StageUtilization& stage : use.stages) {
    if (!stage.why_not.empty()) return sentence(stage.why_not);
  }
  return "No model was named; give its config.json or a preset with --model.";
}

std::string why_no_operators(const Profile& profile) {
  if (!profile.operators.missing.empty()) return sentence(profile.operators.missing);
  return "No framework operators were captured; a PyTorch trace (torch.profiler) has them, and so "
         "has an nsys capture of a program under torch.autograd.profiler.emit_nvtx.";
}

std::string why_no_findings(const Profile& profile) {
  if (profile.stages.stages.empty()) return why_no_stages(profile);
  return "No part of any stage stands above its floor by enough to be worth a change.";
}

const BudgetRow* largest_part(const StageFacts& facts, bool idle) {
  for (const BudgetRow& row : facts.budget) {
    if (is_idle(row.part) == idle) return &row;
  }
  return nullptr;
}

Column text_column(std::string_view title) { return {std::string(title), Column::Kind::text}; }
Column number_column(std::string_view title) { return {std::string(title), Column::Kind::number}; }
Column code_column(std::string_view title) { return {std::string(title), Column::Kind::code}; }

}  // namespace llmprof
