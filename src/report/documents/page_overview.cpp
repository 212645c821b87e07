#include "report/documents/documents.h"

#include <fmt/format.h>

#include <algorithm>
#include <ranges>

#include "report/format/figures.h"
#include "report/format/request_words.h"
#include "report/sections/sections.h"

namespace llmprof::report {
namespace {

constexpr size_t kPageFindings = 5;

void add_what_ran(const Profile& profile, Document& document) {
  document.paragraph(joined(texts_of(executive_summary(profile)), " "));
  if (profile.stages_found.confidence) {
    document.paragraph(guess_sentence(profile) +
                       "How they were found: " + clause(profile.stages_found.reason.value_or("")));
  }
}

void add_token_rates(const Profile& profile, Document& document) {
  const auto& rates = shown_tokens(profile).output_rates;
  if (!rates) return;
  Table table = table_of("output tokens | #tokens per second");
  if (const auto& all = rates->all_sequences) table.add("of all sequences", in_unit(all));
  if (const auto& own = rates->per_sequence) table.add("per sequence", in_unit(own));
  document.add_filled(std::move(table));
}

void add_stage_walls(const Profile& profile, Document& document) {
  const std::string none = "Not available: " + why_no_stages(profile);
  if (!document.begin(2, "Stages", profile.stages.empty(), none)) return;
  document.add(table_of(
      fmt::format("stage | #{}s measured | #mean wall time without tracing (ms) | #mean wall time, "
                  "traced (ms) | #added by tracing (share of the time without tracing)",
                  instance_name(profile, "instance")),
      profile.stages, [](const Stage& stage) {
        const auto& own = stage.untraced;
        return cells(stage.name, grouped(stage.wall.count),
                     ms(own ? std::optional(own->wall) : std::nullopt), ms(stage.wall.mean),
                     percent(own ? std::optional(own->added_share) : std::nullopt));
      }));
  document.add(BulletList{left_out_words(profile)});
}

void add_uses(const Profile& profile, Document& document) {
  const bool missing = std::ranges::none_of(
      profile.stages, [](const auto& stage) { return stage.mfu.wall || stage.mbu.wall; });
  const std::string why = "Not available: " + why_no_utilization(profile);
  if (!document.begin(2, "MFU and MBU", missing, why)) return;
  document.add(
      use_table("stage | #MFU, of peak FLOP/s on wall time | #MFU on busy time | #MBU, of peak "
                "bandwidth on wall time | #MBU on busy time | bound by | #lower bound (ms)",
                profile));
}

void add_top_findings(const Profile& profile, Document& document) {
  const std::string none = "None: " + why_no_findings(profile);
  if (!document.begin(2, "Findings", profile.findings.empty(), none)) return;
  document.add(table_of(
      "finding | what to do | stage | #potential saving, up to (ms) | per | #share of the "
      "stage's wall time",
      profile.findings,
      [](const Finding& finding) {
        return cells(finding.title, finding.advice, or_missing(finding.stage), ms(finding.saving),
                     per_unit(finding),
                     percent(finding.stage ? std::optional(finding.share_of_wall) : std::nullopt));
      },
      kPageFindings));
  document.paragraph("Savings overlap, so they do not add up.");
}

constexpr std::string_view kTraced = "traced";
constexpr std::string_view kWithoutTracing = "without tracing";

template <class Quantity>
std::optional<double> exact(const std::optional<Quantity>& quantity) {
  return quantity ? std::optional<double>(quantity->value) : std::nullopt;
}

std::string_view tracing_words(bool without) { return without ? kWithoutTracing : kTraced; }

class Headlines {
 public:
  explicit Headlines(const Profile& profile) : profile_(profile), tokens_(shown_tokens(profile)) {}

  std::vector<Headline> take() {
    if (profile_.requests) {
      add_requests(*profile_.requests);
    } else {
      for (const TokenFigure& figure : tokens_.figures) add_time(figure);
      add_rate();
    }
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
    const Stage* const known = find_stage(profile_, stage);
    return known != nullptr && known->shown.without_tracing;
  }

  void add_time(const TokenFigure& figure) {
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

  // What the client saw, without a recorder if there is such a load.
  void add_requests(const Requests& requests) {
    const std::string by = "by the client" + how_recorded(requests);
    const auto figures = figure_times(requests);
    for (const RequestFigureTimes& each : figures | std::views::take(2)) {
      const RequestTimes& times = each.headline();
      if (!times.p50) continue;
      Headline& line =
          add(std::string(in_words(each.figure)), text_of(figure_ms(each.figure, times.p50)),
              exact(times.p50), "ms",
              fmt::format("median of {}, {}", counted(times.count, value_word(each.figure)), by));
      line.beside = {"99th percentile", fmt::format("{} ms", figure_ms(each.figure, times.p99)),
                     exact(times.p99)};
    }
    const RequestLoad& load = headline_load(requests);
    if (load.output_rate) {
      add("output rate", text_of(in_unit(load.output_rate)), exact(load.output_rate), "tokens/s",
          "of completed requests, " + by);
    }
    if (!load.goodput) return;
    Headline& line = add("goodput", text_of(per_second(load.goodput)), load.goodput, "requests/s",
                         "requests that meet all objectives, " + by);
    if (load.completed_rate) {
      line.beside = {"completed", fmt::format("{} requests/s", per_second(load.completed_rate)),
                     load.completed_rate};
    }
  }

  void add_rate() {
    if (!tokens_.output_rates) return;
    const OutputRates& rates = *tokens_.output_rates;
    const bool whole = rates.first == RateOf::all_sequences;
    const auto& shown = whole ? rates.all_sequences : rates.per_sequence;
    if (!shown) return;
    Headline& line = add("output rate", text_of(in_unit(shown)), shown->value, "tokens/s",
                         fmt::format("{}, {}", whole ? "of all sequences" : "per sequence",
                                     tracing_words(rates.without_tracing)));
    if (const auto& own = rates.traced) {
      line.beside = {std::string(kTraced), text_of(in_unit(own)), own->value};
    } else if (const auto& all = rates.all_sequences; all && !whole) {
      line.beside = {"of all sequences", fmt::format("{} tokens/s", in_unit(all)), all->value};
    }
  }

  void add_busy() {
    const auto& shown = tokens_.gpu_busy_share_of_wall;
    if (!shown) return;
    const bool without = any_untraced_times(profile_);
    Headline& line =
        add(fmt::format("{} busy", device_word(profile_)), text_of(percent(shown)), shown->value,
            "", fmt::format("of the stages' wall time, {}", tracing_words(without)));
    if (const auto& own = profile_.token_times.gpu_busy_share_of_wall; without && own) {
      line.beside = {std::string(kTraced), text_of(percent(own)), own->value};
    }
  }

  void add_totals() {
    const Totals& totals = profile_.totals;
    add("kernels", text_of(grouped(totals.kernel_count)), static_cast<double>(totals.kernel_count),
        "", fmt::format("in {}", scope_words(profile_)));
    add("kernel time", text_of(ms(totals.kernel_sum)), totals.kernel_sum.value, "ms",
        "sum of all kernels");
    const auto longest = std::ranges::find(profile_.device_time, true, &DeviceTime::longest);
    if (longest == profile_.device_time.end() || !longest->busy_share_of_span) return;
    const std::string device =
        profile_.device_time.size() > 1 ? fmt::format(" ({})", longest->device) : "";
    add("GPU busy", text_of(percent(longest->busy_share_of_span)),
        longest->busy_share_of_span->value, "",
        fmt::format("of {} ms, first work to last{}", ms(longest->span), device));
  }

  void add_opportunity() {
    const Finding* const first = first_gain(profile_);
    if (first == nullptr) return;
    const bool traced = first->stage && !without_tracing(*first->stage);
    add("largest opportunity", fmt::format("up to {}", ms(first->saving)), first->saving->value,
        "ms",
        fmt::format("{}: {}", joined({per_unit(*first), traced ? "traced" : ""}, ", "),
                    after_colon(first->title)));
  }

  const Profile& profile_;
  const TokenTimesShown& tokens_;
  std::vector<Headline> list_;
};

}  // namespace

std::string page_title(const Profile& profile) {
  std::string model =
      profile.model ? profile.model->name.value_or("LLM inference") : "LLM inference";
  const auto& devices = profile.totals.devices;
  if (devices.empty() || !devices.front().name) return model;
  const uint64_t count = profile.totals.gpu_count;
  return fmt::format("{} on {}{}", model, count > 1 ? fmt::format("{} x ", count) : "",
                     *devices.front().name);
}

Document page_overview(const Profile& profile) {
  Document document;
  document.heading(1, page_title(profile));
  add_damage(profile, document);
  add_selection(profile, document);
  add_section(Topic<"failed captures">(), profile, document);
  add_what_ran(profile, document);
  add_section(Topic<"key figures">(), profile, document);
  if (profile.requests) add_section(Topic<"requests">(), profile, document);
  if (profile.memory_ledger) add_section(Topic<"memory ledger">(), profile, document);
  if (profile.memory) add_section(Topic<"memory">(), profile, document);
  add_token_rates(profile, document);
  add_stage_walls(profile, document);
  add_uses(profile, document);
  add_section(Topic<"time budget">(), profile, document);
  add_section(Topic<"job">(), profile, document);
  add_top_findings(profile, document);
  if (profile.coverage) document.begin(2, "Coverage", true, coverage_sentence(profile));
  add_section(Topic<"overhead">(), profile, document);
  add_section(Topic<"captures">(), profile, document);
  add_section(Topic<"engine">(), profile, document);
  add_section(Topic<"diagnostics">(), profile, document);
  return document;
}

std::vector<Headline> headlines(const Profile& profile) { return Headlines(profile).take(); }

}  // namespace llmprof::report
