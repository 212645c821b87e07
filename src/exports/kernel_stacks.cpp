#include "exports/kernel_stacks.h"

#include <map>
#include <utility>

#include "analysis/ranking/kernel_table.h"

namespace llmprof::exports {
namespace {

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

class StackBuilder {
 public:
  explicit StackBuilder(const ExportSource& source)
      : trace_(source.trace), results_(source.results) {
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

  std::vector<KernelStack> build() {
    if (results_.ranking.source == analysis::KernelSource::timeline) {
      add_timeline();
    } else {
      add_ranking();
    }
    std::vector<KernelStack> stacks;
    for (const auto& [device, places] : devices_) {
      for (const auto& [place, work] : places) stacks.push_back(stack_of(device, place, work));
    }
    return stacks;
  }

 private:
  using Places = std::map<Place, StackWork>;

  void add_timeline() {
    const trace::KernelTable& kernels = trace_.kernels;
    const auto stated = [](const std::vector<uint64_t>& numbers, size_t row) {
      return row < numbers.size() ? numbers[row] : 0;
    };
    for (size_t i = 0; i < kernels.size(); ++i) {
      const uint32_t row = results_.ranking.row_of(i);
      if (row == analysis::KernelRanking::kNoRow) continue;
      StackWork& work = devices_[results_.ranking.rows[row].device][place_of(i, row)];
      work.time += kernels.end[i] - kernels.start[i];
      ++work.calls;
      work.flops += stated(kernels.flops, i);
      work.bytes += stated(kernels.bytes, i);
    }
  }

  Place place_of(size_t kernel, uint32_t row) {
    Place place{.class_rank = class_rank_[row], .row = row};
    const auto& owners = results_.stages.owners.kernel_instance;
    const analysis::InstanceId owner =
        kernel < owners.size() ? owners[kernel] : analysis::InstanceId();
    if (owner.valid()) {
      place.stage = results_.stages.instances[owner.index()].stage;
      place.warmup = results_.stages.instances[owner.index()].warmup;
    }
    const auto& layers = results_.layers.of_kernel;
    if (kernel < layers.size() && layers[kernel].valid()) {
      place.layer = layers[kernel].value;
      layered_[place.stage] = true;
    }
    return place;
  }

  void add_ranking() {
    const auto& rows = results_.ranking.rows;
    for (uint32_t row = 0; row < rows.size(); ++row) {
      StackWork& work = devices_[rows[row].device][{.class_rank = class_rank_[row], .row = row}];
      work.time += rows[row].total;
      work.calls += rows[row].calls;
    }
  }

  KernelStack stack_of(const std::string& device, const Place& place, const StackWork& work) const {
    const analysis::KernelRow& row = results_.ranking.rows[place.row];
    KernelStack stack;
    stack.device = device;
    stack.warmup = place.warmup;
    stack.kernel = trace_.strings[row.name];
    stack.work = work;
    if (place.stage != Place::kNowhere) {
      stack.stage = results_.stages.stages[place.stage].name;
      stack.frames.push_back(stage_frame(*stack.stage, place.warmup));
      if (place.layer != Place::kNowhere) {
        stack.frames.push_back(results_.layers.rows[place.layer].name);
      } else if (layered_[place.stage] && !place.warmup) {
        stack.frames.emplace_back(analysis::kOutsideLayers);
      }
    } else if (!results_.stages.stages.empty()) {
      stack.frames.emplace_back("outside stages");
    }
    stack.frames.emplace_back(to_string(row.description.kernel_class));
    stack.frames.push_back(row.description.short_name);
    return stack;
  }

  const trace::Trace& trace_;
  const analysis::Results& results_;
  std::vector<uint32_t> class_rank_;  // by row of the ranking
  std::vector<bool> layered_;         // by stage
  std::map<std::string, Places> devices_;
};

}  // namespace

std::string stage_frame(const std::string& stage, bool warmup) {
  return warmup ? stage + " (warm-up)" : stage;
}

std::vector<KernelStack> kernel_stacks(const ExportSource& source) {
  return StackBuilder(source).build();
}

}  // namespace llmprof::exports
