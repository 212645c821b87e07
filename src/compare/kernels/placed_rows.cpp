#include "compare/kernels/match.h"

#include <algorithm>
#include <map>
#include <tuple>

namespace llmprof::compare {
namespace {

const profile::KernelSequence* sequence_of(const profile::Profile& profile,
                                           const std::string& stage) {
  for (const profile::KernelSequence& sequence : profile.kernel_sequences) {
    if (sequence.stage == stage) return &sequence;
  }
  return nullptr;
}

// Each kernel once per place; names and shapes are those of the last run.
class Rows {
 public:
  void add(PlacedKernel kernel) {
    const auto [known, fresh] =
        known_.try_emplace(Place(kernel.block, kernel.key, kernel.occurrence), rows_.size());
    if (fresh) rows_.emplace_back();
    PlacedKernel& row = rows_[known->second];
    const auto calls = static_cast<double>(kernel.calls);
    kernel.calls += row.calls;
    kernel.total_ns.value += row.total_ns.value;
    kernel.mean_position = row.mean_position + (kernel.mean_position - row.mean_position) * calls /
                                                   static_cast<double>(kernel.calls);
    row = std::move(kernel);
  }
  // A kernel at an unknown place.
  void add(const profile::Kernel& kernel, uint64_t calls, int64_t total_ns) {
    PlacedKernel row;
    row.key = kernel.key;
    row.short_name = kernel.short_name;
    row.kernel_class = kernel.kernel_class;
    if (!kernel.shapes.empty()) {
      row.grid = kernel.shapes.front().grid;
      row.block_size = kernel.shapes.front().block;
    }
    row.calls = calls;
    row.total_ns = {total_ns};
    add(std::move(row));
  }
  std::vector<PlacedKernel> take() { return std::move(rows_); }

 private:
  using Place = std::tuple<profile::PassBlock, std::string, uint64_t>;  // and key, occurrence

  std::map<Place, size_t> known_;
  std::vector<PlacedKernel> rows_;
};

std::vector<PlacedKernel> by_name(std::span<const Run> runs, const std::string& stage) {
  Rows rows;
  for (const Run& run : runs) {
    for (const profile::Kernel& kernel : run.profile.kernels) {
      for (const auto& [name, time] : kernel.stages) {
        if (name != stage || time.steady_calls == 0) continue;
        rows.add(kernel, time.steady_calls, profile::to_nanoseconds(time.steady_total));
      }
    }
  }
  return rows.take();
}

}  // namespace

bool knows_places(std::span<const Run> runs, const std::string& stage) {
  return std::ranges::all_of(
      runs, [&](const Run& run) { return sequence_of(run.profile, stage) != nullptr; });
}

std::vector<PlacedKernel> placed_rows(std::span<const Run> runs, const std::string& stage,
                                      bool by_place) {
  if (!by_place) return by_name(runs, stage);
  Rows rows;
  for (const Run& run : runs) {
    const profile::KernelSequence* sequence = sequence_of(run.profile, stage);
    if (sequence == nullptr) continue;
    for (const PlacedKernel& kernel : sequence->kernels) rows.add(kernel);
  }
  std::vector<PlacedKernel> found = rows.take();
  std::ranges::stable_sort(found, [](const PlacedKernel& a, const PlacedKernel& b) {
    return std::tuple(a.block, a.mean_position) < std::tuple(b.block, b.mean_position);
  });
  return found;
}

std::vector<PlacedKernel> all_kernels(std::span<const Run> runs) {
  Rows rows;
  for (const Run& run : runs) {
    for (const profile::Kernel& kernel : run.profile.kernels) {
      rows.add(kernel, kernel.calls, kernel.total_ns.value);
    }
  }
  return rows.take();
}

}  // namespace llmprof::compare
