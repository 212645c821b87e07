// The part of the merge that handles individual rows of GPU work, API calls and ranges.

#include <fmt/format.h>
#include <string_view>
#include <unordered_map>
#include <utility>

#include "base/text.h"
#include "readers/nsys_csv/merge.h"
#include "readers/nsys_csv/values.h"
#include "trace/append.h"

namespace llmprof::readers::nsys_csv {
namespace {

// The key of a process that is the only one or unknown; process ids have 32 bits.
constexpr uint64_t kOnlyProcess = UINT64_MAX;

bool could_be_a_domain(std::string_view before, std::string_view behind) {
  if (before.empty() || behind.empty() || behind.front() == ':' || behind.front() == ' ') {
    return false;
  }
  return before.find_first_of(" /(<[=,;") == std::string_view::npos;
}

// The domain of a range, empty for the default one, and its text. nsys writes "domain:text". Since
// 2022 the default domain is ":text" (`colon_always`); before, it was the plain text, which may
// contain colons ("aten::mm", "step: 5").
std::pair<std::string_view, std::string_view> split_range_name(std::string_view name,
                                                               bool colon_always) {
  const size_t colon = name.find(':');
  if (colon == std::string_view::npos) return {{}, name};
  const std::string_view before = name.substr(0, colon);
  const std::string_view behind = name.substr(colon + 1);
  if (colon == 0 || colon_always || could_be_a_domain(before, behind)) return {before, behind};
  return {{}, name};
}

// Appends to tables with the same names.
template <class Tables>
void append_tables(Rows& rows, Tables& to) {
  trace::append_rows(to.kernels, rows.kernels);
  trace::append_rows(to.memory_operations, rows.memory_operations);
  trace::append_rows(to.launches, rows.launches);
  trace::append_rows(to.ranges, rows.ranges);
}

}  // namespace

trace::ProcessId Processes::process(uint32_t pid) {
  if (pid == 0) {
    unnamed_work_ = true;
    return builder_.process(kOnlyProcess, first_pid_);
  }
  if (first_pid_ == 0) first_pid_ = pid;
  threads_by_pid_.try_emplace(pid);
  if (pid != first_pid_) return builder_.process(pid, pid);
  const trace::ProcessId only = builder_.process(kOnlyProcess, pid);
  builder_.process_info(only).pid = pid;
  return only;
}

trace::ThreadId Processes::thread(const Caller& caller) {
  const trace::ThreadId thread =
      builder_.thread(process(caller.process), caller.thread, caller.thread);
  threads_by_pid_[caller.process].push_back(thread);
  if (caller.name.valid() && builder_.thread_info(thread).name.empty()) {
    builder_.thread_info(thread).name = std::string(builder_.trace().strings[caller.name]);
  }
  return thread;
}

bool Processes::settle() {
  const bool ambiguous = unnamed_work_ && threads_by_pid_.size() - threads_by_pid_.count(0) > 1;
  if (ambiguous) {
    builder_.process_info(builder_.process(kOnlyProcess, 0)).pid = 0;
    const trace::ProcessId first = builder_.process(first_pid_, first_pid_);
    for (const trace::ThreadId thread : threads_by_pid_[first_pid_]) {
      builder_.thread_info(thread).process = first;
    }
  }
  unnamed_work_ = false;
  threads_by_pid_.clear();
  first_pid_ = 0;
  return ambiguous;
}

// "NVIDIA H200 (0)" is device 0 and its name.
trace::DeviceId Merge::device_at(const Place& place) {
  const std::string_view text = builder_.trace().strings[place.device];
  const size_t open = text.rfind('(');
  uint32_t ordinal = place.device_number;
  std::string_view name = text;
  if (open != std::string_view::npos && text.ends_with(')')) {
    if (const auto number = parse_number(text.substr(open + 1, text.size() - open - 2))) {
      ordinal = *number;
      name = trim(text.substr(0, open));
    }
  }
  if (!text.empty() && name.size() == text.size()) {
    const auto next = static_cast<uint32_t>(unnumbered_devices_.size());
    ordinal = unnumbered_devices_.try_emplace(std::string(text), next).first->second;
    findings_.devices_unnumbered = true;
  }
  const trace::DeviceId device = builder_.device(ordinal);
  if (!name.empty()) builder_.device_info(device).name = std::string(name);
  return device;
}

// Gives rows the trace's strings and shapes. Their queues and threads are ids of places_ and
// callers_ until it is known that the rows are used.
void Merge::add_trace_rows(Rows& rows, ReportKind kind, RowPools& pools) {
  const auto own_string = [&](std::string_view text) { return builder_.string(text); };
  const auto own_place = [&](Place place) {
    place.device = pools.strings.settle(place.device, own_string);
    return places_.intern(place);
  };
  const auto own_caller = [&](Caller caller) {
    caller.name = pools.strings.settle(caller.name, own_string);
    return callers_.intern(caller);
  };
  pools.places.settle(rows.kernels.queue, own_place);
  pools.places.settle(rows.memory_operations.queue, own_place);
  pools.callers.settle(rows.launches.thread, own_caller);
  pools.callers.settle(rows.ranges.thread, own_caller);
  pools.strings.settle(rows.kernels.name, own_string);
  pools.strings.settle(rows.memory_operations.detail, own_string);
  pools.strings.settle(rows.launches.api, own_string);
  pools.strings.settle(rows.ranges.text, own_string);
  pools.shapes.settle(rows.kernels.shape,
                      [&](const trace::LaunchShape& shape) { return builder_.shape(shape); });
  findings_.rounded_sizes += rows.rounded_sizes;
  if (kind == ReportKind::exec_trace) {
    append_tables(rows, staged_exec_);
  } else if (kind == ReportKind::range_on_gpu_trace) {
    append_tables(rows, staged_projected_);
  } else {
    use(rows);
  }
}

void Merge::use(Rows& rows) {
  const auto thread = [&](const Caller& caller) { return processes_.thread(caller); };
  const auto queue = [&](const Place& place) {
    const trace::DeviceId device = device_at(place);
    return builder_.queue({processes_.process(place.process), device, place.context, place.stream});
  };
  callers_.settle(rows.launches.thread, thread);
  callers_.settle(rows.ranges.thread, thread);
  places_.settle(rows.kernels.queue, queue);
  places_.settle(rows.memory_operations.queue, queue);
  append_tables(rows, builder_.trace());
}

void Merge::add_staged() {
  const auto is_needed = [&](ReportKind staged, ReportKind better, size_t rows) {
    if (filled_by(better).empty() || rows == 0) return true;
    findings_.repeated[fmt::format("the report {} describes the same as {}", filled_by(staged),
                                   filled_by(better))] += rows;
    return false;
  };
  trace::KernelTable& kernels = staged_exec_.kernels;
  trace::LaunchTable& launches = staged_exec_.launches;
  if (is_needed(ReportKind::exec_trace, ReportKind::gpu_trace, kernels.size())) {
    // A row is a launch and its kernel, so its number serves as their correlation, unless the
    // launches come from another report, which has its own correlations.
    const bool own_launches = filled_by(ReportKind::api_trace).empty();
    if (!own_launches) launches = {};
    size_t launch = 0;
    for (uint32_t row = 0; row < kernels.size(); ++row) {
      if (kernels.correlation[row] == 0) continue;
      kernels.correlation[row] = own_launches ? row + 1 : 0;
      if (own_launches) launches.correlation[launch++] = row + 1;
    }
    use(staged_exec_);
  }
  if (is_needed(ReportKind::range_on_gpu_trace, ReportKind::push_pop_trace,
                staged_projected_.ranges.size())) {
    use(staged_projected_);
  }
  staged_exec_ = {};
  staged_projected_ = {};
}

void Merge::split_range_names() {
  trace::Trace& trace = builder_.trace();
  const auto each_name = [&](const auto& visit) {
    for (size_t i = first_range_; i < trace.ranges.size(); ++i) {
      visit(trace.ranges.text[i], trace.ranges.domain[i]);
    }
    for (size_t i = first_call_summary_; i < trace.call_summaries.size(); ++i) {
      trace::CallSummary& summary = trace.call_summaries[i];
      const bool is_range = summary.kind == trace::CallSummary::Kind::range ||
                            summary.kind == trace::CallSummary::Kind::range_on_gpu ||
                            summary.kind == trace::CallSummary::Kind::kernel_in_range;
      if (is_range && summary.name.valid()) visit(summary.name, summary.domain);
    }
  };
  bool colon_always = false;
  each_name([&](trace::StringId name, trace::StringId) {
    colon_always = colon_always || trace.strings[name].starts_with(':');
  });
  struct OwnName {
    trace::StringId domain;
    trace::StringId text;
  };
  std::unordered_map<trace::StringId, OwnName> known;
  each_name([&](trace::StringId& name, trace::StringId& domain) {
    const auto [entry, fresh] = known.try_emplace(name);
    if (fresh) {
      const auto parts = split_range_name(trace.strings[name], colon_always);
      if (!parts.first.empty()) entry->second.domain = builder_.string(parts.first);
      entry->second.text = builder_.string(parts.second);
    }
    domain = entry->second.domain;
    name = entry->second.text;
  });
}

}  // namespace llmprof::readers::nsys_csv
