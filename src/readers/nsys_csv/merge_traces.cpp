// The part of the merge that deals with single rows of GPU work, API calls and ranges.

#include <fmt/format.h>
#include <string_view>
#include <unordered_map>

#include "base/text.h"
#include "readers/nsys_csv/merge.h"
#include "readers/nsys_csv/values.h"
#include "trace/append.h"

namespace llmprof::readers::nsys_csv {
namespace {

// The key of the process that is either the only one or unknown; process ids have 32 bits.
constexpr uint64_t kOnlyProcess = UINT64_MAX;

bool could_be_a_domain(std::string_view before, std::string_view behind) {
  if (before.empty() || behind.empty() || behind.front() == ':' || behind.front() == ' ') {
    return false;
  }
  return before.find_first_of(" /(<[=,;") == std::string_view::npos;
}

struct RangeName {
  std::string_view domain;  // empty: the default domain
  std::string_view text;
};

// nsys writes a range as "domain:text"; since 2022 the default domain is ":text", before it was the
// plain text, which may hold colons of its own ("aten::mm", "step: 5").
class RangeNames {
 public:
  // Shows a name of a report, so that its way of writing becomes known.
  void see(std::string_view name) { colon_always_ = colon_always_ || name.starts_with(':'); }
  [[nodiscard]] RangeName split(std::string_view name) const;

 private:
  bool colon_always_ = false;
};

RangeName RangeNames::split(std::string_view name) const {
  const size_t colon = name.find(':');
  if (colon == std::string_view::npos) return {{}, name};
  const std::string_view before = name.substr(0, colon);
  const std::string_view behind = name.substr(colon + 1);
  if (colon == 0 || colon_always_ || could_be_a_domain(before, behind)) return {before, behind};
  return {{}, name};
}

template <class IdType, class Make>
IdType translated(IdType local, size_t locals, std::vector<IdType>& known, Make make) {
  if (!local.valid()) return local;
  if (known.size() < locals) known.resize(locals);
  IdType& id = known[local.index()];
  if (!id.valid()) id = make();
  return id;
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

trace::ThreadId Processes::thread(const CpuRow& row) {
  const auto [known, fresh] = threads_.try_emplace({row.process, row.thread});
  if (!fresh) return known->second;
  known->second = builder_.thread(process(row.process), row.thread, row.thread);
  threads_by_pid_[row.process].push_back(known->second);
  return known->second;
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
  threads_.clear();
  first_pid_ = 0;
  return ambiguous;
}

trace::StringId Merge::string_of(trace::StringId local, Ids& ids) {
  return translated(local, ids.pools->strings.size(), ids.strings,
                    [&] { return builder_.string(ids.pools->strings[local]); });
}

trace::ShapeId Merge::shape_of(trace::ShapeId local, Ids& ids) {
  return translated(local, ids.pools->shapes.size(), ids.shapes,
                    [&] { return builder_.shape(ids.pools->shapes[local]); });
}

trace::QueueId Merge::queue_of(PlaceId local, Ids& ids) {
  const size_t places = ids.pools->places.size();
  if (ids.queues.size() < places) ids.queues.resize(places);
  trace::QueueId& queue = ids.queues[local.index()];
  if (!queue.valid()) queue = queue_at(own_place(local, ids));
  return queue;
}

Place Merge::own_place(PlaceId local, Ids& ids) {
  Place place = ids.pools->places[local];
  place.device = string_of(place.device, ids);
  return place;
}

CpuRow Merge::own_row(CpuRow row, Ids& ids) {
  row.name = string_of(row.name, ids);
  row.thread_name = string_of(row.thread_name, ids);
  return row;
}

GpuRow Merge::own_row(GpuRow row, Ids& ids) {
  row.name = string_of(row.name, ids);
  row.shape = shape_of(row.shape, ids);
  return row;
}

trace::QueueId Merge::queue_at(const Place& place) {
  const trace::DeviceId device = device_at(place);
  return builder_.queue({processes_.process(place.process), device, place.context, place.stream});
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

void Merge::add_gpu_work(const GpuRow& row, trace::QueueId queue) {
  trace::Trace& trace = builder_.trace();
  if (row.work != GpuWork::kernel) {
    trace::MemoryOperationTable& memory = trace.memory_operations;
    // A capture in front may not know them.
    memory.from.resize(memory.size());
    memory.to.resize(memory.size());
    trace::add_row(memory, row.start, row.end, row.bytes, row.name, queue, row.correlation,
                   row.work == GpuWork::copy ? trace::MemoryKind::copy : trace::MemoryKind::set,
                   row.from, row.to);
    return;
  }
  trace::add_row(trace.kernels, row.start, row.end, row.name, row.shape, queue, row.correlation);
}

void Merge::add_launch(const CpuRow& row) {
  const trace::ThreadId thread = processes_.thread(row);
  if (row.thread_name.valid() && builder_.thread_info(thread).name.empty()) {
    builder_.thread_info(thread).name = std::string(builder_.trace().strings[row.thread_name]);
  }
  trace::add_row(builder_.trace().launches, row.start, row.end, thread, row.name, row.correlation);
}

void Merge::add_range(const CpuRow& row) {
  trace::add_row(builder_.trace().ranges, row.start, row.end, processes_.thread(row),
                 trace::StringId(), row.name, row.range_kind);
}

void Merge::add_staged() {
  const auto& gpu_trace = filled_by_[static_cast<size_t>(ReportKind::gpu_trace)];
  const auto& api_trace = filled_by_[static_cast<size_t>(ReportKind::api_trace)];
  const auto& push_pop_trace = filled_by_[static_cast<size_t>(ReportKind::push_pop_trace)];
  const auto left_out = [&](ReportKind subject, const std::string& by, size_t rows) {
    if (rows == 0) return;
    findings_.repeated[fmt::format("the report {} describes the same as {}",
                                   filled_by_[static_cast<size_t>(subject)], by)] += rows;
  };
  if (gpu_trace.empty()) {
    uint32_t row_number = 0;
    for (StagedExec& exec : staged_exec_) {
      // A row is a launch and its kernel, so its number serves as their correlation, unless the
      // launches come from another report, which has correlations of its own.
      ++row_number;
      if (api_trace.empty() && exec.has_launch) {
        exec.kernel.correlation = row_number;
        exec.launch.correlation = row_number;
        add_launch(exec.launch);
      }
      add_gpu_work(exec.kernel, queue_at(exec.place));
    }
  } else {
    left_out(ReportKind::exec_trace, gpu_trace, staged_exec_.size());
  }
  if (push_pop_trace.empty()) {
    for (const CpuRow& range : staged_projected_) add_range(range);
  } else {
    left_out(ReportKind::range_on_gpu_trace, push_pop_trace, staged_projected_.size());
  }
  staged_exec_.clear();
  staged_projected_.clear();
}

void Merge::split_range_names() {
  trace::Trace& trace = builder_.trace();
  const auto is_range = [](const trace::CallSummary& summary) {
    return summary.kind == trace::CallSummary::Kind::range ||
           summary.kind == trace::CallSummary::Kind::range_on_gpu ||
           summary.kind == trace::CallSummary::Kind::kernel_in_range;
  };
  RangeNames names;
  for (size_t i = first_range_; i < trace.ranges.size(); ++i) {
    names.see(trace.strings[trace.ranges.text[i]]);
  }
  for (size_t i = first_call_summary_; i < trace.call_summaries.size(); ++i) {
    const trace::CallSummary& summary = trace.call_summaries[i];
    if (is_range(summary)) names.see(trace.strings[summary.name]);
  }
  struct OwnName {
    trace::StringId domain;
    trace::StringId text;
  };
  std::unordered_map<trace::StringId, OwnName> known;
  const auto split = [&](trace::StringId name) {
    const auto [entry, fresh] = known.try_emplace(name);
    if (fresh) {
      const RangeName parts = names.split(trace.strings[name]);
      if (!parts.domain.empty()) entry->second.domain = builder_.string(parts.domain);
      entry->second.text = builder_.string(parts.text);
    }
    return entry->second;
  };
  for (size_t i = first_range_; i < trace.ranges.size(); ++i) {
    const OwnName name = split(trace.ranges.text[i]);
    trace.ranges.domain[i] = name.domain;
    trace.ranges.text[i] = name.text;
  }
  for (size_t i = first_call_summary_; i < trace.call_summaries.size(); ++i) {
    trace::CallSummary& summary = trace.call_summaries[i];
    if (!is_range(summary) || !summary.name.valid()) continue;
    const OwnName name = split(summary.name);
    summary.domain = name.domain;
    summary.name = name.text;
  }
}

}  // namespace llmprof::readers::nsys_csv
