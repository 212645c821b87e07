#include <fmt/format.h>

#include <cmath>

#include "report/reasons/themes.h"

namespace llmprof::report {
namespace {

using profile::ReasonKind;

std::string share_of_model(const Given& given) {
  std::string words;
  for (const std::string_view name : {"tp", "pp", "ep"}) {
    if (given.has(name)) words += fmt::format(" {} {}", name, given.count(name));
  }
  return words.empty() ? words : "; one GPU's share of" + words;
}

std::string prefill_pass(const Given& given) {
  return fmt::format(
      "1 pass of {} ({}), batch {}{}{}", given.counted("prompt_tokens", "prompt token"),
      given.source("prompt_tokens"), given.with_source("batch"),
      given.has("images") ? ", " + given.counted("images", "image") : "", share_of_model(given));
}

std::string decode_steps(const Given& given) {
  const double steps = given.number("steps");
  std::string words = steps == std::floor(steps) ? given.counted("steps", "step")
                                                 : fmt::format("{:.1f} steps on average", steps);
  if (const std::string source = given.source("steps"); !source.empty()) {
    words += fmt::format(" ({})", source);
  }
  return words;
}

std::string decode_passes(const Given& given) {
  std::string words =
      fmt::format("{} of 1 token at a context of {} to {} (prompt: {}), batch {}",
                  decode_steps(given), given.count("first_context"), given.count("last_context"),
                  given.source("prompt_tokens"), given.with_source("batch"));
  if (given.has("other_new_tokens")) {
    words += fmt::format("; {} says {}", given.source("other_new_tokens"),
                         given.counted("other_new_tokens", "new token"));
  }
  return words + share_of_model(given);
}

std::string engine_steps(const Given& given) {
  return fmt::format(
      "{} of {:.1f} tokens on average; attention and the KV cache are left out, because the "
      "contexts are not known{}{}",
      given.counted("steps", "step"), given.number("tokens_per_step"),
      given.has("steps_without_contexts")
          ? fmt::format(" of {}", given.counted("steps_without_contexts", "step"))
          : "",
      share_of_model(given));
}

std::string engine_steps_in_context(const Given& given) {
  return fmt::format("{} of {:.1f} tokens on average, at contexts of {:.1f} tokens in total{}{}",
                     given.counted("steps", "step"), given.number("tokens_per_step"),
                     given.number("contexts_per_step"),
                     given.flag("attention_window")
                         ? "; layers with an attention window are calculated at the mean context"
                         : "",
                     share_of_model(given));
}

}  // namespace

std::string basis_words(ReasonKind kind, const Given& given) {
  switch (kind) {
    case ReasonKind::prefill_pass:
      return prefill_pass(given);
    case ReasonKind::decode_passes:
      return decode_passes(given);
    case ReasonKind::engine_steps:
      return engine_steps(given);
    case ReasonKind::engine_steps_in_context:
      return engine_steps_in_context(given);
    case ReasonKind::recorded_operators:
      return fmt::format("FLOPs or bytes recorded with {} of the {} of {}",
                         given.count("operators_with_work"), given.counted("operators", "operator"),
                         given.counted("instances", "instance"));
    case ReasonKind::traced_steps_on_busy_time:
      return fmt::format("on busy time, of the {} of {} that {} traced",
                         given.count("steps_traced"), given.counted("steps", "step"),
                         were(given.count("steps_traced")));
    default:
      return {};
  }
}

}  // namespace llmprof::report
