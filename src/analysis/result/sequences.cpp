#include <unordered_map>

#include "analysis/naming/kernel_key.h"
#include "analysis/result/parts.h"
#include "analysis/statistics/values.h"

namespace llmprof::analysis::result {

profile::ByWord<KernelClass, profile::WholeNanoseconds> class_times(const ClassTimes& times) {
  profile::ByWord<KernelClass, profile::WholeNanoseconds> named;
  for (size_t i = 0; i < times.size(); ++i) {
    if (times[i] == 0) continue;
    named.emplace_back(static_cast<KernelClass>(i), profile::WholeNanoseconds{times[i]});
  }
  return named;
}

std::vector<profile::KernelSequence> kernel_sequences(const trace::Trace& trace,
                                                      const DescribedNames& names,
                                                      const Stages& found,
                                                      const KernelSequences& sequences) {
  std::unordered_map<trace::StringId, std::string> keys;
  const auto key_of = [&](trace::StringId name) {
    const auto [known, is_new] = keys.try_emplace(name);
    if (is_new) known->second = to_printable(kernel_key(trace.strings[name]));
    return known->second;
  };
  std::vector<profile::KernelSequence> rows;
  const auto& stages = sequences.stages;
  for (size_t i = 0; i < stages.size(); ++i) {
    if (stages[i].kernels.empty()) continue;
    profile::KernelSequence& row = rows.emplace_back();
    row.stage = to_printable(found.stages[i].name);
    row.passes = stages[i].passes;
    row.layers = stages[i].layers;
    for (const PlacedKernels& from : stages[i].kernels) {
      const KernelDescription& description = names[from.name];
      profile::PlacedKernel& kernel = row.kernels.emplace_back();
      kernel.block = from.block;
      kernel.occurrence = from.occurrence;
      kernel.mean_position = from.positions / static_cast<double>(from.calls);
      kernel.key = key_of(from.name);
      kernel.short_name = description.short_name;
      kernel.kernel_class = description.kernel_class;
      if (from.commonest_shape.valid()) {
        kernel.grid = trace.shapes[from.commonest_shape].grid;
        kernel.block_size = trace.shapes[from.commonest_shape].block;
      }
      kernel.shapes = from.shapes;
      kernel.calls = from.calls;
      kernel.total_ns = {from.total};
    }
  }
  return rows;
}

}  // namespace llmprof::analysis::result
