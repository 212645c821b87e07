#pragma once

#include <algorithm>
#include <cstdint>
#include <numeric>
#include <tuple>
#include <unordered_map>
#include <unordered_set>
#include <utility>
#include <vector>

#include "base/text.h"
#include "readers/collector_log/log_reading.h"

namespace llmprof::readers::collector_log {

inline constexpr size_t kNoRow = SIZE_MAX;

inline trace::StepTable::Kind kind_of(wire::StepKind kind) {
  static_assert(static_cast<uint32_t>(wire::StepKind::prefill) == 1 &&
                static_cast<uint32_t>(trace::StepTable::Kind::mixed) + 1 ==
                    static_cast<uint32_t>(wire::StepKind::mixed));
  return static_cast<trace::StepTable::Kind>(static_cast<uint32_t>(kind) - 1);
}

static_assert(static_cast<uint32_t>(CollectiveKind::all_reduce) ==
                  static_cast<uint32_t>(wire::CollectiveKind::all_reduce) &&
              static_cast<uint32_t>(CollectiveKind::barrier) ==
                  static_cast<uint32_t>(wire::CollectiveKind::barrier));

// Kinds of a newer annotation API are `other`.
inline CollectiveKind kind_of(wire::CollectiveKind kind) {
  return kind <= wire::CollectiveKind::barrier ? static_cast<CollectiveKind>(kind)
                                               : CollectiveKind::other;
}

inline trace::HostCallTable::Kind kind_of(wire::HostCallKind kind) {
  using From = wire::HostCallKind;
  using To = trace::HostCallTable::Kind;
  if (kind == From::graph || kind == From::driver_graph) return To::graph;
  return kind == From::wait || kind == From::driver_wait ? To::wait : To::kernel;
}

// Rows by thread, then start, an outer operator before those inside it. A program records an
// operator when it ends: of two with equal times, the later row is the outer one.
inline std::vector<size_t> outer_first(const trace::OperatorTable& operators, size_t first) {
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
inline std::vector<bool> innermost_operators(const trace::OperatorTable& operators,
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

// A program's annotations: ranges, marks, steps, CPU operators and collectives, each with the
// thread that recorded it, and thread names.
class AnnotationRows : LogReading {
 public:
  explicit AnnotationRows(const LogReading& reading) : LogReading(reading) {}

  void add(const wire::RangePush& push, trace::ThreadId thread) {
    OpenRows& open = open_rows(thread, push.domain);
    open.resize(push.depth, kNoRow);
    open.push_back(ranges_.size());
    trace::add_row(ranges_, push.time, trace::kOpenEnd, thread, push.domain, push.name,
                   trace::RangeKind::push_pop);
  }

  void add(const wire::RangePop& pop, trace::ThreadId thread) {
    OpenRows& open = open_rows(thread, pop.domain);
    const size_t row = pop.depth < open.size() ? open[pop.depth] : kNoRow;
    open.resize(std::min<size_t>(open.size(), pop.depth));
    if (row == kNoRow || pop.time < ranges_.start[row]) {
      ++findings_.ends_without_start;
      return;
    }
    ranges_.end[row] = pop.time;
  }

  void add(const wire::RangeStart& start, trace::ThreadId thread) {
    started_[start.range] = ranges_.size();
    trace::add_row(ranges_, start.time, trace::kOpenEnd, thread, start.domain, start.name,
                   trace::RangeKind::start_end);
  }
  void add(const wire::RangeEnd& end) { ends_.push_back(end); }
  void add(const wire::Mark& mark, trace::ThreadId thread) {
    trace::add_row(ranges_, mark.time, mark.time, thread, mark.domain, mark.name,
                   trace::RangeKind::mark);
  }
  void add(const wire::Step& step, trace::ThreadId thread) {
    trace::add_row(builder_.trace().steps, step.time, thread, kind_of(step.kind), step.batch,
                   step.tokens);
  }
  void add(const wire::CpuOperator& call, trace::ThreadId thread) {
    trace::OperatorTable& operators = builder_.trace().operators;
    // Rows of earlier captures do not have these columns.
    operators.flops.resize(operators.size());
    operators.bytes.resize(operators.size());
    trace::add_row(operators, call.start, call.end, thread, call.name, 0U, call.flops, call.bytes);
  }

  // Also adds an operator.
  // A message's bytes are not memory traffic of its operator.
  void add(const wire::Collective& call, trace::ThreadId thread) {
    collective_operators_.push_back(builder_.trace().operators.size());
    add(wire::CpuOperator{call.start, call.end, 0, 0, call.name, 0}, thread);
    trace::add_row(builder_.trace().collectives, call.start, call.end, thread, 0U, 0U,
                   kind_of(call.kind), call.bytes, call.group, call.members, call.group_size,
                   trace::kNoSequence);
  }

  // `by` is the thread that gave the name, to itself or to another thread.
  void add(const wire::ThreadName& name, trace::ThreadId by) { names_.emplace_back(by, name); }

  // The thread's most recently opened push/pop range that is still open, in any domain.
  // Rows of a thread are in the order of their pushes.
  [[nodiscard]] trace::RangeRow innermost(trace::ThreadId thread) const {
    trace::RangeRow innermost;
    const auto domains = open_.find(thread);
    if (domains == open_.end()) return innermost;
    for (const auto& [domain, open] : domains->second) {
      const auto last =
          std::find_if(open.rbegin(), open.rend(), [](size_t row) { return row != kNoRow; });
      if (last == open.rend()) continue;
      if (!innermost.valid() || *last > innermost.index()) innermost = trace::RangeRow(*last);
    }
    return innermost;
  }

  // Ends ranges and resolves names: until then, text columns hold the log's own keys.
  // A lost domain becomes the default one, in which stages are also recognized.
  void finish() {
    name_threads();
    end_started_ranges();
    for (size_t i = first_range_; i < ranges_.size(); ++i) {
      ranges_.domain[i] = texts_.find(ranges_.domain[i].value);
      ranges_.text[i] = texts_.find_name(ranges_.text[i].value);
      if (ranges_.end[i] == trace::kOpenEnd) ++findings_.open_ranges;
    }
    trace::OperatorTable& operators = builder_.trace().operators;
    for (size_t i = first_operator_; i < operators.size(); ++i) {
      operators.name[i] = texts_.find_name(operators.name[i].value);
    }
    trace::CollectiveTable& collectives = builder_.trace().collectives;
    for (size_t i = first_collective_; i < collectives.size(); ++i) {
      collectives.group[i] = texts_.find(collectives.group[i].value);
      collectives.members[i] = texts_.find(collectives.members[i].value);
    }
  }

  // Turns the CPU operators into kernels of the device cpu:0, each launched by its own thread at
  // its own start, so that analyses treat them like a GPU's kernels. Of nested operators only the
  // innermost are kernels: their time counts once. Collectives get the correlations of their
  // kernels. `last_correlation` is the largest that the process's CUDA calls have.
  void add_operator_kernels(uint32_t last_correlation) {
    trace::Trace& trace = builder_.trace();
    const trace::OperatorTable& operators = trace.operators;
    if (operators.size() == first_operator_) return;
    const std::vector<size_t> order = outer_first(operators, first_operator_);
    const std::vector<bool> inner = innermost_operators(operators, order);
    const trace::DeviceId device = builder_.device(0, trace::DeviceKind::cpu);
    const trace::ShapeId shape = builder_.shape({});
    const trace::StringId api = builder_.string("operator");
    FreeCorrelations correlations(trace, last_correlation, order.size());
    // Rows of earlier captures do not have these columns.
    trace.kernels.flops.resize(trace.kernels.size());
    trace.kernels.bytes.resize(trace.kernels.size());
    for (size_t i = 0; i < order.size(); ++i) {
      if (!inner[i]) {
        ++findings_.outer_operators;
        continue;
      }
      const size_t row = order[i];
      const trace::ThreadId thread = operators.thread[row];
      const uint32_t correlation = correlations.next();
      trace::add_row(trace.kernels, operators.start[row], operators.end[row], operators.name[row],
                     shape, builder_.queue({process_, device, 0, thread.value}), correlation);
      trace.kernels.flops.push_back(operators.flops[row]);
      trace.kernels.bytes.push_back(operators.bytes[row]);
      trace::add_row(trace.launches, operators.start[row], operators.end[row], thread, api,
                     correlation);
      const auto& rows = collective_operators_;
      const auto found = std::lower_bound(rows.begin(), rows.end(), row);
      if (found == rows.end() || *found != row) continue;
      const size_t collective = first_collective_ + static_cast<size_t>(found - rows.begin());
      trace.collectives.correlation[collective] = correlation;
    }
  }

 private:
  // Ranges are nested within a thread and a domain.
  using OpenRows = std::vector<size_t>;  // by depth

  OpenRows& open_rows(trace::ThreadId thread, wire::StringKey domain) {
    if (last_open_ == nullptr || thread != last_thread_ || domain != last_domain_) {
      last_thread_ = thread;
      last_domain_ = domain;
      last_open_ = &open_[thread][domain];
    }
    return *last_open_;
  }

  // The ending thread's records may precede the starting thread's in the file.
  void end_started_ranges() {
    for (const wire::RangeEnd& end : ends_) {
      const auto started = started_.find(end.range);
      if (started == started_.end() || end.time < ranges_.start[started->second]) {
        ++findings_.ends_without_start;
        continue;
      }
      ranges_.end[started->second] = end.time;
      started_.erase(started);
    }
  }

  // The program's names say more than the system's, which are cut at 15 bytes. The system reuses
  // the id of an ended thread: if another thread names it, any thread with that id may be meant, so
  // all get the name.
  void name_threads() {
    for (const auto& [by, record] : names_) {
      const trace::StringId text = texts_.find(record.name);
      if (!text.valid() || texts_.text(text).empty()) continue;
      const std::string name = to_printable(texts_.text(text));
      trace::Thread& own = builder_.thread_info(by);
      if (own.tid == record.thread_id) {
        own.name = name;
        continue;
      }
      for (trace::Thread& thread : builder_.trace().threads) {
        if (thread.process == process_ && thread.tid == record.thread_id) thread.name = name;
      }
    }
  }

  trace::RangeTable& ranges_ = builder_.trace().ranges;
  size_t first_range_ = ranges_.size();
  size_t first_operator_ = builder_.trace().operators.size();
  size_t first_collective_ = builder_.trace().collectives.size();
  std::vector<size_t> collective_operators_;  // rows, in the order of the collectives
  std::unordered_map<trace::ThreadId, std::unordered_map<wire::StringKey, OpenRows>> open_;
  trace::ThreadId last_thread_;  // the last lookup: thread, domain
  wire::StringKey last_domain_ = 0;
  OpenRows* last_open_ = nullptr;                 // and its rows
  std::unordered_map<uint64_t, size_t> started_;  // rows, by range
  std::vector<wire::RangeEnd> ends_;
  std::vector<std::pair<trace::ThreadId, wire::ThreadName>>
      names_;  // with the thread that gave them
};

// CUDA API calls, each with the thread that made it.
class LaunchRows : LogReading {
 public:
  explicit LaunchRows(const LogReading& reading) : LogReading(reading) {}

  void add(const wire::ApiName& named) { names_.add(named.code, {named.name, {}}); }
  // Rows [first, end) of decoded calls.
  void add_calls(const trace::LaunchTable& calls, size_t first, size_t end,
                 trace::ThreadId thread) {
    trace::LaunchTable& launches = builder_.trace().launches;
    append(calls.start, first, end, launches.start);
    append(calls.end, first, end, launches.end);
    launches.thread.insert(launches.thread.end(), end - first, thread);
    append(calls.api, first, end, launches.api);
    append(calls.correlation, first, end, launches.correlation);
  }

  // A call noted by the launch interceptor.
  void add(const wire::HostCall& call, trace::ThreadId thread) {
    trace::HostCallTable& calls = builder_.trace().host_calls;
    trace::add_row(calls, call.start, call.start + call.duration, thread, kind_of(call.kind),
                   call.handle);
    calls.of_driver = calls.of_driver || call.kind >= wire::HostCallKind::driver_kernel;
  }

  // Resolves the calls' names: until then, they hold the log's codes.
  void finish() {
    for (Api& api : names_.values()) api.name = texts_.find_name(api.key);
    trace::LaunchTable& launches = builder_.trace().launches;
    const trace::StringId lost = builder_.string("(name lost)");
    for (size_t i = first_; i < launches.size(); ++i) {
      const Api* api = names_.find(launches.api[i].value);
      if (api == nullptr) ++findings_.lost_names;
      launches.api[i] = api == nullptr ? lost : api->name;
    }
  }

  [[nodiscard]] uint32_t largest_correlation() const {
    return largest_from(builder_.trace().launches.correlation, first_);
  }

 private:
  struct Api {
    wire::StringKey key = 0;
    trace::StringId name;
  };

  size_t first_ = builder_.trace().launches.size();
  Definitions<Api> names_;
};

}  // namespace llmprof::readers::collector_log
