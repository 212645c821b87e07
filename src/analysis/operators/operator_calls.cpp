#include "analysis/operators/operator_calls.h"

#include <algorithm>
#include <array>
#include <unordered_map>
#include <utility>

namespace llmprof::analysis {

namespace {

constexpr std::array<std::string_view, 4> kFacts = {", seq = ", ", op_id = ", ", sizes = [",
                                                    ", input_op_ids = ["};
constexpr std::array<std::string_view, 6> kNamespaces = {
    "aten::", "torch::", "prims::", "autograd::", "c10d::", "quantized::"};

constexpr uint32_t kNoName = UINT32_MAX;
constexpr uint32_t kNotLookedAt = UINT32_MAX - 1;

// An outer call starts no later and ends no earlier than the calls inside it. In traces with whole
// microseconds both can be equal; then ids decide, which increase with each call.
bool is_outer_first(const OperatorCall& a, const OperatorCall& b) {
  if (a.start != b.start) return a.start < b.start;
  if (a.end != b.end) return a.end > b.end;
  return a.external_id < b.external_id;
}

}  // namespace

std::string_view nvtx_operator_name(std::string_view range_text) {
  for (size_t comma = range_text.find(','); comma != std::string_view::npos;
       comma = range_text.find(',', comma + 1)) {
    const std::string_view rest = range_text.substr(comma);
    const bool fact = std::ranges::any_of(
        kFacts, [&](std::string_view begin) { return rest.starts_with(begin); });
    if (fact) return range_text.substr(0, comma);
  }
  const bool known = std::ranges::any_of(kNamespaces, [&](std::string_view name) {
    return range_text.starts_with(name) && range_text.size() > name.size();
  });
  return known ? range_text : std::string_view();
}

class OperatorCalls::Collector {
 public:
  explicit Collector(const trace::Trace& trace)
      : trace_(trace), name_of_text_(trace.strings.size(), kNotLookedAt) {}

  // The operator's number for a text, or kNoName; `normalize` extracts the operator's name.
  template <class Normalize>
  uint32_t name(trace::StringId text, Normalize normalize) {
    if (!text.valid()) return kNoName;
    uint32_t& known = name_of_text_[text.index()];
    if (known == kNotLookedAt) {
      const std::string_view name = normalize(trace_.strings[text]);
      known = name.empty() ? kNoName : number(name);
    }
    return known;
  }

  // `each_call(visit)` calls visit(thread, call) for every call. It runs twice: to count, then to
  // place.
  template <class EachCall>
  OperatorCalls place(const EachCall& each_call) {
    OperatorCalls result;
    std::vector<size_t>& first = result.first_;
    first.assign(trace_.threads.size() + 1, 0);
    each_call([&](trace::ThreadId thread, const OperatorCall&) { ++first[thread.index() + 1]; });
    for (size_t i = 1; i < first.size(); ++i) first[i] += first[i - 1];
    result.calls_.resize(first.back());
    std::vector<size_t> next = first;
    each_call([&](trace::ThreadId thread, const OperatorCall& call) {
      result.calls_[next[thread.index()]++] = call;
    });
    result.names_ = std::move(names_);
    for (size_t i = 0; i < trace_.threads.size(); ++i) {
      const auto begin = result.calls_.begin() + static_cast<std::ptrdiff_t>(result.first_[i]);
      const auto end = result.calls_.begin() + static_cast<std::ptrdiff_t>(result.first_[i + 1]);
      if (!std::is_sorted(begin, end, is_outer_first)) std::stable_sort(begin, end, is_outer_first);
    }
    return result;
  }

 private:
  uint32_t number(std::string_view name) {
    const auto [known, fresh] =
        number_of_name_.try_emplace(name, static_cast<uint32_t>(names_.size()));
    if (fresh) names_.push_back(name);
    return known->second;
  }

  const trace::Trace& trace_;
  std::vector<uint32_t> name_of_text_;
  std::unordered_map<std::string_view, uint32_t> number_of_name_;
  std::vector<std::string_view> names_;
};

OperatorCalls OperatorCalls::recorded(const trace::Trace& trace) {
  const trace::OperatorTable& table = trace.operators;
  Collector collector(trace);
  const auto whole_text = [](std::string_view text) { return text; };
  return collector.place([&](const auto& visit) {
    for (size_t i = 0; i < table.size(); ++i) {
      const uint32_t name = collector.name(table.name[i], whole_text);
      if (name == kNoName || !table.thread[i].valid()) continue;
      const uint64_t external_id = table.external_id.empty() ? 0 : table.external_id[i];
      visit(table.thread[i], {table.start[i], table.end[i], external_id, name});
    }
  });
}

OperatorCalls OperatorCalls::of_ranges(const trace::Trace& trace) {
  const trace::RangeTable& table = trace.ranges;
  Collector collector(trace);
  return collector.place([&](const auto& visit) {
    for (size_t i = 0; i < table.size(); ++i) {
      // emit_nvtx pushes and pops in the default domain; a range never closed has no duration.
      if (table.kind[i] != trace::RangeKind::push_pop || table.end[i] == trace::kOpenEnd) continue;
      if (table.domain[i].valid() || !table.thread[i].valid()) continue;
      const uint32_t name = collector.name(table.text[i], nvtx_operator_name);
      if (name != kNoName) visit(table.thread[i], {table.start[i], table.end[i], 0, name});
    }
  });
}

WorkOfLaunches::WorkOfLaunches(const trace::Trace& trace) : by_thread_(trace.threads.size()) {
  std::vector<LaunchedWork> work(trace.launches.size());
  const trace::KernelTable& kernels = trace.kernels;
  const trace::MemoryOperationTable& memory = trace.memory_operations;
  for (size_t i = 0; i < kernels.size(); ++i) {
    const Nanoseconds time = kernels.end[i] - kernels.start[i];
    if (!kernels.node_launch.empty() && kernels.node_launch[i].valid()) {
      LaunchedWork& captured = work[kernels.node_launch[i].index()];
      captured += {time, 1, captured.replays + 1};
    } else if (kernels.launch[i].valid()) {
      work[kernels.launch[i].index()] += {time, 1, 0};
    }
  }
  for (size_t i = 0; i < memory.size(); ++i) {
    if (memory.launch[i].valid()) {
      work[memory.launch[i].index()] += {memory.end[i] - memory.start[i], 0, 0};
    }
  }

  const auto has_work = [&](size_t row) { return work[row].kernels > 0 || work[row].time > 0; };
  std::vector<size_t> count(trace.threads.size(), 0);
  for (size_t row = 0; row < work.size(); ++row) {
    if (has_work(row)) ++count[trace.launches.thread[row].index()];
  }
  for (size_t thread = 0; thread < count.size(); ++thread)
    by_thread_[thread].reserve(count[thread]);
  for (size_t row = 0; row < work.size(); ++row) {
    if (!has_work(row)) continue;
    by_thread_[trace.launches.thread[row].index()].push_back(
        {trace.launches.start[row], work[row]});
  }

  for (auto& launches : by_thread_) {
    if (!std::ranges::is_sorted(launches, {}, &Launch::start)) {
      std::ranges::sort(launches, {}, &Launch::start);
    }
  }
}

}  // namespace llmprof::analysis
