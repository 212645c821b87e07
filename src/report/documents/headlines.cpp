#include "report/documents/documents.h"

#include <fmt/format.h>

#include <algorithm>

#include "report/format/figures.h"
#include "report/format/sentences.h"
#include "report/sections/section_words.h"

namespace llmprof::report {
namespace {

constexpr std::string_view kTraced = "traced";
constexpr std::string_view kWithoutTracing = "without tracing";

template <class Quantity>
std::optional<double> exact(const std::optional<Quantity>& quantity) {
  return quantity ? std::optional<double>(quantity->value) : std::nullopt;
}

std::string_view tracing_words(bool without) { return without ? kWithoutTracing : kTraced; }

class Headlines {
 public:
  explicit Headlines(const profile::Profile& profile)
      : profile_(profile), tokens_(shown_tokens(profile)) {}

  std::vector<Headline> take() {
    for (const profile::TokenFigure& figure : tokens_.figures) add_time(figure);
    add_rate();
    if (profile_.stages.empty()) {
      add_totals();
    } else {
      add_busy();
    }
    add_opportunity();
    return std::move(list_);
  }

 private:
  Headline& add(std::string name, std::string text, std::optional<double> value, std::string unit,
                std::string of) {
    return list_.emplace_back(
        Headline{std::move(name), std::move(text), value, std::move(unit), std::move(of), {}});
  }

  // Whether the shown times of a stage are without tracing.
  [[nodiscard]] bool without_tracing(std::string_view stage) const {
    const profile::Stage* const known = find_stage(profile_, stage);
    return known != nullptr && known->shown.without_tracing;
  }

  void add_time(const profile::TokenFigure& figure) {
    const TokenFigureWords words = token_figure_words(profile_, figure);
    Headline& line = add(words.name, words.text, exact(typical_value(figure.time)), "ms",
                         fmt::format("{}, {}", words.of, tracing_words(figure.without_tracing)));
    if (const auto& traced = figure.traced) {
      line.beside = {std::string(kTraced), typical_text(*traced) + " ms",
                     exact(typical_value(*traced))};
    } else if (const auto& own = figure.not_profiled) {
      line.beside = {"not profiled", fmt::format("{} ms", ms(own)), own->value};
    }
  }

  void add_rate() {
    if (is_serving(profile_)) return add_served_rate();
    const bool whole =
        profile_.workload.batch_source != "assumed" && tokens_.tokens_per_s.has_value();
    const auto& shown = whole ? tokens_.tokens_per_s : tokens_.tokens_per_s_per_sequence;
    if (!shown) return;
    const bool without = without_tracing("decode");
    Headline& line = add(
        "output rate", text_of(in_unit(shown)), shown->value, "tokens/s",
        fmt::format("{}, {}", whole ? "of all sequences" : "per sequence", tracing_words(without)));
    const profile::TokenTimes& recorded = profile_.token_times;
    const auto& own = whole ? recorded.tokens_per_s : recorded.tokens_per_s_per_sequence;
    if (without && own && !find_stage(profile_, "decode")->shown.in_windows) {
      line.beside = {std::string(kTraced), text_of(in_unit(own)), own->value};
    }
  }

  void add_served_rate() {
    const auto& own = tokens_.served_per_s_per_sequence;
    const auto& all = tokens_.served_per_s;
    if (!own) return;
    Headline& line =
        add("output rate", text_of(in_unit(own)), exact(own), "tokens/s", "per sequence, traced");
    if (!all) return;
    line.beside = {"of all sequences", fmt::format("{} tokens/s", in_unit(all)), all->value};
  }

  void add_busy() {
    const auto& shown = tokens_.gpu_busy_share_of_wall;
    if (!shown) return;
    const bool without = any_unwatched(profile_);
    Headline& line =
        add(fmt::format("{} busy", device_word(profile_)), text_of(percent(shown)), shown->value,
            "", fmt::format("of the stages' wall time, {}", tracing_words(without)));
    if (const auto& own = profile_.token_times.gpu_busy_share_of_wall; without && own) {
      line.beside = {std::string(kTraced), text_of(percent(own)), own->value};
    }
  }

  void add_totals() {
    const profile::Totals& totals = profile_.totals;
    add("kernels", text_of(grouped(totals.kernel_count)), static_cast<double>(totals.kernel_count),
        "", fmt::format("in {}", scope_words(profile_)));
    add("kernel time", text_of(ms(totals.kernel_sum)), totals.kernel_sum.value, "ms",
        "sum of all kernels");
    const auto longest =
        std::ranges::max_element(profile_.device_time, {}, &profile::DeviceTime::span);
    if (longest == profile_.device_time.end() || !longest->busy_share_of_span) return;
    const std::string device =
        profile_.device_time.size() > 1 ? fmt::format(" ({})", longest->device) : "";
    add("GPU busy", text_of(percent(longest->busy_share_of_span)),
        longest->busy_share_of_span->value, "",
        fmt::format("of {} ms, first work to last{}", ms(longest->span), device));
  }

  void add_opportunity() {
    const profile::Finding* const first = first_gain(profile_);
    if (first == nullptr) return;
    const bool traced = first->stage && !without_tracing(*first->stage);
    add("largest opportunity", fmt::format("up to {}", ms(first->recoverable)),
        first->recoverable->value, "ms",
        fmt::format("{}: {}", joined({per_unit(*first), traced ? "traced" : ""}, ", "),
                    after_colon(first->title)));
  }

  const profile::Profile& profile_;
  const profile::TokenTimesShown& tokens_;
  std::vector<Headline> list_;
};

}  // namespace

std::vector<Headline> headlines(const profile::Profile& profile) {
  return Headlines(profile).take();
}

}  // namespace llmprof::report
