#pragma once

#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "query/model/table.h"

namespace llmprof::query {

using Dictionary = std::shared_ptr<const std::vector<Value>>;

// What the columns of one table of events are made from. Columns keep the trace and results, which
// outlive them, and dictionaries; not the source itself.
class EventSource {
 public:
  EventSource(const profile::Profile& profile, const Events& events)
      : profile(profile), events(events), trace(events.trace), results(events.results) {}

  const profile::Profile& profile;
  const Events& events;
  const trace::Trace& trace;
  const analysis::Results& results;

  // By id, as profile.json spells texts; null for an empty one.
  [[nodiscard]] const Dictionary& strings() const;
  // "cuda:0", by id; of a job, "rank3/cuda:0", as in profile.json.
  [[nodiscard]] Dictionary devices() const;
  // The numbers 0 to count - 1.
  [[nodiscard]] static Dictionary numbers(size_t count);
  [[nodiscard]] static Dictionary texts(std::vector<std::string> texts);

 private:
  mutable Dictionary strings_;
};

struct EventColumn {
  ColumnInfo info;
  std::function<Values(const EventSource&)> values;
};
using EventColumns = std::vector<EventColumn>;

// `rows_of(trace)` is the number of rows.
Table event_table(std::string name, std::string meaning, EventColumns columns,
                  size_t (*rows_of)(const trace::Trace&),
                  std::optional<std::string> (*lack)(const profile::Profile&, size_t rows));

// The row's index, by which other tables name it; and its rank.
EventColumns first_columns(std::string_view index_name);
// start_ns, end_ns, duration_ns of a table of the trace: `table_of(trace)`.
template <class TableOf>
EventColumns time_columns(TableOf table_of);

// Of GPU work: device, stream, context, pid, and the call that launched it.
template <class TableOf>
EventColumns queue_columns(TableOf table_of);

// Of GPU work: the stage, instance and step that own it, as the analysis found them;
// `owners_of(owners)` is a pair of the two columns of analysis::WorkOwners.
template <class OwnersOf>
EventColumns owner_columns(OwnersOf owners_of);

// The thread of a row on the CPU: tid and pid.
template <class TableOf>
EventColumns thread_columns(TableOf table_of);

EventColumns joined(std::vector<EventColumns> parts);

// ---- templates

template <class TableOf>
EventColumns time_columns(TableOf table_of) {
  using enum ColumnType;
  const auto column = [&](const char* name, const char* meaning, ColumnInfo::Order order,
                          auto value_of) {
    return EventColumn{{name, integer, "ns", meaning, order},
                       [table_of, value_of](const EventSource& source) {
                         const auto& table = table_of(source.trace);
                         return computed([&table, value_of](size_t row) {
                           return value_of(table.start[row], table.end[row]);
                         });
                       }};
  };
  const auto is_open = [](Nanoseconds end) { return end == trace::kOpenEnd; };
  return {
      column("start_ns", "start, on the capture's clock", ColumnInfo::Order::ascending,
             [](Nanoseconds start, Nanoseconds) { return Value::of(int64_t{start}); }),
      column("end_ns", "end; null if it had not ended when recording did", ColumnInfo::Order::none,
             [is_open](Nanoseconds, Nanoseconds end) {
               return is_open(end) ? Value() : Value::of(int64_t{end});
             }),
      column("duration_ns", "end minus start", ColumnInfo::Order::none,
             [is_open](Nanoseconds start, Nanoseconds end) {
               return is_open(end) ? Value() : Value::of(int64_t{end - start});
             })};
}

template <class TableOf>
EventColumns queue_columns(TableOf table_of) {
  using enum ColumnType;
  const auto of_queue = [&](const char* name, const char* meaning, auto value_of) {
    return EventColumn{{name, integer, "", meaning},
                       [table_of, value_of](const EventSource& source) {
                         // By queue, of which there are few: rows are grouped by it.
                         auto values = std::make_shared<std::vector<Value>>();
                         for (const trace::Queue& queue : source.trace.queues.values()) {
                           values->push_back(value_of(source.trace, queue));
                         }
                         const auto& queues = table_of(source.trace).queue;
                         return coded(Dictionary(std::move(values)),
                                      [&queues](size_t row) { return queues[row].value; });
                       }};
  };
  return {
      {{"device", text, "", "as in kernel_totals: cuda:0"},
       [table_of](const EventSource& source) {
         const auto& trace = source.trace;
         const auto& queues = table_of(trace).queue;
         return coded(source.devices(), [&trace, &queues](size_t row) {
           return trace.queues[queues[row]].device.value;
         });
       }},
      of_queue("stream", "number of the CUDA stream",
               [](const trace::Trace&, const trace::Queue& queue) {
                 return Value::of(int64_t{queue.stream});
               }),
      of_queue("context", "number of the CUDA context",
               [](const trace::Trace&, const trace::Queue& queue) {
                 return Value::of(int64_t{queue.context});
               }),
      of_queue("pid", "process that launched it; null if unknown",
               [](const trace::Trace& trace, const trace::Queue& queue) {
                 return queue.process.valid()
                            ? Value::of_count(trace.processes[queue.process.index()].pid)
                            : Value();
               }),
      {{"launch", integer, "", "index in launches of the call that launched it; null if unknown"},
       [table_of](const EventSource& source) {
         const auto& launches = table_of(source.trace).launch;
         return computed([&launches](size_t row) {
           const bool known = row < launches.size() && launches[row].valid();
           return known ? Value::of(int64_t{launches[row].value}) : Value();
         });
       }}};
}

namespace detail {
// The columns of an owner, where it is: `stages` has no owners if there are no stages.
EventColumns columns_of_owners(
    const std::function<const std::vector<analysis::InstanceId>&(const analysis::WorkOwners&)>&
        instances,
    const std::function<const std::vector<analysis::StepId>&(const analysis::WorkOwners&)>& steps);
}  // namespace detail

template <class OwnersOf>
EventColumns owner_columns(OwnersOf owners_of) {
  return detail::columns_of_owners(
      [owners_of](const analysis::WorkOwners& owners) -> const auto& {
        return *owners_of(owners).first;
      },
      [owners_of](const analysis::WorkOwners& owners) -> const auto& {
        return *owners_of(owners).second;
      });
}

template <class TableOf>
EventColumns thread_columns(TableOf table_of) {
  using enum ColumnType;
  const auto of_thread = [&](const char* name, const char* meaning, auto value_of) {
    return EventColumn{{name, integer, "", meaning},
                       [table_of, value_of](const EventSource& source) {
                         auto values = std::make_shared<std::vector<Value>>();
                         for (const trace::Thread& thread : source.trace.threads) {
                           values->push_back(value_of(source.trace, thread));
                         }
                         const auto& threads = table_of(source.trace).thread;
                         return coded(Dictionary(std::move(values)),
                                      [&threads](size_t row) { return threads[row].value; });
                       }};
  };
  return {of_thread("tid", "number of the thread",
                    [](const trace::Trace&, const trace::Thread& thread) {
                      return Value::of_count(thread.tid);
                    }),
          of_thread("pid", "number of its process",
                    [](const trace::Trace& trace, const trace::Thread& thread) {
                      return thread.process.valid()
                                 ? Value::of_count(trace.processes[thread.process.index()].pid)
                                 : Value();
                    })};
}

}  // namespace llmprof::query
