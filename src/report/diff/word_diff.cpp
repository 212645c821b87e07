#include "report/diff/diff_words.h"

#include <fmt/format.h>

#include <array>
#include <utility>

#include "report/format/figures.h"

namespace llmprof::report {
namespace {

constexpr std::array<std::pair<std::string_view, std::string_view>, 26> kAspectWords = {{
    {"device_kind", "the kind of device"},
    {"gpu", "the processor"},
    {"gpu_count", "the number of devices"},
    {"ranks", "the ranks of the job"},
    {"clocks", "the mean SM clock"},
    {"driver", "the GPU driver"},
    {"cuda", "the CUDA version"},
    {"throttling", "steps with clocks lowered by heat, power or hardware"},
    {"model", "the model"},
    {"dtype", "the number formats"},
    {"prompt_tokens", "prompt tokens per sequence"},
    {"new_tokens", "new tokens per sequence"},
    {"batch", "the batch"},
    {"parallelism", "the parallelism"},
    {"selection", "the selected part"},
    {"engine", "the engine"},
    {"kernel_source", "source of kernel times"},
    {"recording", "the recording tool"},
    {"recording_version", "the version of the recording tool"},
    {"hidden_graphs", "detail recorded of CUDA graphs"},
    {"stage_source", "how stages were found"},
    {"stages", "the stages"},
    {"coverage", "the coverage by stages"},
    {"unwatched", "the time without profiling"},
    {"cpu_peaks",
     "the measured peaks of the CPU (MFU and MBU are of the higher ones on both sides)"},
    {"shared_cpus", "CPUs used by other programs during the run"},
}};

std::string aspect_words(const compare::Aspect& aspect) {
  std::string name = aspect.aspect;
  for (const auto& [known, words] : kAspectWords) {
    if (known == aspect.aspect) name = words;
  }
  const std::string both =
      fmt::format("{}: base {}, new {}", name, or_missing(aspect.base), or_missing(aspect.now));
  return aspect.blocking ? fmt::format("Not comparable: {}.", both)
                         : fmt::format("Different: {}.", both);
}

std::string limit_words(const compare::GateResult& gate) {
  std::string words;
  if (gate.relative_limit) words = text_of(change(gate.relative_limit));
  if (gate.absolute_limit) {
    words += fmt::format("{}{} ms", words.empty() ? "" : " and ", time_change(gate.absolute_limit));
  }
  return words;
}

std::string gate_words(const compare::GateResult& gate, const compare::Diff& diff) {
  if (!gate.measured) {
    return diff.verdict == compare::Verdict::not_comparable
               ? std::string("the sides are not comparable")
               : std::string(
                     "no stage of both sides has this quantity in steps or instances that "
                     "can be compared");
  }
  const compare::Comparison& measured = *gate.measured;
  const std::string interval = interval_words(measured);
  const std::string found =
      fmt::format("{}: {}: {}{}", gate.stage, quantity_words(measured, is_of_cpu(diff)),
                  change_words(measured), interval.empty() ? "" : fmt::format(" ({})", interval));
  if (gate.outcome == compare::Verdict::fail) {
    return fmt::format("{}: beyond {} and noise", found, limit_words(gate));
  }
  if (gate.outcome == compare::Verdict::pass)
    return fmt::format("{}: within {}", found, limit_words(gate));
  if (!measured.low) return fmt::format("{}: {}", found, why_not_words(measured));
  return fmt::format("{}: the interval includes {}; record more runs (`llmprof run --repeat 5`)",
                     found, limit_words(gate));
}

}  // namespace

void word_diff(compare::Diff& diff) {
  for (compare::Aspect& aspect : diff.aspects) aspect.text = aspect_words(aspect);
  for (compare::GateResult& gate : diff.gates) gate.text = gate_words(gate, diff);
  for (compare::StageDiff& stage : diff.stages) stage.why = why_words(diff, stage);
  diff.summary = summary_words(diff);
}

}  // namespace llmprof::report
