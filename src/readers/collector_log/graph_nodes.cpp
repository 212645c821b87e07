#include "readers/collector_log/graph_nodes.h"

#include "wire/cuda_records.h"

namespace llmprof::readers::collector_log {
namespace {

bool is_sane(const wire::GraphNodeCreated& made) { return made.node != 0; }
bool is_sane(const wire::GraphNodeCloned& made) {
  return made.node != 0 && made.original != 0 && made.node != made.original;
}

}  // namespace

void GraphNodes::add_created(const Record& record, trace::RangeRow range) {
  wire::GraphNodeCreated made{};
  if (take(record, made, findings_, is_sane)) created_.try_emplace(made.node, range);
}

void GraphNodes::add_cloned(const Record& record) {
  wire::GraphNodeCloned made{};
  if (take(record, made, findings_, is_sane)) originals_.try_emplace(made.node, made.original);
}

// A program clones a graph, and instantiating clones it again; more generations are damage, as is a
// circle.
std::optional<trace::RangeRow> GraphNodes::range_of(uint64_t node) const {
  constexpr int kGenerations = 64;
  std::optional<trace::RangeRow> range;
  for (int i = 0; i < kGenerations; ++i) {
    if (const auto made = created_.find(node); made != created_.end()) range = made->second;
    const auto original = originals_.find(node);
    if (original == originals_.end()) break;
    node = original->second;
  }
  return range;
}

}  // namespace llmprof::readers::collector_log
