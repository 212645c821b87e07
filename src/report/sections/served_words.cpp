#include "report/sections/section_words.h"

#include <fmt/format.h>

#include "report/format/figures.h"

namespace llmprof::report {
namespace {

constexpr size_t kWindowsInASentence = 4;

}  // namespace

void add_served(const profile::Profile& profile, Document& document) {
  const auto& windows = profile.token_times.served;
  if (windows.empty()) return;
  document.add(Heading{3, "Requests"});
  Table table{columns(
      "#from (ms) | #for (ms) | #prompts | #time per prompt, mean (ms) | #tokens after the first | "
      "#time per token, mean (ms) | #sequences per batch, mean | #at most | #batches | #passes")};
  for (const profile::ServedWindow& window : windows) {
    table.rows.push_back({ms(window.start), ms(window.span), grouped(window.prompts),
                          ms(window.prompt), grouped(window.tokens), ms(window.token),
                          plain(window.sequences_mean), grouped(window.sequences_max),
                          grouped(window.batches), grouped(window.passes)});
  }
  document.add(std::move(table));
  document.add(Paragraph{
      "As an engine's own clock has them, and as recorded: with what tracing added. A batch gives "
      "each sequence in it one token and may take several passes; it ends where the host waits for "
      "the results. A token's time is that since the batch before, moves of caches included. A "
      "prompt's begins when the host can turn to it and ends when its first token is chosen; "
      "waiting in the queue is not part of it."});
}

std::string served_words(const profile::Profile& profile) {
  const auto& windows = profile.token_times.served;
  if (windows.empty() || windows.size() > kWindowsInASentence) return {};
  std::string text;
  for (const profile::ServedWindow& window : windows) {
    text += text.empty() ? "Requests as recorded: " : "; then ";
    if (window.prompt) {
      text +=
          fmt::format("{} of {} ms each, ", counted(window.prompts, "prompt"), ms(window.prompt));
    }
    text += fmt::format("{} ms per token, up to {}", ms(window.token),
                        counted(window.sequences_max, "sequence"));
  }
  return text + ".";
}

}  // namespace llmprof::report
