#include <algorithm>
#include <span>

#include "analysis/ranking/kernels.h"

namespace llmprof::analysis {
namespace {

struct GridAndBlock {
  trace::Extent grid{};
  trace::Extent block{};
  friend bool operator==(const GridAndBlock&, const GridAndBlock&) = default;
  [[nodiscard]] size_t hash() const {
    size_t seed = 0;
    for (const uint32_t extent : grid) seed = trace::hash_mix(seed, extent);
    for (const uint32_t extent : block) seed = trace::hash_mix(seed, extent);
    return seed;
  }
};
using GridId = trace::Id<struct GridAndBlockKind>;

// Kernels that share a line of the table.
struct Line {
  trace::StringId name;
  trace::DeviceId device;
  GridId grid;
  friend bool operator==(const Line&, const Line&) = default;
  [[nodiscard]] size_t hash() const {
    return trace::hash_mix(trace::hash_mix(name.value, device.value), grid.value);
  }
};
using LineId = trace::Id<struct LineKind>;

// Ignores registers and shared memory, which may differ within one grid and block.
std::vector<GridId> grids_of_shapes(const trace::Trace& trace,
                                    trace::Interner<GridId, GridAndBlock>& grids) {
  std::vector<GridId> ids;
  ids.reserve(trace.shapes.size());
  for (const trace::LaunchShape& shape : trace.shapes.values()) {
    ids.push_back(grids.intern({shape.grid, shape.block}));
  }
  return ids;
}

class Lines {
 public:
  Lines(const trace::Trace& trace, const Stages& stages, const KernelRanking& ranking)
      : trace_(trace),
        stages_(stages),
        measured_(ranking.measured_kernels),
        grid_of_shape_(grids_of_shapes(trace, grids_)) {
    const trace::KernelTable& kernels = trace.kernels;
    for (size_t i = 0; i < kernels.size(); ++i) {
      const size_t line = lines_
                              .intern({kernels.name[i], trace.queues[kernels.queue[i]].device,
                                       grid_of_shape_[kernels.shape[i].index()]})
                              .index();
      if (line == totals_.size()) {
        totals_.push_back({});
        rows_.push_back(ranking.row_of(i));
        by_stage_.resize(by_stage_.size() + stages.stages.size());
      }
      count(line, i);
    }
  }

  [[nodiscard]] const std::vector<Line>& lines() const { return lines_.values(); }
  // Row of the ranking.
  [[nodiscard]] uint32_t ranked(size_t line) const { return rows_[line]; }
  [[nodiscard]] ShapeRow row(size_t line) const {
    const GridAndBlock& grid = grids_[lines_.values()[line].grid];
    const size_t stages = stages_.stages.size();
    const auto own = std::span(by_stage_).subspan(line * stages, stages);
    return {totals_[line], grid.grid, grid.block, {own.begin(), own.end()}};
  }

 private:
  void count(size_t line, size_t kernel) {
    const Nanoseconds duration = trace_.kernels.end[kernel] - trace_.kernels.start[kernel];
    totals_[line] += {1, duration};
    if (stages_.instances.empty()) return;
    const InstanceId owner = stages_.owners.kernel_instance[kernel];
    if (!owner.valid()) return;
    const StageInstance& instance = stages_.instances[owner.index()];
    const bool measured = kernel < measured_.size() && measured_[kernel];
    const Calls one = {1, duration};
    by_stage_[line * stages_.stages.size() + instance.stage] +=
        instance.warmup ? StageTime{one, {}, 0} : StageTime{one, one, measured ? 1U : 0U};
  }

  const trace::Trace& trace_;
  const Stages& stages_;
  const std::vector<bool>& measured_;  // empty, or one per kernel
  trace::Interner<GridId, GridAndBlock> grids_;
  std::vector<GridId> grid_of_shape_;
  trace::Interner<LineId, Line> lines_;
  std::vector<Calls> totals_;
  std::vector<uint32_t> rows_;
  std::vector<StageTime> by_stage_;  // by line, then stage
};

}  // namespace

std::vector<OpenedKernel> open_kernels(const trace::Trace& trace, const KernelRanking& ranking,
                                       const Stages& stages) {
  std::vector<OpenedKernel> opened(ranking.rows.size());
  if (ranking.source != KernelSource::timeline) return opened;
  for (OpenedKernel& kernel : opened) kernel.stages.resize(stages.stages.size());
  const Lines lines(trace, stages, ranking);
  for (size_t i = 0; i < lines.lines().size(); ++i) {
    const Line& line = lines.lines()[i];
    OpenedKernel& kernel = opened[lines.ranked(i)];
    kernel.shapes.push_back(lines.row(i));
    for (size_t s = 0; s < kernel.stages.size(); ++s) {
      kernel.stages[s] += kernel.shapes.back().stages[s];
    }
    // Operators on a CPU have neither grid nor block.
    if (trace.devices[line.device.index()].kind == trace::DeviceKind::cpu) kernel.shapes.clear();
  }
  for (OpenedKernel& kernel : opened) {
    std::ranges::sort(kernel.shapes, [](const ShapeRow& a, const ShapeRow& b) {
      if (a.total != b.total) return a.total > b.total;
      return std::pair(a.grid, a.block) < std::pair(b.grid, b.block);
    });
  }
  return opened;
}

}  // namespace llmprof::analysis
