#include "session/analyze.h"

#include <fmt/format.h>

#include <utility>

#include "base/byte_stream.h"
#include "base/files.h"
#include "capture/convert.h"
#include "config/conf_files.h"
#include "readers/detect.h"
#include "report/bundle_reports.h"
#include "session/inputs.h"
#include "session/run_dir.h"

namespace llmprof {
namespace {

// Makes the bundle's folder when the first file goes into it.
class BundleFolder {
 public:
  explicit BundleFolder(const AnalyzeOptions& options)
      : wanted_(options.out), force_(options.force) {}

  // Again and again the same folder, made anew where it was removed because it was empty.
  Result<Artifacts> open() {
    auto artifacts = wanted_ ? Artifacts::create(*wanted_, force_)
                             : Artifacts::create_fresh(std::filesystem::path("tmp") / "analyze");
    if (artifacts) {
      wanted_ = artifacts->root();
      force_ = true;
    }
    return artifacts;
  }

 private:
  std::optional<std::filesystem::path> wanted_;
  bool force_;
};

// Where reports are converted to; gone when the reading is done, because nsys puts the program's
// whole environment into its exports.
class ConversionFolder {
 public:
  static Result<ConversionFolder> open(BundleFolder& bundle) {
    auto artifacts = bundle.open();
    if (!artifacts) return fail_with(artifacts.error());
    auto folder = Artifacts::create(artifacts->path("converting.tmp"), true);
    if (!folder) return fail_with(folder.error());
    return ConversionFolder(folder->root());
  }
  ConversionFolder(ConversionFolder&& other) noexcept : path_(std::exchange(other.path_, {})) {}
  ConversionFolder& operator=(ConversionFolder&&) = delete;
  ConversionFolder(const ConversionFolder&) = delete;
  ConversionFolder& operator=(const ConversionFolder&) = delete;
  ~ConversionFolder() {
    std::error_code ignored;
    if (path_.empty()) return;
    std::filesystem::remove_all(path_, ignored);
    std::filesystem::remove(path_.parent_path(),
                            ignored);  // the bundle, where nothing else is in it
  }

  [[nodiscard]] const std::filesystem::path& path() const { return path_; }

 private:
  explicit ConversionFolder(std::filesystem::path path) : path_(std::move(path)) {}
  std::filesystem::path path_;
};

// Reads with whichever reader recognises the content; none where nobody does.
std::optional<Result<void>> read_recognised(const std::filesystem::path& path,
                                            std::string_view head, TraceBuilder& builder,
                                            const Progress& progress) {
  const Reader* reader = find_reader(head);
  if (reader == nullptr) return std::nullopt;
  progress(fmt::format("reading {} ({})", path.string(), reader->format));
  return reader->read(path, builder);
}

Result<void> read_report(const std::filesystem::path& report, ReportKind kind,
                         TraceBuilder& builder, BundleFolder& bundle, const Progress& progress) {
  progress(fmt::format("converting {}", report.string()));
  auto folder = ConversionFolder::open(bundle);
  if (!folder) return fail_with(folder.error());
  const auto converted = convert_report(report, kind, folder->path());
  if (!converted) return fail_with(converted.error());
  const auto head = read_head(*converted, kHeadBytes);
  if (!head) return fail_with(head.error());
  const size_t before = builder.trace().captures.size();
  const auto done = read_recognised(*converted, *head, builder, progress);
  if (!done) return fail_with(unreadable(report, *head));
  // The converted file is gone soon; the capture is the report.
  auto& captures = builder.trace().captures;
  for (size_t i = before; i < captures.size(); ++i) captures[i].path = report.string();
  return *done;
}

Result<void> read_input(const Input& input, TraceBuilder& builder, BundleFolder& bundle,
                        const Progress& progress) {
  const auto head = read_head(input.path, kHeadBytes);
  if (!head) return fail_with(head.error());
  if (auto done = read_recognised(input.path, *head, builder, progress)) return *done;
  if (const auto kind = report_kind(input.path, *head)) {
    return read_report(input.path, *kind, builder, bundle, progress);
  }
  return fail_with(unreadable(input.path, *head));
}

// Reads all that can be read. A file that the user named and that cannot be read makes the result
// incomplete; one that only lay in a named folder is a note.
Result<std::optional<Error>> read_inputs(const std::vector<Input>& inputs, TraceBuilder& builder,
                                         BundleFolder& bundle, const Progress& progress) {
  std::optional<Error> incomplete;
  std::optional<Error> passed_over;
  size_t read = 0;
  for (const Input& input : inputs) {
    const auto done = read_input(input, builder, bundle, progress);
    if (done) {
      ++read;
      continue;
    }
    const Error& error = done.error();
    if (input.named) {
      builder.diagnostics().error("input_unreadable", error.message);
      if (!incomplete) incomplete = error;
    } else {
      builder.diagnostics().info("file_passed_over", error.message);
      if (!passed_over) passed_over = error;
    }
  }
  if (read > 0) return incomplete;
  return fail_with(incomplete ? *incomplete : *passed_over);
}

// Why there is no kernel to rank, from what the readers noticed.
Error nothing_to_rank(const Profile& profile) {
  const Trace& trace = *profile.trace;
  std::string files;
  for (const Capture& capture : trace.captures) {
    if (!files.empty()) files += ", ";
    files += capture.path;
  }
  std::string message = fmt::format("{}: no kernels to analyse", files);
  if (trace.profiled_launches.size() > 0) {
    message += fmt::format(
        "\n  {} launches were profiled, but not their durations; profile again with `--metrics "
        "gpu__time_duration.sum` or `--section SpeedOfLight`",
        trace.profiled_launches.size());
  } else if (!trace.call_summaries.empty()) {
    message +=
        "\n  the file holds reports on ranges or API calls only; add a kernel report: `nsys stats "
        "--report cuda_gpu_kern_sum --format csv REPORT.nsys-rep`";
  } else if (trace.workload) {
    message +=
        "\n  Stage 1 metrics are what the workload measured of itself; name a capture of the same "
        "program beside them (nsys, ncu, or a PyTorch trace)";
  }
  for (const Diagnostic& item : profile.diagnostics.items()) {
    if (item.severity != Severity::info) message += "\n  " + item.message;
  }
  return {ErrorKind::input, message};
}

struct Plan {
  std::vector<Input> inputs;
  AnalysisRules rules;
  AnalysisOptions options;
};

AnalysisOptions wanted_analysis(const AnalyzeOptions& options) {
  AnalysisOptions wanted;
  wanted.use_annotations = options.use_annotations;
  wanted.gpu = options.gpu;
  wanted.selection.device = options.device;
  wanted.selection.stage = options.stage;
  const auto told = [](const std::optional<uint64_t>& value, std::string flag) {
    return value ? std::optional<TokenCount>({*value, std::move(flag)}) : std::nullopt;
  };
  wanted.workload.prompt_tokens = told(options.prompt_tokens, "--prompt-tokens");
  wanted.workload.new_tokens = told(options.new_tokens, "--new-tokens");
  wanted.workload.batch = told(options.batch, "--batch");
  wanted.workload.parallel = {options.tp, options.pp, options.ep};
  return wanted;
}

// Everything that can be wrong with the request itself, before a large file is read for it.
Result<Plan> plan_analysis(const AnalyzeOptions& options) {
  auto inputs = expand_inputs(options.inputs);
  if (!inputs) return fail_with(inputs.error());
  const auto conf = ConfFiles::open(options.config_folder);
  if (!conf) return fail_with(conf.error());
  auto kernels = KernelRules::load(*conf);
  if (!kernels) return fail_with(kernels.error());
  auto stages = StageRules::load(*conf);
  if (!stages) return fail_with(stages.error());
  auto gpus = GpuSpecs::load(*conf);
  if (!gpus) return fail_with(gpus.error());
  Plan plan{std::move(*inputs),
            {std::move(*kernels), std::move(*stages), std::move(*gpus)},
            wanted_analysis(options)};
  if (options.steps) {
    const auto steps = parse_step_range(*options.steps);
    if (!steps) return fail_with(steps.error());
    plan.options.selection.steps = *steps;
  }
  if (options.model) {
    auto model = load_model_spec(*options.model, *conf);
    if (!model) return fail_with(model.error());
    plan.options.model = std::move(*model);
  }
  return plan;
}

}  // namespace

Result<Analysis> analyze(const AnalyzeOptions& options, std::string_view version,
                         const Progress& progress) {
  auto plan = plan_analysis(options);
  if (!plan) return fail_with(plan.error());
  BundleFolder bundle(options);
  TraceBuilder builder;
  auto incomplete = read_inputs(plan->inputs, builder, bundle, progress);
  if (!incomplete) return fail_with(incomplete.error());

  Analysis analysis;
  analysis.incomplete = std::move(*incomplete);
  auto trace = std::make_unique<Trace>(std::move(builder).freeze());
  progress("analysing");
  auto profile = analyse(*trace, plan->rules, plan->options);
  if (!profile) return fail_with(profile.error());
  analysis.trace = std::move(trace);
  analysis.profile = std::move(*profile);
  if (analysis.profile.ranking.rows.empty()) return fail_with(nothing_to_rank(analysis.profile));

  progress("writing the bundle");
  auto artifacts = bundle.open();
  if (!artifacts) return fail_with(artifacts.error());
  analysis.folder = artifacts->root();
  auto written =
      write_reports(analysis.profile, analysis.folder, version, options.top.value_or(kAllKernels));
  if (!written) return fail_with(written.error());
  analysis.files = std::move(written->files);
  analysis.json = std::move(written->json);
  return analysis;
}

}  // namespace llmprof
