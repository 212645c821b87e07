#include "report/documents/headlines.h"

#include <fmt/format.h>

#include <algorithm>

#include "report/documents/unwatched_view.h"
#include "report/format/figures.h"
#include "report/format/sentences.h"
#include "report/sections/stage_words.h"
#include "report/sections/token_figures.h"

namespace llmprof::report {
namespace {

constexpr std::string_view kTraced = "traced";
constexpr std::string_view kWithoutTracing = "without tracing";

template <class Quantity>
std::optional<double> exact(const std::optional<Quantity>& quantity) {
  return quantity ? std::optional<double>(quantity->value) : std::nullopt;
}

class Headlines {
 public:
  explicit Headlines(const profile::Profile& recorded)
      : recorded_(recorded), shown_(unwatched_view(recorded)) {}

  std::vector<Headline> take() {
    for (const TokenFigure& figure : token_figures(shown_)) add_time(figure);
    add_rate();
    if (shown_.stages.empty()) {
      add_totals();
    } else {
      add_busy();
    }
    add_opportunity();
    return std::move(list_);
  }

 private:
  // Whether the shown times of a stage are those of the program without tracing.
  [[nodiscard]] bool unwatched(std::string_view stage) const {
    const profile::Stage* const known = find_stage(shown_, stage);
    return known != nullptr && known->unwatched;
  }

  // The stage by the workload's own clock, where that run was not profiled; per step of decode.
  [[nodiscard]] std::optional<profile::Milliseconds> unprofiled(std::string_view stage) const {
    if (!recorded_.stage1) return std::nullopt;
    const std::string_view name = stage == "decode" ? "decode_step" : stage;
    for (const profile::Stage1Stage& each : recorded_.stage1->stages) {
      if (each.name == name) return each.mean;
    }
    return std::nullopt;
  }

  void add_time(const TokenFigure& figure) {
    const bool without = !figure.of_requests && unwatched(figure.stage);
    Headline line{figure.name,
                  figure.value.text,
                  exact(figure.value.exact),
                  "ms",
                  fmt::format("{}, {}", figure.value.of, without ? kWithoutTracing : kTraced),
                  std::nullopt};
    if (without) {
      line.beside = traced(figure);
    } else if (const auto own = unprofiled(figure.stage)) {
      line.beside = {"not profiled", fmt::format("{} ms", ms(own)), own->value};
    }
    list_.push_back(std::move(line));
  }

  // None of pieces in windows of tracing, which are no durations of anything.
  [[nodiscard]] std::optional<Headline::Beside> traced(const TokenFigure& figure) const {
    const profile::Stage* const stage = find_stage(recorded_, figure.stage);
    if (stage == nullptr || recorded_in_windows(*stage)) return std::nullopt;
    for (const TokenFigure& own : token_figures(recorded_)) {
      if (own.name != figure.name) continue;
      return Headline::Beside{std::string(kTraced), own.value.text + " ms", exact(own.value.exact)};
    }
    return std::nullopt;
  }

  void add_rate() {
    if (is_serving(shown_)) return add_served_rate();
    const bool whole =
        shown_.workload.batch_source != "assumed" && shown_.token_times.tokens_per_s.has_value();
    const auto rate_of = [&](const profile::Profile& profile) {
      return whole ? profile.token_times.tokens_per_s
                   : profile.token_times.tokens_per_s_per_sequence;
    };
    const auto shown = rate_of(shown_);
    if (!shown) return;
    const bool without = unwatched("decode");
    Headline line{"output rate",
                  text_of(rate(shown)),
                  shown->value,
                  "tokens/s",
                  fmt::format("{}, {}", whole ? "of all sequences" : "per sequence",
                              without ? kWithoutTracing : kTraced),
                  std::nullopt};
    const auto own = rate_of(recorded_);
    const bool windows = without && recorded_in_windows(*find_stage(recorded_, "decode"));
    if (without && own && !windows) {
      line.beside = {std::string(kTraced), text_of(rate(own)), own->value};
    }
    list_.push_back(std::move(line));
  }

  void add_served_rate() {
    const profile::ServedWindow* const window = largest_served(shown_);
    constexpr double kMillisecondsPerSecond = 1000;
    if (window == nullptr || window->token->value <= 0) return;
    const profile::TokensPerSecond own{kMillisecondsPerSecond / window->token->value};
    Headline line{"output rate", text_of(rate(own)),     own.value,
                  "tokens/s",    "per sequence, traced", std::nullopt};
    if (window->span.value > 0) {
      const auto tokens = static_cast<double>(window->tokens + window->prompts);
      const profile::TokensPerSecond all{tokens * kMillisecondsPerSecond / window->span.value};
      line.beside = {"of all sequences", fmt::format("{} tokens/s", rate(all)), all.value};
    }
    list_.push_back(std::move(line));
  }

  void add_busy() {
    const auto& shown = shown_.token_times.gpu_busy_share_of_wall;
    if (!shown) return;
    const bool without =
        std::any_of(shown_.stages.begin(), shown_.stages.end(),
                    [](const profile::Stage& stage) { return stage.unwatched.has_value(); });
    Headline line{fmt::format("{} busy", device_word(shown_)),
                  text_of(percent(shown)),
                  shown->value,
                  "",
                  fmt::format("of the stages' wall time, {}", without ? kWithoutTracing : kTraced),
                  std::nullopt};
    if (const auto& own = recorded_.token_times.gpu_busy_share_of_wall; without && own) {
      line.beside = {std::string(kTraced), text_of(percent(own)), own->value};
    }
    list_.push_back(std::move(line));
  }

  void add_totals() {
    const profile::Totals& totals = shown_.totals;
    const std::string scope = fmt::format("in {}", scope_words(shown_));
    list_.push_back({"kernels", text_of(grouped(totals.kernel_count)),
                     static_cast<double>(totals.kernel_count), "", scope, std::nullopt});
    list_.push_back({"kernel time", text_of(ms(totals.kernel_sum)), totals.kernel_sum.value, "ms",
                     "sum of all kernels", std::nullopt});
    const auto longest =
        std::max_element(shown_.device_time.begin(), shown_.device_time.end(),
                         [](const auto& a, const auto& b) { return a.span.value < b.span.value; });
    if (longest == shown_.device_time.end() || !longest->busy_share_of_span) return;
    const std::string device =
        shown_.device_time.size() > 1 ? fmt::format(" ({})", longest->device) : "";
    list_.push_back({"GPU busy", text_of(percent(longest->busy_share_of_span)),
                     longest->busy_share_of_span->value, "",
                     fmt::format("of {} ms, first work to last{}", ms(longest->span), device),
                     std::nullopt});
  }

  void add_opportunity() {
    const profile::Finding* const first = first_gain(shown_);
    if (first == nullptr) return;
    const std::string per = per_unit(*first);
    const bool traced = first->stage && !unwatched(*first->stage);
    list_.push_back({"largest opportunity", fmt::format("up to {}", ms(first->recoverable)),
                     first->recoverable->value, "ms",
                     fmt::format("{}{}{}: {}", per, per.empty() || !traced ? "" : ", ",
                                 traced ? kTraced : "", after_colon(first->title)),
                     std::nullopt});
  }

  const profile::Profile& recorded_;
  profile::Profile shown_;
  std::vector<Headline> list_;
};

}  // namespace

std::vector<Headline> headlines(const profile::Profile& recorded) {
  return Headlines(recorded).take();
}

}  // namespace llmprof::report
