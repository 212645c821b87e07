#include "analysis/products/product_calls.h"

#include <algorithm>
#include <tuple>
#include <unordered_map>
#include <utility>

#include "analysis/budget/gpu_timeline.h"
#include "analysis/operators/operator_calls.h"

namespace llmprof::analysis {
namespace {

constexpr uint32_t kNoCall = UINT32_MAX;

// The products of a trace by the call that states them.
class StatedProducts {
 public:
  explicit StatedProducts(const trace::ProductTable& table) : table_(table) {
    rows_.reserve(table.size());
    for (size_t row = 0; row < table.size(); ++row) rows_.emplace_back(row);
    std::ranges::sort(rows_, {}, [this](trace::ProductRow row) { return key_of(row); });
  }

  // None if the call is no product, or its sizes are unknown.
  [[nodiscard]] trace::ProductRow find(trace::ThreadId thread, const OperatorCall& call) const {
    const Key key{thread, call.start, call.end, call.external_id};
    const auto found =
        std::ranges::lower_bound(rows_, key, {}, [this](auto row) { return key_of(row); });
    return found != rows_.end() && key_of(*found) == key ? *found : trace::ProductRow();
  }

 private:
  using Key = std::tuple<trace::ThreadId, Nanoseconds, Nanoseconds, uint64_t>;
  [[nodiscard]] Key key_of(trace::ProductRow row) const {
    const size_t i = row.index();
    return {table_.thread[i], table_.start[i], table_.end[i], table_.external_id[i]};
  }

  const trace::ProductTable& table_;
  std::vector<trace::ProductRow> rows_;
};

// The call that launched a kernel, or captured its graph node.
trace::LaunchRow host_call_of(const trace::KernelTable& kernels, size_t row) {
  const bool captured = !kernels.node_launch.empty() && kernels.node_launch[row].valid();
  return captured ? kernels.node_launch[row] : kernels.launch[row];
}

// Finds the innermost operator open at each launch of a kernel.
class InnermostOperators {
 public:
  InnermostOperators(const trace::Trace& trace, const OperatorCalls& calls) : calls_(calls) {
    if (calls.empty()) return;
    of_launch_.assign(trace.launches.size(), kNoCall);
    std::vector<bool> launches_kernels(trace.launches.size(), false);
    for (size_t i = 0; i < trace.kernels.size(); ++i) {
      const trace::LaunchRow launch = host_call_of(trace.kernels, i);
      if (launch.valid()) launches_kernels[launch.index()] = true;
    }
    std::vector<std::vector<Launch>> by_thread(trace.threads.size());
    for (uint32_t row = 0; row < launches_kernels.size(); ++row) {
      if (!launches_kernels[row] || !trace.launches.thread[row].valid()) continue;
      by_thread[trace.launches.thread[row].index()].emplace_back(trace.launches.start[row], row);
    }
    for (size_t thread = 0; thread < by_thread.size(); ++thread) {
      std::ranges::sort(by_thread[thread]);
      visit(trace::ThreadId(thread), by_thread[thread]);
    }
    add_ids(trace);
  }

  // Index of a call; kNoCall if no operator was open.
  [[nodiscard]] uint32_t at(trace::LaunchRow launch) const {
    return of_launch_.empty() ? kNoCall : of_launch_[launch.index()];
  }
  // The call with an id, for kernels whose launch was not recorded; kNoCall if it is unknown.
  [[nodiscard]] uint32_t with_id(trace::ProcessId process, uint64_t id) const {
    const auto known = of_id_.find(trace::hash_mix(process.value, id));
    return known == of_id_.end() ? kNoCall : known->second;
  }
  [[nodiscard]] trace::ThreadId thread_of(uint32_t call) const {
    size_t thread = 0;
    while (calls_.behind_last_of(trace::ThreadId(thread)) <= call) ++thread;
    return trace::ThreadId(thread);
  }

 private:
  using Launch = std::pair<Nanoseconds, uint32_t>;  // start and row

  void visit(trace::ThreadId thread, const std::vector<Launch>& launches) {
    std::vector<uint32_t> open;
    const auto close_until = [&](Nanoseconds time) {
      while (!open.empty() && calls_[open.back()].end <= time) open.pop_back();
    };
    size_t next = calls_.first_of(thread);
    for (const auto& [time, row] : launches) {
      for (; next < calls_.behind_last_of(thread) && calls_[next].start <= time; ++next) {
        close_until(calls_[next].start);
        open.push_back(static_cast<uint32_t>(next));
      }
      close_until(time);
      if (!open.empty()) of_launch_[row] = open.back();
    }
  }

  void add_ids(const trace::Trace& trace) {
    const trace::KernelTable& kernels = trace.kernels;
    bool needed = false;
    for (size_t i = 0; i < kernels.external_id.size() && !needed; ++i) {
      needed = kernels.external_id[i] != 0 && !kernels.launch[i].valid();
    }
    if (!needed) return;
    for (size_t thread = 0; thread < calls_.thread_count(); ++thread) {
      const trace::ProcessId process = trace.threads[thread].process;
      const trace::ThreadId id(thread);
      for (size_t i = calls_.first_of(id); i < calls_.behind_last_of(id); ++i) {
        if (calls_[i].external_id == 0) continue;
        of_id_.try_emplace(trace::hash_mix(process.value, calls_[i].external_id),
                           static_cast<uint32_t>(i));
      }
    }
  }

  const OperatorCalls& calls_;
  std::vector<uint32_t> of_launch_;
  std::unordered_map<size_t, uint32_t> of_id_;
};

class CallFinder {
 public:
  CallFinder(const trace::Trace& trace, const DescribedNames& names)
      : trace_(trace),
        names_(names),
        operators_(OperatorCalls::recorded(trace)),
        innermost_(trace, operators_),
        products_(trace.products) {}

  ProductCalls run() {
    found_.operator_names.assign(operators_.names().begin(), operators_.names().end());
    found_.operator_names.emplace_back();
    for (uint32_t row = 0; row < trace_.kernels.size(); ++row) {
      const uint32_t call = operator_of(row);
      const trace::ProductRow product = product_of(call);
      if (product.valid()) {
        add(row, call, product);
      } else if (multiplies(row)) {
        add_unknown(row, call);
      }
    }
    return std::move(found_);
  }

 private:
  [[nodiscard]] KernelClass class_of(uint32_t row) const {
    return names_[trace_.kernels.name[row]].kernel_class;
  }
  // A convolution is a product by its class only.
  [[nodiscard]] bool multiplies(uint32_t row) const {
    return is_product(class_of(row)) &&
           !names_[trace_.kernels.name[row]].has(KernelTrait::convolution);
  }
  [[nodiscard]] Nanoseconds duration(uint32_t row) const {
    return trace_.kernels.end[row] - trace_.kernels.start[row];
  }
  [[nodiscard]] bool is_captured(uint32_t row) const {
    const auto& nodes = trace_.kernels.node_launch;
    return !nodes.empty() && nodes[row].valid();
  }

  [[nodiscard]] uint32_t operator_of(uint32_t row) const {
    const trace::KernelTable& kernels = trace_.kernels;
    // A replay's launch says nothing about its kernels.
    if (replayed_by_graph(trace_, row) && !is_captured(row)) return kNoCall;
    const trace::LaunchRow launch = host_call_of(kernels, row);
    if (launch.valid()) return innermost_.at(launch);
    if (kernels.external_id.empty() || kernels.external_id[row] == 0) return kNoCall;
    return innermost_.with_id(trace_.queues[kernels.queue[row]].process, kernels.external_id[row]);
  }

  trace::ProductRow product_of(uint32_t call) {
    if (call == kNoCall) return {};
    const auto [known, fresh] = product_of_call_.try_emplace(call);
    if (fresh) known->second = products_.find(innermost_.thread_of(call), operators_[call]);
    return known->second;
  }

  void add(uint32_t row, uint32_t operator_call, trace::ProductRow product) {
    // Each replay repeats a captured call.
    const trace::LaunchRow replay =
        is_captured(row) ? trace_.kernels.launch[row] : trace::LaunchRow();
    const uint64_t key = (uint64_t{operator_call} << 32U) | replay.value;
    const auto [known, fresh] = call_of_.try_emplace(key, found_.calls.size());
    if (fresh) found_.calls.push_back({product, row, row, 0, 0});
    ProductCall& call = found_.calls[known->second];
    ++call.kernels;
    call.time += duration(row);
    const auto rank = [&](uint32_t kernel) {
      return std::pair(is_product(class_of(kernel)), duration(kernel));
    };
    if (rank(row) > rank(call.kernel)) call.kernel = row;
  }

  void add_unknown(uint32_t row, uint32_t call) {
    const auto no_name = static_cast<uint32_t>(operators_.names().size());
    if (call != kNoCall) {
      found_.unknown.push_back({row, operators_[call].name, WhyNoShape::no_sizes});
    } else {
      const bool replayed = replayed_by_graph(trace_, row);
      found_.unknown.push_back(
          {row, no_name, replayed ? WhyNoShape::replayed : WhyNoShape::no_operator});
    }
  }

  const trace::Trace& trace_;
  const DescribedNames& names_;
  OperatorCalls operators_;
  InnermostOperators innermost_;
  StatedProducts products_;
  ProductCalls found_;
  std::unordered_map<uint32_t, trace::ProductRow> product_of_call_;
  std::unordered_map<uint64_t, size_t> call_of_;
};

}  // namespace

ProductCalls find_product_calls(const trace::Trace& trace, const DescribedNames& names) {
  return CallFinder(trace, names).run();
}

}  // namespace llmprof::analysis
