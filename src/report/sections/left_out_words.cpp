#include "report/sections/section_words.h"

#include <fmt/format.h>

#include <algorithm>

#include "report/format/figures.h"
#include "report/format/words.h"

namespace llmprof::report {
namespace {

constexpr size_t kShownInstances = 5;

std::string why_words(const profile::Instance& instance) {
  std::string text(in_words(instance.warmup_reason.value_or(profile::WarmupReason::told)));
  if (instance.captures_graph) text += "; a CUDA graph is captured in it";
  return text;
}

std::string graph_capture_words(const profile::Stage& stage) {
  if (!stage.wall_with_captures) return {};
  return fmt::format(
      "A program's own clock may count the {} in which it captures a CUDA graph: the recorded mean "
      "with it is {} ms.",
      stage.name, ms(stage.wall_with_captures));
}

std::string cold_words(const profile::Stage& stage) {
  if (!stage.only_the_first) return {};
  const std::string what =
      stage.instance_count == 1
          ? fmt::format("The only {} that was recorded is the program's first", stage.name)
          : fmt::format("The only {} instances of {} that were recorded are the program's first",
                        stage.instance_count, stage.name);
  if (stage.unwatched) {
    return fmt::format(
        "{}: recorded kernels are those of a cold start; the time without tracing is of later "
        "ones.",
        what);
  }
  return fmt::format("{}: times of {} are those of a cold start.", what, stage.name);
}

}  // namespace

std::vector<std::string> left_out_words(const profile::Profile& profile) {
  std::vector<std::string> all;
  if (is_serving(profile)) return all;
  for (const profile::Stage& stage : profile.stages) {
    std::string each;
    size_t count = 0;
    for (size_t i = 0; i < stage.instances.size(); ++i) {
      const profile::Instance& instance = stage.instances[i];
      if (!instance.warmup || ++count > kShownInstances) continue;
      each += fmt::format("{}instance {}, {} ms ({})", each.empty() ? "" : "; ", i,
                          ms(instance.wall), why_words(instance));
    }
    if (count == 0) continue;
    if (count > kShownInstances) each += fmt::format("; {} more", count - kShownInstances);
    const std::string captures = graph_capture_words(stage);
    all.push_back(fmt::format("Left out of {} as warm-up, times as recorded: {}.{}{}", stage.name,
                              each, captures.empty() ? "" : " ", captures));
  }
  return all;
}

std::string mean_caveats(const profile::Profile& profile) {
  std::string text;
  for (const profile::Stage& stage : profile.stages) {
    for (const std::string& words : {graph_capture_words(stage), cold_words(stage)}) {
      if (words.empty()) continue;
      if (!text.empty()) text += " ";
      text += words;
    }
  }
  return text;
}

}  // namespace llmprof::report
