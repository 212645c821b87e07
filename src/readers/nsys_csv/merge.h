#pragma once

#include <fmt/format.h>

#include <array>
#include <cstdint>
#include <filesystem>
#include <map>
#include <string>
#include <string_view>
#include <unordered_map>
#include <utility>
#include <vector>

#include "base/error.h"
#include "base/text.h"
#include "readers/nsys_csv/findings.h"
#include "readers/nsys_csv/processes.h"
#include "readers/nsys_csv/rows.h"
#include "readers/nsys_csv/values.h"
#include "trace/append.h"
#include "trace/builder.h"

namespace llmprof::readers::nsys_csv {

// What a table describes, given as the report kinds that describe only that.
inline std::vector<ReportKind> subjects_of(ReportKind kind) {
  if (kind == ReportKind::other) return {};
  if (kind != ReportKind::mixed_summary) return {kind};
  return {ReportKind::kernel_summary, ReportKind::api_summary, ReportKind::memory_summary};
}

// Push/pop and start/end ranges have separate summaries.
inline bool sum_up_different_ranges(std::string_view a, std::string_view b) {
  const auto push_pop = [](std::string_view name) {
    return contains(name, "pushpop") || contains(name, "nvtxpp");
  };
  const auto start_end = [](std::string_view name) {
    return contains(name, "startend") || contains(name, "nvtxss");
  };
  return (push_pop(a) && start_end(b)) || (start_end(a) && push_pop(b));
}

inline bool could_be_a_domain(std::string_view before, std::string_view behind) {
  if (before.empty() || behind.empty() || behind.front() == ':' || behind.front() == ' ') {
    return false;
  }
  return before.find_first_of(" /(<[=,;") == std::string_view::npos;
}

// The domain of a range, empty for the default one, and its text. nsys writes "domain:text". Since
// 2022 the default domain is ":text" (`colon_always`); before, it was the plain text, which may
// contain colons ("aten::mm", "step: 5").
inline std::pair<std::string_view, std::string_view> split_range_name(std::string_view name,
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

// Adds the windows' rows to the trace, in the order of the file. Reports of one export become one
// capture; a file with reports of several exports becomes several.
class Merge {
 public:
  Merge(std::filesystem::path path, trace::TraceBuilder& builder)
      : path_(std::move(path)), builder_(builder), processes_(builder) {}

  void add(WindowContent& content, RowPools& pools) {
    if (!content.tool_version.empty()) tool_version_ = content.tool_version;
    for (std::string& refusal : content.refusals) {
      constexpr size_t kMostRefusals = 8;
      if (findings_.refusals.size() < kMostRefusals) {
        findings_.refusals.push_back(std::move(refusal));
      }
    }
    findings_.unread_lines += content.unread_lines;
    findings_.text_tables |= content.text_tables;
    findings_.ends_within_line = content.ends_within_line;
    for (TablePart& part : content.parts) {
      if (part.begins) open_table(part);
      findings_.bad_rows += part.bad_rows;
      if (part.rows.unused > 0) findings_.unused[table_name_] += part.rows.unused;
      add_rows(part.rows, part.table->kind, pools);
    }
  }

  // Closes the last capture and adds the diagnostics; an error if no row was usable.
  Result<void> finish(std::string damage) {
    if (capture_open_) close_capture();
    findings_.damage = std::move(damage);
    if (findings_.used_rows == 0) return fail_with(nothing_usable(findings_, path_.string()));
    report_findings(findings_, path_.string(), builder_.diagnostics());
    return {};
  }

 private:
  void open_table(const TablePart& part) {
    ++findings_.tables;
    if (!part.source.empty() && part.source != source_) {
      if (!source_.empty()) close_capture();
      source_ = part.source;
    }
    open_ = {};
    repeats_.clear();
    table_name_ = part.table->name;
    if (part.table->kind == ReportKind::other) findings_.unused.try_emplace(table_name_);
    if (!part.table->missing.empty()) findings_.missing_columns[table_name_] = part.table->missing;
    for (const ReportKind subject : subjects_of(part.table->kind)) {
      open_[static_cast<size_t>(subject)] = claim(subject, table_name_);
    }
  }

  [[nodiscard]] bool claim(ReportKind subject, const std::string& report) {
    std::string& filled_by = filled_by_[static_cast<size_t>(subject)];
    if (!filled_by.empty() && !sum_up_different_ranges(filled_by, report)) {
      repeats_ = fmt::format("the report {} describes the same as {} before it", report, filled_by);
      return false;
    }
    filled_by = report;
    return true;
  }

  [[nodiscard]] bool is_open(ReportKind subject) const {
    return open_[static_cast<size_t>(subject)];
  }
  [[nodiscard]] const std::string& filled_by(ReportKind subject) const {
    return filled_by_[static_cast<size_t>(subject)];
  }
  void add_rows(Rows& rows, ReportKind kind, RowPools& pools) {
    if (rows.used == 0) return;
    if (!capture_open_) open_capture();
    uint64_t left_out = 0;
    if (kind < ReportKind::gpu_trace) {
      left_out = add_summaries(rows, pools);
    } else if (is_open(kind)) {
      add_trace_rows(rows, kind, pools);
    } else {
      left_out = rows.used;
    }
    findings_.used_rows += rows.used - left_out;
    if (left_out > 0) findings_.repeated[repeats_] += left_out;
  }

  // Returns how many rows are skipped.
  uint64_t add_summaries(Rows& rows, RowPools& pools) {
    uint64_t left_out = 0;
    const auto add = [&](auto& summary, ReportKind subject, auto& summaries) {
      if (!is_open(subject)) {
        ++left_out;
        return;
      }
      summary.capture = builder_.capture_id();
      summaries.push_back(summary);
    };
    const auto own = [&](std::string_view text) { return builder_.string(text); };
    for (trace::KernelSummary& summary : rows.kernel_summaries) {
      summary.name = pools.strings.settle(summary.name, own);
      add(summary, ReportKind::kernel_summary, builder_.trace().kernel_summaries);
    }
    for (trace::CallSummary& summary : rows.call_summaries) {
      summary.name = pools.strings.settle(summary.name, own);
      summary.kernel = pools.strings.settle(summary.kernel, own);
      add(summary, kCallSummaries.at(static_cast<size_t>(summary.kind)),
          builder_.trace().call_summaries);
    }
    return left_out;
  }

  // Gives rows the trace's strings and shapes. Their queues and threads are ids of places_ and
  // callers_ until it is known that the rows are used.
  void add_trace_rows(Rows& rows, ReportKind kind, RowPools& pools) {
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

  void use(Rows& rows) {
    const auto thread = [&](const Caller& caller) { return processes_.thread(caller); };
    const auto queue = [&](const Place& place) {
      const trace::DeviceId device = device_at(place);
      return builder_.queue(
          {processes_.process(place.process), device, place.context, place.stream});
    };
    callers_.settle(rows.launches.thread, thread);
    callers_.settle(rows.ranges.thread, thread);
    places_.settle(rows.kernels.queue, queue);
    places_.settle(rows.memory_operations.queue, queue);
    append_tables(rows, builder_.trace());
  }

  void add_staged() {
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

  void split_range_names() {
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

  // "NVIDIA H200 (0)" is device 0 and its name.
  [[nodiscard]] trace::DeviceId device_at(const Place& place) {
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

  void open_capture() {
    builder_.begin_capture(path_, "nsys stats CSV", "Nsight Systems");
    builder_.capture().tool_version = tool_version_;
    first_range_ = builder_.trace().ranges.size();
    first_call_summary_ = builder_.trace().call_summaries.size();
    capture_open_ = true;
  }

  void close_capture() {
    if (capture_open_) {
      add_staged();
      split_range_names();
      findings_.processes_unknown |= processes_.settle();
    }
    capture_open_ = false;
    filled_by_ = {};
    unnumbered_devices_.clear();
    places_.unsettle();
    callers_.unsettle();
  }

  std::filesystem::path path_;
  trace::TraceBuilder& builder_;
  Processes processes_;
  // Places and threads of all windows, with strings of the trace, and their ids in this capture.
  LocalPlaces places_;
  LocalCallers callers_;
  Findings findings_;
  std::string tool_version_;

  // State of the open capture.
  bool capture_open_ = false;
  std::string source_;
  // By kind: the report that was used. A second report of that kind repeats the data.
  std::array<std::string, kReportKinds> filled_by_;
  std::map<std::string, uint32_t> unnumbered_devices_;
  Rows staged_exec_;       // used unless a GPU trace has the same and more
  Rows staged_projected_;  // used if there is no range trace
  size_t first_range_ = 0;
  size_t first_call_summary_ = 0;

  // State of the open table.
  std::array<bool, kReportKinds> open_{};
  std::string table_name_;
  std::string repeats_;  // the earlier report with the same data
};

}  // namespace llmprof::readers::nsys_csv
