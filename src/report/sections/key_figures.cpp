#include <fmt/format.h>

#include "report/format/figures.h"
#include "report/sections/section_words.h"
#include "report/sections/sections.h"

namespace llmprof::report {
namespace {

void add_times(const profile::Profile& profile, std::vector<Row>& rows) {
  const profile::TokenTimesShown& times = shown_tokens(profile);
  for (const profile::TokenFigure& figure : times.figures) {
    const TokenFigureWords words = token_figure_words(profile, figure);
    rows.push_back({words.name, words.text + " ms", words.of});
  }
  if (times.typical_request) {
    rows.push_back({"request", fmt::format("{} ms", ms(times.typical_request)),
                    "mean prefill plus mean decode"});
  }
  if (times.gpu_busy_share_of_wall) {
    rows.push_back({fmt::format("{} busy", device_word(profile)),
                    percent(times.gpu_busy_share_of_wall), "of the stages' wall time"});
  }
}

void add_uses(const profile::Profile& profile, std::vector<Row>& rows) {
  for (const profile::Stage& stage : profile.stages) {
    if (!stage.shown.bound) continue;
    const bool memory = stage.shown.bound == profile::Bound::memory;
    rows.push_back(
        {fmt::format("{} of {}", memory ? "MBU" : "MFU", stage.name),
         percent(stage.shown.use_at_bound),
         fmt::format("of {}peak {}, on wall time", on_cpu(profile) ? "the CPU's measured " : "",
                     memory ? "memory bandwidth" : "FLOP/s")});
  }
}

}  // namespace

void add_section(Topic<"key figures"> /*topic*/, const Profile& profile, Document& document) {
  Table table = table_of("figure | #value | of");
  add_times(profile, table.rows);
  add_uses(profile, table.rows);
  if (const profile::Finding* first = first_gain(profile)) {
    table.rows.push_back({"largest opportunity", fmt::format("up to {} ms", ms(first->recoverable)),
                          fmt::format("{}: {}", per_unit(*first), after_colon(first->title))});
  }
  const std::string scope = fmt::format("in {}", scope_words(profile));
  table.rows.push_back({"kernels", grouped(profile.totals.kernel_count), scope});
  table.rows.push_back({"kernel time", fmt::format("{} ms", ms(profile.totals.kernel_sum)), scope});
  if (covered_share(profile) && !profile.stages.empty()) {
    table.rows.push_back(
        {"coverage", percent(covered_share(profile)), "of kernel time is inside stages"});
  }
  document.add(Heading{2, "Key figures"});
  document.add(std::move(table));
  document.add(Paragraph{times_words(profile)});
  document.add(Paragraph{mean_caveats(profile)});
  document.add(Callout{Callout::Kind::warning, hidden_graphs_sentence(profile)});
}

std::string hidden_graphs_sentence(const profile::Profile& profile) {
  if (!profile.totals.hidden_graphs) return {};
  const profile::HiddenGraphs& hidden = *profile.totals.hidden_graphs;
  return fmt::format(
      "Kernels inside CUDA graphs are missing: {}{} ({} ms, {} of the time of kernels and graph "
      "replays) were recorded as wholes. Record again with `nsys profile --cuda-graph-trace=node` "
      "to see their kernels.",
      counted(hidden.replays, "graph replay"),
      hidden.launched_in ? fmt::format(" launched in {}", *hidden.launched_in) : "",
      ms(hidden.total), percent(hidden.share_of_gpu_time));
}

}  // namespace llmprof::report
