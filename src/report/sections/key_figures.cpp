#include <fmt/format.h>

#include "report/numbers.h"
#include "report/sections/sections.h"

namespace llmprof {
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

void add_times(const Reported& reported, Figures& figures) {
  const Stages& stages = reported.profile.stages;
  const Facts& facts = reported.facts;
  if (stages.time_to_first_token) {
    figures.add("time to first token", ms(stages.time_to_first_token->mean) + " ms",
                fmt::format("mean of {}", counted(stages.time_to_first_token->count, "prefill")));
  }
  if (stages.time_per_output_token) {
    figures.add("time per output token", ms(stages.time_per_output_token->mean) + " ms",
                fmt::format("mean of {}", counted(stages.time_per_output_token->count, "decode")));
  }
  if (facts.request) figures.add("request", ms(facts.request) + " ms", "prefill and decode, means");
  if (facts.busy_share) {
    figures.add("GPU busy", percent(facts.busy_share), "of the stages' wall time");
  }
}

void add_uses(const Reported& reported, Figures& figures) {
  for (size_t i = 0; i < reported.stages.size(); ++i) {
    const StageUtilization* use = reported.facts.stages[i].utilization;
    if (use == nullptr || !use->floor) continue;
    const auto& figure = use->memory_bound ? use->mbu_wall : use->mfu_wall;
    if (!figure) continue;
    figures.add(fmt::format("{} of {}", use->memory_bound ? "MBU" : "MFU", reported.stages[i].name),
                percent(figure),
                use->memory_bound ? "of peak memory bandwidth, on wall time"
                                  : "of peak FLOP/s, on wall time");
  }
}

}  // namespace

void add_key_figures(const Reported& reported, Document& document) {
  const Profile& profile = reported.profile;
  Figures figures;
  add_times(reported, figures);
  add_uses(reported, figures);
  if (!profile.findings.empty()) {
    const Finding& first = profile.findings.front();
    figures.add("most to gain", ms(first.recoverable) + " ms",
                fmt::format("{}, at the most: {}", instance_words(profile), first.title));
  }
  figures.add("kernels", grouped(profile.totals.kernel_count), "in the whole capture");
  figures.add("kernel time", ms(profile.totals.kernel_sum) + " ms", "in the whole capture");
  if (reported.facts.time_in_stages) {
    figures.add("coverage", percent(reported.facts.time_in_stages),
                "of kernel time is inside stages");
  }
  document.add(Heading{2, "Key figures"});
  document.add(figures.take());
  if (profile.hidden_graphs) {
    document.add(Callout{Callout::Kind::warning, sentence(profile.hidden_graphs->message)});
  }
}

}  // namespace llmprof
