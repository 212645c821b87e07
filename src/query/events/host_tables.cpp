#include <array>

#include "base/text.h"
#include "query/described/without_paths.h"
#include "query/events/event_columns.h"
#include "query/events/event_tables.h"

namespace llmprof::query {
namespace {

using enum ColumnType;
using profile::Profile;

constexpr auto kCalls = [](const trace::Trace& trace) -> const auto& { return trace.launches; };
constexpr auto kRanges = [](const trace::Trace& trace) -> const auto& { return trace.ranges; };
constexpr auto kOperators = [](const trace::Trace& trace) -> const auto& {
  return trace.operators;
};

std::optional<std::string> lack_of_calls(const Profile& /*profile*/, size_t rows) {
  if (rows > 0) return std::nullopt;
  return "no CUDA calls were recorded. Record them with the GPU's work: `llmprof run -- PROGRAM`, "
         "or `nsys profile --trace cuda,nvtx PROGRAM`";
}

std::optional<std::string> lack_of_ranges(const Profile& /*profile*/, size_t rows) {
  if (rows > 0) return std::nullopt;
  return "the program sets no ranges, or they were not recorded. Set NVTX ranges or llmprof's "
         "annotations (docs/collector.md), and record them: `llmprof run -- PROGRAM`, or `nsys "
         "profile --trace cuda,nvtx PROGRAM`";
}

std::optional<std::string> lack_of_operator_calls(const Profile& profile, size_t rows) {
  if (rows > 0) return std::nullopt;
  if (profile.operators_found.why_not) return without_paths(*profile.operators_found.why_not);
  return "no single calls of operators were recorded. Record them with torch.profiler";
}

std::optional<std::string> lack_of_processes(const Profile& /*profile*/, size_t rows) {
  if (rows > 0) return std::nullopt;
  return "the captures name no processes. Record a timeline: `llmprof run -- PROGRAM`";
}

template <class TableOf>
EventColumn text_column(const char* name, const char* meaning, TableOf ids_of) {
  return {{name, text, "", meaning}, [ids_of](const EventSource& source) {
            const auto& ids = ids_of(source.trace);
            return coded(source.strings(), [&ids](size_t row) { return ids[row].value; });
          }};
}

Table launches() {
  EventColumns own = {
      text_column("api", "name of the call",
                  [](const trace::Trace& trace) -> const auto& { return trace.launches.api; }),
      {{"kind", text, "",
        "launch, graph_launch, synchronization, copy, blocking_copy, allocation, capture_begin, "
        "capture_end or other"},
       [](const EventSource& source) {
         constexpr std::array<std::string_view, 9> kKinds = {
             "other",         "launch",     "graph_launch",  "synchronization", "copy",
             "blocking_copy", "allocation", "capture_begin", "capture_end"};
         static_assert(kKinds.size() == static_cast<size_t>(trace::ApiKind::capture_end) + 1);
         const trace::Trace& trace = source.trace;
         return coded(EventSource::texts({kKinds.begin(), kKinds.end()}), [&trace](size_t row) {
           return static_cast<size_t>(trace.api_kind(trace.launches.api[row]));
         });
       }},
  };
  return event_table(
      "launches", "one row per CUDA call on the CPU: launches, copies, waits for the GPU",
      joined(
          {first_columns("launch"), time_columns(kCalls), std::move(own), thread_columns(kCalls)}),
      [](const trace::Trace& trace) { return trace.launches.size(); }, lack_of_calls);
}

Table ranges() {
  EventColumns own = {
      text_column("text", "text of the range",
                  [](const trace::Trace& trace) -> const auto& { return trace.ranges.text; }),
      text_column("domain", "NVTX domain; null for the default one",
                  [](const trace::Trace& trace) -> const auto& { return trace.ranges.domain; }),
      {{"kind", text, "", "push_pop, start_end, annotation, mark or module"},
       [](const EventSource& source) {
         constexpr std::array<std::string_view, 5> kKinds = {"push_pop", "start_end", "annotation",
                                                             "mark", "module"};
         static_assert(kKinds.size() == static_cast<size_t>(trace::RangeKind::module) + 1);
         const auto& kinds = source.trace.ranges.kind;
         return coded(EventSource::texts({kKinds.begin(), kKinds.end()}),
                      [&kinds](size_t row) { return static_cast<size_t>(kinds[row]); });
       }},
  };
  return event_table(
      "ranges", "NVTX ranges, annotations and modules",
      joined(
          {first_columns("range"), time_columns(kRanges), std::move(own), thread_columns(kRanges)}),
      [](const trace::Trace& trace) { return trace.ranges.size(); }, lack_of_ranges);
}

EventColumn operator_number(const char* name, const char* unit, const char* meaning,
                            std::vector<uint64_t> trace::OperatorTable::* column) {
  return {{name, integer, unit, meaning}, [column](const EventSource& source) {
            const auto& numbers = source.trace.operators.*column;
            return computed([&numbers](size_t row) {
              const bool known = row < numbers.size() && numbers[row] != 0;
              return known ? Value::of_count(numbers[row]) : Value();
            });
          }};
}

Table operators() {
  EventColumns own = {
      text_column("name", "as the framework names it",
                  [](const trace::Trace& trace) -> const auto& { return trace.operators.name; }),
      operator_number("flops", "FLOP", "as the program recorded them; null if it did not",
                      &trace::OperatorTable::flops),
      operator_number("bytes", "B", "bytes moved, as the program recorded them; null if it did not",
                      &trace::OperatorTable::bytes),
  };
  return event_table(
      "operators",
      "one row per call of an operator of the framework, on the CPU; together in "
      "operator_totals",
      joined({first_columns("operator"), time_columns(kOperators), std::move(own),
              thread_columns(kOperators)}),
      [](const trace::Trace& trace) { return trace.operators.size(); }, lack_of_operator_calls);
}

// The name of a program without its folder and arguments.
std::string program_name(std::string_view name) {
  return to_printable(without_paths(name.substr(0, name.find(' '))));
}

Table processes() {
  EventColumns own = {
      {{"pid", integer, "", "number of the process"},
       [](const EventSource& source) {
         const auto& processes = source.trace.processes;
         return computed([&processes](size_t row) { return Value::of_count(processes[row].pid); });
       }},
      {{"name", text, "", "name of the program, without its folder and arguments"},
       [](const EventSource& source) {
         std::vector<std::string> names;
         names.reserve(source.trace.processes.size());
         for (const auto& process : source.trace.processes) {
           names.push_back(program_name(process.name));
         }
         return coded(EventSource::texts(std::move(names)), [](size_t row) { return row; });
       }},
  };
  return event_table(
      "processes", "processes in the captures", joined({first_columns("process"), std::move(own)}),
      [](const trace::Trace& trace) { return trace.processes.size(); }, lack_of_processes);
}

Table threads() {
  EventColumns own = {
      {{"tid", integer, "", "number of the thread"},
       [](const EventSource& source) {
         const auto& threads = source.trace.threads;
         return computed([&threads](size_t row) { return Value::of_count(threads[row].tid); });
       }},
      {{"pid", integer, "", "number of its process"},
       [](const EventSource& source) {
         const trace::Trace& trace = source.trace;
         return computed([&trace](size_t row) {
           const trace::ProcessId process = trace.threads[row].process;
           return process.valid() ? Value::of_count(trace.processes[process.index()].pid) : Value();
         });
       }},
      {{"name", text, "", "name of the thread; null if unknown"},
       [](const EventSource& source) {
         std::vector<std::string> names;
         names.reserve(source.trace.threads.size());
         for (const auto& thread : source.trace.threads) {
           names.push_back(to_printable(without_paths(thread.name)));
         }
         return coded(EventSource::texts(std::move(names)), [](size_t row) { return row; });
       }},
  };
  return event_table(
      "threads", "threads in the captures", joined({first_columns("thread"), std::move(own)}),
      [](const trace::Trace& trace) { return trace.threads.size(); }, lack_of_processes);
}

}  // namespace

std::vector<Table> host_tables() {
  return {launches(), ranges(), operators(), processes(), threads()};
}

}  // namespace llmprof::query
