#include "compare/kernels/match.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <tuple>

#include "base/units.h"

namespace llmprof::compare {
namespace {

using Block = std::optional<profile::PassBlock>;
using RowKey = std::tuple<Block, std::string, uint64_t>;  // block, key, occurrence

const profile::KernelSequence* sequence_of(const profile::Profile& profile,
                                           const std::string& stage) {
  for (const profile::KernelSequence& sequence : profile.kernel_sequences) {
    if (sequence.stage == stage) return &sequence;
  }
  return nullptr;
}

class Rows {
 public:
  PlacedRow& at(Block block, std::string key, uint64_t occurrence) {
    const auto [known, fresh] = known_.try_emplace(RowKey(block, key, occurrence), rows_.size());
    if (fresh) {
      PlacedRow& row = rows_.emplace_back();
      row.block = block;
      row.key = std::move(key);
      row.occurrence = occurrence;
    }
    return rows_[known->second];
  }
  std::vector<PlacedRow> take() { return std::move(rows_); }

 private:
  std::map<RowKey, size_t> known_;
  std::vector<PlacedRow> rows_;
};

void add(const profile::Kernel& kernel, uint64_t calls, int64_t total_ns, Rows& rows) {
  PlacedRow& row = rows.at({}, kernel.key, 0);
  row.short_name = kernel.short_name;
  row.kernel_class = kernel.kernel_class;
  if (!kernel.shapes.empty()) {
    row.grid = kernel.shapes.front().grid;
    row.block_size = kernel.shapes.front().block;
  }
  row.calls += calls;
  row.total_ns += total_ns;
}

std::vector<PlacedRow> by_name(std::span<const Run> runs, const std::string& stage) {
  Rows rows;
  for (const Run& run : runs) {
    for (const profile::Kernel& kernel : run.profile.kernels) {
      for (const auto& [name, time] : kernel.stages) {
        if (name != stage || time.steady_calls == 0) continue;
        add(kernel, time.steady_calls, profile::to_nanoseconds(time.steady_total), rows);
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

std::vector<PlacedRow> placed_rows(std::span<const Run> runs, const std::string& stage,
                                   bool by_place) {
  if (!by_place) return by_name(runs, stage);
  Rows rows;
  for (const Run& run : runs) {
    const profile::KernelSequence* sequence = sequence_of(run.profile, stage);
    if (sequence == nullptr) continue;
    for (const profile::PlacedKernel& kernel : sequence->kernels) {
      PlacedRow& row = rows.at(kernel.block, kernel.key, kernel.occurrence);
      const auto calls = static_cast<double>(kernel.calls);
      const auto all = static_cast<double>(row.calls) + calls;
      row.position += (kernel.mean_position - row.position) * calls / all;
      row.short_name = kernel.short_name;
      row.kernel_class = kernel.kernel_class;
      row.grid = kernel.grid;
      row.block_size = kernel.block_size;
      row.calls += kernel.calls;
      row.total_ns += kernel.total_ns.value;
    }
  }
  std::vector<PlacedRow> found = rows.take();
  std::ranges::stable_sort(found, [](const PlacedRow& a, const PlacedRow& b) {
    return std::tuple(a.block, a.position) < std::tuple(b.block, b.position);
  });
  return found;
}

std::vector<PlacedRow> all_kernels(std::span<const Run> runs) {
  Rows rows;
  for (const Run& run : runs) {
    for (const profile::Kernel& kernel : run.profile.kernels) {
      add(kernel, kernel.calls, kernel.total_ns.value, rows);
    }
  }
  return rows.take();
}

}  // namespace llmprof::compare
