#include "report/format/words.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <utility>

#include "base/text.h"
#include "report/format/figures.h"

namespace llmprof::report {
namespace {

// If empty, `shown` is the name in profile.json, and `plain` is `shown`.
struct PartRow {
  TimePart value;
  std::string_view plain;
  Color color;
  std::string_view shown = {};
  std::string_view why = {};
  std::string_view brief = {};
};

// Okabe and Ito's eight hues for the classes that take the most time, shades between them for the
// others. Each stands out from the background by 3 to 1, and any two differ for people with normal
// vision, protanopia and deuteranopia (colors_test.cpp).
constexpr auto kParts = [] {
  using enum KernelClass;
  using enum TimePart;
  const auto of = [](KernelClass of_class, std::string_view plain, Color color,
                     std::string_view shown = {}) {
    return PartRow{part_of_class(of_class), plain, color, shown};
  };
  const auto idle = [](TimePart part, std::string_view brief, std::string_view plain, Color color,
                       std::string_view why, std::string_view shown = {}) {
    return PartRow{part, plain, color, shown, why, brief};
  };
  return profile::one_per_value<TimePart, PartRow>({
      of(gemm, "matrix products", {"#0072b2", "#3698f5"}),
      of(gemv, "matrix-vector products", {"#2f9bdc", "#b8e4ff"}),
      of(attention, "", {"#d55e00", "#f0813a"}),
      of(norm, "normalization", {"#009e73", "#4fc9a0"}),
      of(rope, "position embedding (RoPE)", {"#0b4a3e", "#83d887"}),
      of(elementwise, "element-wise operations", {"#b38e0a", "#d9dd2b"}),
      of(copy_cast, "copies and type conversions", {"#b0428c", "#e6a4e9"}),
      of(reduction, "reductions", {"#6b4e0c", "#b07a10"}),
      of(softmax, "", {"#e4576b", "#fce3c3"}),
      of(sampling, "token selection", {"#a4622a", "#ffb02e"}),
      of(gather, "embedding lookups and gathers", {"#8a4fd0", "#8f7fd0"}),
      of(moe_routing, "routing tokens to experts", {"#40281c", "#94694a"}),
      of(quantize, "", {"#5f9aa0", "#e9ffa0"}, "quantization"),
      of(communication, "", {"#8e1f5c", "#d0378f"}),
      of(memory, "", {"#2c2f86", "#4f6bf5"}),
      of(other, "", {"#6d6560", "#a39a92"}),
      {hidden_graphs, "CUDA graphs whose kernels were not recorded", {"#2b3a55", "#7a8bb0"}},
      {memory_operations, "", {"#2c2f86", "#4f6bf5"}},
      idle(idle_launch, "launch-bound", "late kernel launches", {"#8f98a6", "#6c7480"},
           "The next launch came too late: the host was still in CUDA calls that launch work."),
      idle(idle_synchronization, "synchronization",
           "the CPU waiting for the GPU before it launches more", {"#a3abb7", "#5f6772"},
           "The launching thread waited for the GPU before it launched the next work.",
           "idle: synchronization"),
      idle(idle_host, "host between launches", "CPU code that runs between kernel launches",
           {"#b6bdc7", "#535a65"},
           "The launching thread ran code outside of CUDA calls before it launched the next work."),
      idle(idle_queued, "between queued kernels", "gaps between kernels that were launched in time",
           {"#c6ccd4", "#484f58"},
           "The next work had been launched in time, and the GPU started it later than a launch "
           "takes."),
      idle(idle_before_first, "before the first GPU work", "host work before the first kernel",
           {"#d4d9df", "#3e444d"}, "The stage had started, but none of its GPU work had."),
      idle(idle_after_last, "after the last GPU work", "host work after the last kernel",
           {"#dfe3e8", "#353b43"}, "The stage's GPU work was done, but the stage had not ended."),
      idle(not_traced, "", "untraced time", {"#eceff2", "#2a2f36"},
           "Nothing was recorded at that time: GPU work may have run."),
      idle(unattributed, "", "", {"#cfc8c0", "#4a4540"},
           "No launch was recorded for the next work, so the cause is unknown."),
      idle(before_first_operator, "", "code before the first operator", {"#d4d9df", "#3e444d"},
           "The stage had started, but none of its operators had."),
      idle(after_last_operator, "", "code after the last operator", {"#dfe3e8", "#353b43"},
           "The stage's operators were done, but the stage had not ended."),
      idle(between_operators, "", "code between operators", {"#b6bdc7", "#535a65"},
           "The program ran code outside of recorded operators."),
      idle(idle_waiting_for_rank, "waiting for the slowest rank",
           "ranks waiting for the slowest one", {"#c9a3b8", "#6b3f57"}, ""),
      {waiting_for_rank, "ranks waiting for the slowest one", {"#c9a3b8", "#6b3f57"}},
  });
}();

PartLook look(const PartRow& row, std::string_view spelled) {
  const std::string_view shown = row.shown.empty() ? spelled : row.shown;
  const auto otherwise = [&](std::string_view own) { return own.empty() ? shown : own; };
  return {shown, otherwise(row.brief), otherwise(row.plain), row.why, row.color};
}

// First words that are not names: lowercase in a clause, capitalized in a sentence.
constexpr std::array<std::string_view, 20> kPlainWords = {
    "a",    "an",  "by",  "few",   "from",  "in",   "it",    "its",    "no",   "none",
    "only", "one", "the", "their", "there", "this", "these", "totals", "what", "nothing"};

// The length of the first word.
size_t first_word(std::string_view text) {
  return std::min(text.find_first_of(" ,;:"), text.size());
}

std::string with_plain_start(std::string_view text, bool capital) {
  std::string word(text.substr(0, first_word(text)));
  const bool is_name = !std::ranges::all_of(word, is_lower);
  std::ranges::transform(word, word.begin(), to_lower);
  const bool known = std::ranges::find(kPlainWords, word) != kPlainWords.end();
  if (word.empty() || (!known && (is_name || !capital))) return std::string(text);
  if (capital && is_lower(word[0])) word[0] = static_cast<char>(word[0] - 'a' + 'A');
  return word + std::string(text.substr(word.size()));
}

std::string with_stop(std::string text) {
  if (!text.empty() && text.back() != '.') text += '.';
  return text;
}

}  // namespace

std::vector<std::string> texts_of(std::vector<Sentence> sentences) {
  std::vector<std::string> texts;
  texts.reserve(sentences.size());
  for (Sentence& each : sentences) texts.push_back(std::move(each.text));
  return texts;
}

PartLook look_of(KernelClass kernel_class) {
  const auto known = is_known(kernel_class) ? kernel_class : KernelClass::other;
  return look(kParts[static_cast<size_t>(known)], to_string(kernel_class));
}

PartLook look_of(TimePart part) {
  const auto known = is_known(part) ? part : part_of_class(KernelClass::other);
  return look(kParts[static_cast<size_t>(known)], to_string(part));
}

std::optional<KernelClass> class_of_part(TimePart part) {
  if (part == TimePart::memory_operations) return KernelClass::memory;
  if (static_cast<size_t>(part) >= profile::kClassParts) return std::nullopt;
  return static_cast<KernelClass>(part);
}

std::string_view shown_text(std::string_view name) {
  if (const auto part = profile::find_word<TimePart>(name)) return look_of(*part).shown;
  if (const auto kind = profile::find_word<CollectiveKind>(name)) return in_words(*kind);
  if (const auto link = profile::find_word<LinkKind>(name)) return in_words(*link);
  return name;
}

std::string sentence(std::string_view reason) { return with_stop(with_plain_start(reason, true)); }

std::string clause(std::string_view reason) { return with_stop(with_plain_start(reason, false)); }

std::string after_colon(std::string_view words) {
  std::string result(words);
  const size_t end = first_word(words);
  if (end > 1 && std::ranges::all_of(words.substr(1, end - 1), is_lower)) {
    result[0] = to_lower(result[0]);
  }
  return result;
}

std::string enumeration(const std::vector<std::string>& words) {
  std::string text;
  for (size_t i = 0; i < words.size(); ++i) {
    const bool last = i > 0 && i + 1 == words.size();
    text += (i == 0 ? "" : last ? " and " : ", ") + words[i];
  }
  return text;
}

std::string per_unit(const Finding& finding) {
  if (!finding.unit) return {};
  return (finding.traced_part ? "in the " : "per ") + *finding.unit;
}

std::string share_words(const Finding& finding) {
  const std::string of = profile::is_of_requests(finding.kind)
                             ? "the requests' time from sent to end"
                             : finding.stage.value_or("the timeline") + "'s wall time";
  return fmt::format("{} of {}", percent(finding.share_of_wall), of);
}

}  // namespace llmprof::report
