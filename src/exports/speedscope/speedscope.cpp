#include "exports/exports.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <nlohmann/json.hpp>

#include "analysis/ranking/kernel_table.h"
#include "exports/shared_rows.h"

namespace llmprof::exports {
namespace {

using Json = nlohmann::ordered_json;
// What a kernel's time is attributed to. Ordered like the stages, layers, classes and kernels in
// reports.
struct Place {
  uint32_t stage = kNowhere;
  bool warmup = false;
  uint32_t layer = kNowhere;
  uint32_t class_rank = 0;
  uint32_t row = 0;  // of the ranking

  static constexpr uint32_t kNowhere = UINT32_MAX;
  friend auto operator<=>(const Place&, const Place&) = default;
};

class FlameGraph {
 public:
  FlameGraph(const ExportSource& source, std::string_view tool_version)
      : trace_(source.trace), results_(source.results), version_(tool_version) {
    const analysis::KernelRanking& ranking = results_.ranking;
    std::map<analysis::KernelClass, uint32_t> ranks;
    for (const auto& row : analysis::ranked_classes(ranking, results_.opened)) {
      ranks.emplace(row.kernel_class, static_cast<uint32_t>(ranks.size()));
    }
    for (const analysis::KernelRow& row : ranking.rows) {
      class_rank_.push_back(ranks[row.description.kernel_class]);
    }
    layered_.resize(results_.stages.stages.size(), false);
  }

  Json run() {
    if (results_.ranking.source == analysis::KernelSource::timeline) {
      add_timeline();
    } else {
      add_ranking();
    }
    Json profiles = Json::array();
    for (const auto& [device, places] : devices_) profiles.push_back(profile_of(device, places));
    Json frames = Json::array();
    for (size_t i = 0; i < frames_.size(); ++i) {
      frames.push_back({{"name", frames_[trace::StringId(i)]}});
    }
    return {{"$schema", "https://www.speedscope.app/file-format-schema.json"},
            {"exporter", fmt::format("llmprof {}", version_)},
            {"name", "Kernel time by stage, layer, class and kernel"},
            {"activeProfileIndex", 0},
            {"shared", {{"frames", std::move(frames)}}},
            {"profiles", std::move(profiles)}};
  }

 private:
  using Places = std::map<Place, Nanoseconds>;

  void add_timeline() {
    const trace::KernelTable& kernels = trace_.kernels;
    for (size_t i = 0; i < kernels.size(); ++i) {
      const uint32_t row = results_.ranking.row_of(i);
      if (row == analysis::KernelRanking::kNoRow) continue;
      Place place{.class_rank = class_rank_[row], .row = row};
      const auto& owners = results_.stages.owners.kernel_instance;
      const analysis::InstanceId owner = i < owners.size() ? owners[i] : analysis::InstanceId();
      if (owner.valid()) {
        place.stage = results_.stages.instances[owner.index()].stage;
        place.warmup = results_.stages.instances[owner.index()].warmup;
      }
      const auto& layers = results_.layers.of_kernel;
      if (i < layers.size() && layers[i].valid()) {
        place.layer = layers[i].value;
        layered_[place.stage] = true;
      }
      devices_[results_.ranking.rows[row].device][place] += kernels.end[i] - kernels.start[i];
    }
  }

  void add_ranking() {
    const auto& rows = results_.ranking.rows;
    for (uint32_t row = 0; row < rows.size(); ++row) {
      devices_[rows[row].device][{.class_rank = class_rank_[row], .row = row}] += rows[row].total;
    }
  }

  std::vector<uint32_t> stack_of(const Place& place) {
    std::vector<uint32_t> stack;  // frame numbers
    const analysis::KernelRow& row = results_.ranking.rows[place.row];
    if (place.stage != Place::kNowhere) {
      const std::string& name = results_.stages.stages[place.stage].name;
      stack.push_back(frames_.intern(place.warmup ? name + " (warm-up)" : name).value);
      if (place.layer != Place::kNowhere) {
        stack.push_back(frames_.intern(results_.layers.rows[place.layer].name).value);
      } else if (layered_[place.stage] && !place.warmup) {
        stack.push_back(frames_.intern(analysis::kOutsideLayers).value);
      }
    } else if (!results_.stages.stages.empty()) {
      stack.push_back(frames_.intern("outside stages").value);
    }
    stack.push_back(frames_.intern(to_string(row.description.kernel_class)).value);
    stack.push_back(frames_.intern(row.description.short_name).value);
    return stack;
  }

  Json profile_of(const std::string& device, const Places& places) {
    Json samples = Json::array();
    Json weights = Json::array();
    Nanoseconds total = 0;
    for (const auto& [place, time] : places) {
      if (time <= 0) continue;
      samples.push_back(stack_of(place));
      weights.push_back(time);
      total += time;
    }
    return {{"type", "sampled"},
            {"name", device},
            {"unit", "nanoseconds"},
            {"startValue", 0},
            {"endValue", total},
            {"samples", std::move(samples)},
            {"weights", std::move(weights)}};
  }

  const trace::Trace& trace_;
  const analysis::Results& results_;
  std::string_view version_;
  std::vector<uint32_t> class_rank_;  // by row of the ranking
  std::vector<bool> layered_;         // by stage
  std::map<std::string, Places> devices_;
  trace::StringPool frames_;  // of all profiles, each distinct name once
};

}  // namespace

Result<ExportedText> speedscope_profile(const ExportSources& sources,
                                        std::string_view tool_version) {
  if (sources.front().results.ranking.rows.empty()) {
    return fail_input("no kernels to export: these captures hold none; record them again");
  }
  const Json graph = FlameGraph(sources.front(), tool_version).run();
  return ExportedText{graph.dump(-1, ' ', false, Json::error_handler_t::replace) + "\n", {}};
}

}  // namespace llmprof::exports
