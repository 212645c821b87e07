#include <fmt/format.h>

#include <map>
#include <nlohmann/json.hpp>

#include "exports/exports.h"
#include "exports/kernel_stacks.h"

namespace llmprof::exports {
namespace {

using Json = nlohmann::ordered_json;

class FlameGraph {
 public:
  Json of(const std::vector<KernelStack>& stacks, std::string_view tool_version) {
    std::map<std::string, std::vector<const KernelStack*>> devices;
    for (const KernelStack& stack : stacks) devices[stack.device].push_back(&stack);
    Json profiles = Json::array();
    for (const auto& [device, own] : devices) profiles.push_back(profile_of(device, own));
    Json frames = Json::array();
    for (size_t i = 0; i < frames_.size(); ++i) {
      frames.push_back({{"name", frames_[trace::StringId(i)]}});
    }
    return {{"$schema", "https://www.speedscope.app/file-format-schema.json"},
            {"exporter", fmt::format("llmprof {}", tool_version)},
            {"name", "Kernel time by stage, layer, class and kernel"},
            {"activeProfileIndex", 0},
            {"shared", {{"frames", std::move(frames)}}},
            {"profiles", std::move(profiles)}};
  }

 private:
  Json profile_of(const std::string& device, const std::vector<const KernelStack*>& stacks) {
    Json samples = Json::array();
    Json weights = Json::array();
    Nanoseconds total = 0;
    for (const KernelStack* const stack : stacks) {
      if (stack->work.time <= 0) continue;
      Json sample = Json::array();  // frame numbers
      for (const std::string& frame : stack->frames) sample.push_back(frames_.intern(frame).value);
      samples.push_back(std::move(sample));
      weights.push_back(stack->work.time);
      total += stack->work.time;
    }
    return {{"type", "sampled"},
            {"name", device},
            {"unit", "nanoseconds"},
            {"startValue", 0},
            {"endValue", total},
            {"samples", std::move(samples)},
            {"weights", std::move(weights)}};
  }

  trace::StringPool frames_;  // of all profiles, each distinct name once
};

}  // namespace

Result<ExportedText> speedscope_profile(const ExportSources& sources,
                                        std::string_view tool_version) {
  if (sources.front().results.ranking.rows.empty()) {
    return fail_input("no kernels to export: these captures hold none; record them again");
  }
  const Json graph = FlameGraph().of(kernel_stacks(sources.front()), tool_version);
  return ExportedText{graph.dump(-1, ' ', false, Json::error_handler_t::replace) + "\n", {}};
}

}  // namespace llmprof::exports
