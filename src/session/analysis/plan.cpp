#include "session/analysis/plan.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <utility>

#include "base/text.h"
#include "config/conf_files.h"
#include "llm/hugging_face_config.h"
#include "session/analysis/overhead.h"
#include "session/bundle/captures_record.h"

namespace llmprof::session {
namespace {

// The run folder that all inputs come from; empty where they come from elsewhere.
std::filesystem::path run_folder(const AnalyzeOptions& options) {
  const bool one_run = options.inputs.size() == 1 && is_run_folder(options.inputs.front());
  return one_run ? options.inputs.front() : std::filesystem::path();
}

Result<analysis::AnalysisRules> load_rules(const config::ConfFiles& conf) {
  auto kernels = analysis::KernelRules::load(conf);
  if (!kernels) return fail_with(kernels.error());
  auto stages = analysis::StageRules::load(conf);
  if (!stages) return fail_with(stages.error());
  auto gpus = llm::GpuSpecs::load(conf);
  if (!gpus) return fail_with(gpus.error());
  auto engines = analysis::EngineRules::load(conf);
  if (!engines) return fail_with(engines.error());
  return analysis::AnalysisRules{std::move(*kernels), std::move(*stages), std::move(*gpus),
                                 std::move(*engines)};
}

LoadingRules begin_to_load_rules(const config::ConfFiles& conf) {
  using Rules = std::shared_ptr<const analysis::AnalysisRules>;
  return std::async(std::launch::async, [conf]() -> Result<Rules> {
    auto rules = load_rules(conf);
    if (!rules) return fail_with(rules.error());
    return std::make_shared<const analysis::AnalysisRules>(std::move(*rules));
  });
}

Result<void> check_gpu(const AnalyzeOptions& options, const llm::GpuSpecs& gpus) {
  const auto& gpu = options.requested.gpu;
  if (!gpu || gpus.find(*gpu)) return {};
  return fail(ErrorKind::usage, fmt::format("unknown value '{}' for --gpu; available: {}. Others "
                                            "are added in gpus.yaml (--config-dir)",
                                            to_printable(*gpu), fmt::join(gpus.names(), ", ")));
}

// What can be wrong with the user's own files, or with what is looked up in ours.
Result<void> check_rules(const AnalyzeOptions& options, const LoadingRules& loading) {
  if (!options.config_folder && !options.requested.gpu) return {};
  const auto& rules = loading.get();
  if (!rules) return fail_with(rules.error());
  return check_gpu(options, (*rules)->gpus);
}

Result<analysis::AnalysisOptions> requested_analysis(const AnalyzeOptions& options) {
  analysis::AnalysisOptions requested = options.requested;
  if (options.steps) {
    const auto steps = analysis::parse_step_range(*options.steps);
    if (!steps) return fail_with(steps.error());
    requested.selection.steps = *steps;
  }
  return requested;
}

void add_run_records(const std::filesystem::path& run, const config::ConfFiles& conf,
                     AnalysisPlan& plan) {
  plan.run = read_run_inputs(run, conf, plan.notes);
  plan.options.model = plan.run.model;
  plan.options.workload.command = plan.run.command;
  CapturesRecord captures = read_captures_record(run, plan.notes);
  plan.options.run.captures_failed = std::move(captures.failures);
  plan.options.run.overhead = measure_overhead(run);
  plan.options.run.load = machine_load(run);
  plan.notes.merge(captures.notes);
}

// The user's word, instead of what a run recorded.
Result<void> add_named_model(const AnalyzeOptions& options, const config::ConfFiles& conf,
                             AnalysisPlan& plan) {
  if (!options.model) return {};
  auto model = llm::load_model_spec(*options.model, conf);
  if (!model) return fail_with(model.error());
  plan.options.model = std::move(*model);
  return {};
}

void complete_workload(const std::optional<trace::WorkloadMetrics>& metrics, const RunInputs& run,
                       analysis::Workload& workload) {
  const auto fill = [](std::optional<analysis::TokenCount>& into, bool measured,
                       const std::optional<uint64_t>& from) {
    if (!into && !measured && from) into = analysis::TokenCount{*from, "the run's inputs.yaml"};
  };
  fill(workload.prompt_tokens, metrics && metrics->prompt_tokens, run.prompt_tokens);
  fill(workload.new_tokens, metrics && metrics->new_tokens, run.new_tokens);
  fill(workload.batch, metrics && metrics->batch, run.batch);
}

// The model that the workload recorded with its times, where the user named none.
void complete_model(const std::optional<trace::WorkloadMetrics>& metrics, Diagnostics& diagnostics,
                    std::optional<llm::ModelSpec>& model) {
  if (model || !metrics || metrics->model_config.empty()) return;
  auto spec = llm::parse_hugging_face_config(metrics->model_config, metrics->path);
  if (!spec) {
    diagnostics.warn("model_of_workload_unusable",
                     fmt::format("{}: its model configuration cannot be used: {}", metrics->path,
                                 spec.error().message));
    return;
  }
  if (!metrics->model.empty()) spec->name = metrics->model;
  model = std::move(*spec);
}

}  // namespace

Result<analysis::AnalysisRules> load_analysis_rules(
    const std::optional<std::filesystem::path>& config_folder) {
  const auto conf = config::ConfFiles::open(config_folder);
  if (!conf) return fail_with(conf.error());
  return load_rules(*conf);
}

Result<AnalysisPlan> plan_analysis(const AnalyzeOptions& options) {
  Diagnostics notes;
  auto inputs = expand_inputs(options.inputs, notes);
  if (!inputs) return fail_with(inputs.error());
  const auto conf = config::ConfFiles::open(options.config_folder);
  if (!conf) return fail_with(conf.error());
  LoadingRules rules = begin_to_load_rules(*conf);
  if (auto done = check_rules(options, rules); !done) return fail_with(done.error());
  auto requested = requested_analysis(options);
  if (!requested) return fail_with(requested.error());
  AnalysisPlan plan{
      std::move(*inputs), {}, std::move(rules), std::move(*requested), std::move(notes)};
  if (const auto run = run_folder(options); !run.empty()) add_run_records(run, *conf, plan);
  if (auto done = add_named_model(options, *conf, plan); !done) return fail_with(done.error());
  return plan;
}

Result<void> read_run_records(const std::filesystem::path& run, const AnalyzeOptions& options,
                              AnalysisPlan& plan) {
  const auto conf = config::ConfFiles::open(options.config_folder);
  if (!conf) return fail_with(conf.error());
  add_run_records(run, *conf, plan);
  return add_named_model(options, *conf, plan);
}

void complete_plan(const std::optional<trace::WorkloadMetrics>& metrics, AnalysisPlan& plan) {
  complete_workload(metrics, plan.run, plan.options.workload);
  complete_model(metrics, plan.notes, plan.options.model);
}

}  // namespace llmprof::session
