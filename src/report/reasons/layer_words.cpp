#include <fmt/format.h>

#include "report/reasons/themes.h"

namespace llmprof::report {
namespace {

using profile::ReasonKind;

std::string of_stage(const Given& given, std::string_view why) {
  std::string words = fmt::format("{}: {}", given.text("stage"), why);
  if (given.has("model_layers")) {
    words += fmt::format(" (the model of {} attention layers)", given.count("model_layers"));
  }
  return words;
}

}  // namespace

std::string layer_words(ReasonKind kind, const Given& given) {
  switch (kind) {
    case ReasonKind::layers_in_hidden_graphs:
      return of_stage(given, "its kernels are hidden inside CUDA graph replays");
    case ReasonKind::stage_without_kernels:
      return of_stage(given, "no kernels");
    case ReasonKind::layer_steps_unknown:
      return of_stage(given, "its steps are unknown");
    case ReasonKind::layers_not_repeating:
      return of_stage(given,
                      "no layer ranges around its launches, and its kernels do not repeat layer by "
                      "layer");
    case ReasonKind::unlike_median_layer:
      return fmt::format("{:.4g} kernels per pass, the median layer has {:.4g}",
                         given.number("kernels_per_pass"), given.number("median_kernels_per_pass"));
    default:
      return {};
  }
}

}  // namespace llmprof::report
