#include "readers/collector_log/operator_kernels.h"

#include <algorithm>
#include <numeric>
#include <tuple>
#include <unordered_set>
#include <vector>

#include "trace/append.h"

namespace llmprof::readers::collector_log {
namespace {

// Rows by thread, then start, an outer operator before those inside it. A program records an
// operator when it ends: of two with the same times the later row is the outer one.
std::vector<size_t> outer_first(const trace::OperatorTable& operators, size_t first) {
  std::vector<size_t> order(operators.size() - first);
  std::iota(order.begin(), order.end(), first);
  std::sort(order.begin(), order.end(), [&](size_t a, size_t b) {
    return std::tuple(operators.thread[a], operators.start[a], operators.end[b], b) <
           std::tuple(operators.thread[b], operators.start[b], operators.end[a], a);
  });
  return order;
}

// In `order`: whether an operator holds none that takes time. What follows starts no earlier, so
// one that ends no later is inside.
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

// Correlations that no CUDA call has.
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
  std::unordered_set<uint32_t> used_;  // empty where those after the last one suffice
};

class Kernels {
 public:
  Kernels(trace::TraceBuilder& builder, trace::ProcessId process, FreeCorrelations correlations)
      : builder_(builder),
        process_(process),
        device_(builder.device(0, trace::DeviceKind::cpu)),
        shape_(builder.shape({})),
        api_(builder.string("operator")),
        correlations_(std::move(correlations)) {
    // Rows of captures before this one do not have these columns.
    trace::KernelTable& kernels = builder_.trace().kernels;
    kernels.flops.resize(kernels.size());
    kernels.bytes.resize(kernels.size());
  }

  // Returns its correlation.
  uint32_t add(size_t row) {
    const trace::OperatorTable& operators = builder_.trace().operators;
    const trace::ThreadId thread = operators.thread[row];
    const uint32_t correlation = correlations_.next();
    trace::KernelTable& kernels = builder_.trace().kernels;
    trace::add_row(kernels, operators.start[row], operators.end[row], operators.name[row], shape_,
                   builder_.queue({process_, device_, 0, thread.value}), correlation);
    kernels.flops.push_back(operators.flops[row]);
    kernels.bytes.push_back(operators.bytes[row]);
    trace::add_row(builder_.trace().launches, operators.start[row], operators.end[row], thread,
                   api_, correlation);
    return correlation;
  }

 private:
  trace::TraceBuilder& builder_;
  trace::ProcessId process_;
  trace::DeviceId device_;
  trace::ShapeId shape_;
  trace::StringId api_;
  FreeCorrelations correlations_;
};

}  // namespace

uint64_t add_operator_kernels(trace::TraceBuilder& builder, trace::ProcessId process, size_t first,
                              const CollectiveOperators& collectives, uint32_t last_correlation) {
  const trace::OperatorTable& operators = builder.trace().operators;
  if (operators.size() == first) return 0;
  const std::vector<size_t> order = outer_first(operators, first);
  const std::vector<bool> inner = innermost(operators, order);
  Kernels kernels(builder, process,
                  FreeCorrelations(builder.trace(), last_correlation, operators.size() - first));
  for (size_t i = 0; i < order.size(); ++i) {
    if (!inner[i]) continue;
    const uint32_t correlation = kernels.add(order[i]);
    const auto& rows = collectives.operators;
    const auto found = std::lower_bound(rows.begin(), rows.end(), order[i]);
    if (found == rows.end() || *found != order[i]) continue;
    const size_t row = collectives.first + static_cast<size_t>(found - rows.begin());
    builder.trace().collectives.correlation[row] = correlation;
  }
  return static_cast<uint64_t>(std::count(inner.begin(), inner.end(), false));
}

}  // namespace llmprof::readers::collector_log
