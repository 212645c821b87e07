#include <fmt/format.h>

#include "report/numbers.h"
#include "report/sections/sections.h"
#include "report/typical.h"

namespace llmprof::report {
namespace {

class Figures {
 public:
  Figures() { table_.columns = {text_column("figure"), number_column("value"), text_column("of")}; }
  void add(std::string figure, std::string value, std::string of) {
    table_.rows.push_back({std::move(figure), std::move(value), std::move(of)});
  }
  Table take() { return std::move(table_); }

 private:
  Table table_;
};

// The mean, or where that says little the median; of a few values the range.
void add_typical(std::string figure, const analysis::Statistics& times, std::string_view one,
                 Figures& figures) {
  const std::string of =
      counted(times.count, one, one.starts_with("decode step") ? "decode steps of the engine" : "");
  if (widely_spread(times) && is_few(times)) {
    figures.add(std::move(figure), range_ms(times) + " ms", "of " + of);
  } else if (widely_spread(times)) {
    figures.add(std::move(figure), ms(times.p50) + " ms",
                fmt::format("median of {}; {} ms", of, range_ms(times)));
  } else {
    figures.add(std::move(figure), ms(times.mean) + " ms", "mean of " + of);
  }
}

void add_times(const Reported& reported, Figures& figures) {
  const analysis::Stages& stages = reported.profile.stages;
  const Facts& facts = reported.facts;
  if (stages.time_to_first_token) {
    add_typical("time to first token", *stages.time_to_first_token, "prefill", figures);
  }
  if (stages.time_per_output_token) {
    add_typical("time per output token", *stages.time_per_output_token,
                stages.serving ? "decode step of the engine" : "decode", figures);
  }
  if (facts.request && !facts.request_spread) {
    figures.add("request", ms(facts.request) + " ms", "prefill and decode, means");
  }
  if (facts.busy_share) {
    figures.add(fmt::format("{} busy", reported.words().device), percent(facts.busy_share),
                "of the stages' wall time");
  }
}

void add_uses(const Reported& reported, Figures& figures) {
  for (size_t i = 0; i < reported.stages.size(); ++i) {
    const analysis::StageUtilization* use = reported.facts.stages[i].utilization;
    if (!bound_is_known(use)) continue;
    const auto& figure = use->memory_bound ? use->mbu_wall : use->mfu_wall;
    figures.add(
        fmt::format("{} of {}", use->memory_bound ? "MBU" : "MFU", reported.stages[i].name),
        percent(figure),
        fmt::format("of {}peak {}, on wall time",
                    reported.profile.device == trace::DeviceKind::cpu ? "the CPU's measured " : "",
                    use->memory_bound ? "memory bandwidth" : "FLOP/s"));
  }
}

}  // namespace

void add_key_figures(const Reported& reported, Document& document) {
  const analysis::Profile& profile = reported.profile;
  Figures figures;
  add_times(reported, figures);
  add_uses(reported, figures);
  if (const analysis::Finding* first = analysis::first_gain(profile.findings)) {
    figures.add("most to gain", ms(first->recoverable) + " ms",
                fmt::format("{}, at the most: {}", instance_words(profile), first->title));
  }
  figures.add("kernels", grouped(profile.totals.kernel_count),
              fmt::format("in {}", scope_words(profile)));
  figures.add("kernel time", ms(profile.totals.kernel_sum) + " ms",
              fmt::format("in {}", scope_words(profile)));
  if (reported.facts.time_in_stages && !reported.stages.empty()) {
    figures.add("coverage", percent(reported.facts.time_in_stages),
                "of kernel time is inside stages");
  }
  document.add(Heading{2, "Key figures"});
  document.add(figures.take());
  if (profile.hidden_graphs) {
    document.add(Callout{Callout::Kind::warning, sentence(profile.hidden_graphs->message)});
  }
}

}  // namespace llmprof::report
