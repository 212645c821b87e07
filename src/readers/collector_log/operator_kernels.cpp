#include "readers/collector_log/rows.h"

#include <algorithm>
#include <numeric>
#include <tuple>
#include <unordered_set>
#include <vector>

#include "trace/append.h"

namespace llmprof::readers::collector_log {
namespace {

// Rows by thread, then start, an outer operator before those inside it. A program records an
// operator when it ends: of two with equal times, the later row is the outer one.
std::vector<size_t> outer_first(const trace::OperatorTable& operators, size_t first) {
  std::vector<size_t> order(operators.size() - first);
  std::iota(order.begin(), order.end(), first);
  std::sort(order.begin(), order.end(), [&](size_t a, size_t b) {
    return std::tuple(operators.thread[a], operators.start[a], operators.end[b], b) <
           std::tuple(operators.thread[b], operators.start[b], operators.end[a], a);
  });
  return order;
}

// In `order`: whether an operator contains no other that takes time. Later ones in `order` do not
// start earlier, so one that ends no later is inside.
std::vector<bool> innermost(const trace::OperatorTable& operators,
                            const std::vector<size_t>& order) {
  std::vector<bool> inner(order.size(), true);
  trace::ThreadId thread;
  Nanoseconds earliest_end = trace::kOpenEnd;  // of those after it on its thread
  for (size_t i = order.size(); i-- > 0;) {
    const size_t row = order[i];
    if (operators.thread[row] != thread) earliest_end = trace::kOpenEnd;
    thread = operators.thread[row];
    if (operators.end[row] == operators.start[row]) continue;
    inner[i] = earliest_end > operators.end[row];
    earliest_end = std::min(earliest_end, operators.end[row]);
  }
  return inner;
}

// Correlations that no CUDA call uses.
class FreeCorrelations {
 public:
  FreeCorrelations(const trace::Trace& trace, uint32_t last, size_t wanted) : last_(last) {
    if (wanted <= UINT32_MAX - last) return;
    for (const auto* column :
         {&trace.launches.correlation, &trace.kernels.correlation,
          &trace.memory_operations.correlation, &trace.graph_replays.correlation}) {
      used_.insert(column->begin(), column->end());
    }
    used_.insert(0);
  }

  uint32_t next() {
    do {
      ++last_;
    } while (used_.contains(last_));
    return last_;
  }

 private:
  uint32_t last_;
  std::unordered_set<uint32_t> used_;  // empty if the numbers after the last one suffice
};

}  // namespace

uint64_t add_operator_kernels(trace::TraceBuilder& builder, trace::ProcessId process, size_t first,
                              const CollectiveOperators& collectives, uint32_t last_correlation) {
  trace::Trace& trace = builder.trace();
  const trace::OperatorTable& operators = trace.operators;
  if (operators.size() == first) return 0;
  const std::vector<size_t> order = outer_first(operators, first);
  const std::vector<bool> inner = innermost(operators, order);
  const trace::DeviceId device = builder.device(0, trace::DeviceKind::cpu);
  const trace::ShapeId shape = builder.shape({});
  const trace::StringId api = builder.string("operator");
  FreeCorrelations correlations(trace, last_correlation, order.size());
  // Rows of earlier captures do not have these columns.
  trace.kernels.flops.resize(trace.kernels.size());
  trace.kernels.bytes.resize(trace.kernels.size());
  for (size_t i = 0; i < order.size(); ++i) {
    if (!inner[i]) continue;
    const size_t row = order[i];
    const trace::ThreadId thread = operators.thread[row];
    const uint32_t correlation = correlations.next();
    trace::add_row(trace.kernels, operators.start[row], operators.end[row], operators.name[row],
                   shape, builder.queue({process, device, 0, thread.value}), correlation);
    trace.kernels.flops.push_back(operators.flops[row]);
    trace.kernels.bytes.push_back(operators.bytes[row]);
    trace::add_row(trace.launches, operators.start[row], operators.end[row], thread, api,
                   correlation);
    const auto& rows = collectives.operators;
    const auto found = std::lower_bound(rows.begin(), rows.end(), row);
    if (found == rows.end() || *found != row) continue;
    const size_t collective = collectives.first + static_cast<size_t>(found - rows.begin());
    trace.collectives.correlation[collective] = correlation;
  }
  return static_cast<uint64_t>(std::count(inner.begin(), inner.end(), false));
}

}  // namespace llmprof::readers::collector_log
