#include <fmt/format.h>

#include <algorithm>

#include "analysis/budget/gpu_timeline.h"
#include "base/text.h"
#include "query/events/event_columns.h"
#include "query/events/event_tables.h"

namespace llmprof::query {
namespace {

using enum ColumnType;
using profile::Profile;

constexpr auto kKernels = [](const trace::Trace& trace) -> const auto& { return trace.kernels; };
constexpr auto kMemory = [](const trace::Trace& trace) -> const auto& {
  return trace.memory_operations;
};
constexpr auto kReplays = [](const trace::Trace& trace) -> const auto& {
  return trace.graph_replays;
};

std::optional<std::string> lack_of_timeline(const Profile& profile, size_t rows) {
  const bool has_timeline = profile.totals.source == profile::KernelSource::timeline;
  if (rows > 0 || has_timeline || !profile.device_time.empty()) return std::nullopt;
  return "this run has no timeline, in which each kernel has a start and an end. Record one: "
         "`llmprof run -- PROGRAM`, or `nsys profile --trace cuda,nvtx PROGRAM`; totals by name "
         "are in kernel_totals";
}

std::optional<std::string> lack_of_single_kernels(const Profile& profile, size_t rows) {
  if (rows > 0) return std::nullopt;
  if (auto none = lack_of_timeline(profile, rows)) return none;
  return "the kernels of this run are hidden in CUDA graphs (table graphs). Record them one by "
         "one: `llmprof run -- PROGRAM`, or `nsys profile --cuda-graph-trace node PROGRAM`";
}

// What the ranking knows of a kernel's name.
template <class ValueOf>
EventColumn ranked_column(const char* name, const char* meaning, ValueOf value_of) {
  return {{name, text, "", meaning}, [value_of](const EventSource& source) {
            const analysis::KernelRanking& ranking = source.results.ranking;
            std::vector<std::string> texts;
            texts.reserve(ranking.rows.size());
            for (const analysis::KernelRow& row : ranking.rows) {
              texts.emplace_back(value_of(row.description));
            }
            return coded(EventSource::texts(std::move(texts)),
                         [&ranking](size_t row) { return ranking.row_of(row); });
          }};
}

std::string extent_text(const trace::Extent& extent) {
  return fmt::format("{}, {}, {}", extent[0], extent[1], extent[2]);
}

// By launch shape, of which there are few.
template <class ValueOf>
EventColumn shape_number(const char* name, const char* unit, const char* meaning,
                         ValueOf value_of) {
  return {{name, integer, unit, meaning}, [value_of](const EventSource& source) {
            auto values = std::make_shared<std::vector<Value>>();
            for (const trace::LaunchShape& shape : source.trace.shapes.values()) {
              values->push_back(Value::of(static_cast<int64_t>(value_of(shape))));
            }
            const auto& shapes = source.trace.kernels.shape;
            return coded(Dictionary(std::move(values)),
                         [&shapes](size_t row) { return shapes[row].value; });
          }};
}
EventColumn shape_extent(const char* name, const char* meaning,
                         trace::Extent trace::LaunchShape::* member) {
  return {{name, text, "", meaning}, [member](const EventSource& source) {
            std::vector<std::string> texts;
            for (const trace::LaunchShape& shape : source.trace.shapes.values()) {
              // Without a block, the capture does not know the shape.
              texts.push_back(shape.block[0] == 0 ? std::string() : extent_text(shape.*member));
            }
            const auto& shapes = source.trace.kernels.shape;
            return coded(EventSource::texts(std::move(texts)),
                         [&shapes](size_t row) { return shapes[row].value; });
          }};
}

// A number of each kernel that a capture may not have; 0 means none.
template <class Number>
EventColumn kernel_number(const char* name, const char* unit, const char* meaning,
                          std::vector<Number> trace::KernelTable::* column) {
  return {{name, integer, unit, meaning}, [column](const EventSource& source) {
            const auto& numbers = source.trace.kernels.*column;
            return computed([&numbers](size_t row) {
              const bool known = row < numbers.size() && numbers[row] != 0;
              return known ? Value::of_count(uint64_t{numbers[row]}) : Value();
            });
          }};
}

EventColumn in_graph_column() {
  return {{"in_graph", boolean, "", "true if a CUDA graph replayed it"},
          [](const EventSource& source) {
            const trace::Trace& trace = source.trace;
            return computed([&trace](size_t row) {
              return Value::of(int64_t{analysis::replayed_by_graph(trace, row) ? 1 : 0});
            });
          }};
}

EventColumn layer_column() {
  return {{"layer", text, "",
           "layer that counts it, by name in layers; null outside layers and in warm-up"},
          [](const EventSource& source) {
            const analysis::Layers& layers = source.results.layers;
            std::vector<std::string> names;
            names.reserve(layers.rows.size());
            for (const profile::Layer& layer : layers.rows) names.push_back(layer.name);
            return coded(EventSource::texts(std::move(names)), [&layers](size_t row) {
              return row < layers.of_kernel.size() ? layers.of_kernel[row].value : UINT32_MAX;
            });
          }};
}

Table kernels() {
  EventColumns names = {
      {{"name", text, "", "the full name, as kernel_name in kernel_totals"},
       [](const EventSource& source) {
         const auto& name = source.trace.kernels.name;
         return coded(source.strings(), [&name](size_t row) { return name[row].value; });
       }},
      ranked_column("short_name", "short name, at most 60 characters",
                    [](const analysis::KernelDescription& of) { return of.short_name; }),
      ranked_column("class", "what it does for the model",
                    [](const analysis::KernelDescription& of) {
                      return profile::to_string(of.kernel_class);
                    }),
      ranked_column(
          "library",
          "cuBLAS, CUTLASS, cuDNN, FlashAttention, ...; null if the name does not show it",
          [](const analysis::KernelDescription& of) { return to_printable(of.library); }),
  };
  EventColumns shapes = {
      layer_column(),
      in_graph_column(),
      kernel_number(
          "graph", "",
          "number of the CUDA graph that replayed it; null if none did, or if the capture "
          "does not number graphs",
          &trace::KernelTable::graph),
      shape_extent("grid", "x, y, z", &trace::LaunchShape::grid),
      shape_extent("block", "x, y, z", &trace::LaunchShape::block),
      shape_number("registers_per_thread", "", "registers of each thread",
                   [](const trace::LaunchShape& of) { return of.registers_per_thread; }),
      shape_number("shared_bytes", "B", "shared memory of each block, static and dynamic",
                   [](const trace::LaunchShape& of) {
                     return uint64_t{of.static_shared_bytes} + of.dynamic_shared_bytes;
                   }),
      kernel_number("flops", "FLOP", "as the program recorded them; null for GPU kernels",
                    &trace::KernelTable::flops),
      kernel_number("bytes", "B", "bytes moved, as the program recorded them; null for GPU kernels",
                    &trace::KernelTable::bytes),
  };
  return event_table(
      "kernels", "one row per kernel, with its class, stage, step and layer; by start",
      joined({first_columns("kernel"), time_columns(kKernels), std::move(names),
              queue_columns(kKernels), owner_columns([](const analysis::WorkOwners& owners) {
                return std::pair(&owners.kernel_instance, &owners.kernel_step);
              }),
              std::move(shapes)}),
      [](const trace::Trace& trace) { return trace.kernels.size(); }, lack_of_single_kernels);
}

template <class Enum>
Dictionary words(std::initializer_list<std::pair<Enum, std::string_view>> names) {
  std::vector<std::string> texts(names.size());
  for (const auto& [value, name] : names) texts[static_cast<size_t>(value)] = name;
  return EventSource::texts(std::move(texts));
}

EventColumn place_column(const char* name, const char* meaning,
                         std::vector<trace::MemoryPlace> trace::MemoryOperationTable::* column) {
  return {{name, text, "", meaning}, [column](const EventSource& source) {
            using enum trace::MemoryPlace;
            const auto& places = source.trace.memory_operations.*column;
            return coded(words<trace::MemoryPlace>({{unknown, ""},
                                                    {pageable, "pageable"},
                                                    {pinned, "pinned"},
                                                    {host, "host"},
                                                    {device, "device"},
                                                    {array, "array"},
                                                    {managed, "managed"}}),
                         [&places](size_t row) {
                           return row < places.size() ? static_cast<size_t>(places[row]) : 0;
                         });
          }};
}

Table memory_operations() {
  EventColumns own = {
      {{"kind", text, "", "copy, or fill"},
       [](const EventSource& source) {
         const auto& kinds = source.trace.memory_operations.kind;
         return coded(words<trace::MemoryKind>(
                          {{trace::MemoryKind::copy, "copy"}, {trace::MemoryKind::set, "fill"}}),
                      [&kinds](size_t row) { return static_cast<size_t>(kinds[row]); });
       }},
      {{"direction", text, "", "Host-to-Device, Device-to-Host, ...; null if unknown"},
       [](const EventSource& source) {
         const auto& details = source.trace.memory_operations.detail;
         return coded(source.strings(), [&details](size_t row) { return details[row].value; });
       }},
      {{"bytes", integer, "B", "bytes copied or filled; 0 if unknown"},
       [](const EventSource& source) {
         const auto& bytes = source.trace.memory_operations.bytes;
         return computed([&bytes](size_t row) { return Value::of_count(bytes[row]); });
       }},
      place_column("from_memory", "kind of memory that is read; null if unknown",
                   &trace::MemoryOperationTable::from),
      place_column("to_memory", "kind of memory that is written; null if unknown",
                   &trace::MemoryOperationTable::to),
  };
  return event_table(
      "memory_ops", "one row per copy or fill; by start",
      joined({first_columns("memory_op"), time_columns(kMemory), std::move(own),
              queue_columns(kMemory), owner_columns([](const analysis::WorkOwners& owners) {
                return std::pair(&owners.memory_instance, &owners.memory_step);
              })}),
      [](const trace::Trace& trace) { return trace.memory_operations.size(); }, lack_of_timeline);
}

Table graphs() {
  EventColumns own = {
      {{"graph", integer, "", "number of the CUDA graph"}, [](const EventSource& source) {
         const auto& graphs = source.trace.graph_replays.graph;
         return computed([&graphs](size_t row) { return Value::of(int64_t{graphs[row]}); });
       }}};
  return event_table(
      "graphs",
      "one row per replay of a CUDA graph whose kernels were not recorded; others are in kernels, "
      "by column graph",
      joined({first_columns("replay"), time_columns(kReplays), std::move(own),
              queue_columns(kReplays), owner_columns([](const analysis::WorkOwners& owners) {
                return std::pair(&owners.replay_instance, &owners.replay_step);
              })}),
      [](const trace::Trace& trace) { return trace.graph_replays.size(); }, lack_of_timeline);
}

std::optional<std::string> lack_of_counters(const Profile& /*profile*/, size_t rows) {
  if (rows > 0) return std::nullopt;
  return "no counters or sensors of the GPU were recorded. llmprof's collector samples them if the "
         "driver allows it: `llmprof run -- PROGRAM`; `llmprof doctor` says what is missing";
}

Table counters() {
  const auto by_metric = [](const char* name, const char* meaning,
                            trace::StringId trace::Metric::* member) {
    return EventColumn{{name, text, "", meaning}, [member](const EventSource& source) {
                         const trace::Trace& trace = source.trace;
                         return coded(source.strings(), [&trace, member](size_t row) {
                           return (trace.metrics[trace.counters.metric[row]].*member).value;
                         });
                       }};
  };
  EventColumns columns = {
      {{"device", text, "", "as in kernels"},
       [](const EventSource& source) {
         const auto& devices = source.trace.counters.device;
         return coded(source.devices(), [&devices](size_t row) { return devices[row].value; });
       }},
      by_metric("metric", "name of the counter or sensor", &trace::Metric::name),
      by_metric("unit", "unit of value", &trace::Metric::unit),
      {{"value", real, "", "sum or mean over the sample's time, in the row's unit"},
       [](const EventSource& source) {
         const auto& values = source.trace.counters.value;
         return computed([&values](size_t row) { return Value::of(double{values[row]}); });
       }},
  };
  return event_table(
      "counters",
      "samples of the GPU's counters and sensors, by device, metric and start; start_ns equals "
      "end_ns if a sensor was read at an instant",
      joined({first_columns("sample"),
              time_columns([](const trace::Trace& trace) -> const auto& { return trace.counters; }),
              std::move(columns)}),
      [](const trace::Trace& trace) { return trace.counters.size(); }, lack_of_counters);
}

std::optional<std::string> lack_of_allocations(const Profile& /*profile*/, size_t rows) {
  if (rows > 0) return std::nullopt;
  return "no allocations of GPU memory were recorded. llmprof's collector records them: `llmprof "
         "run -- PROGRAM`; so does `nsys profile --cuda-memory-usage true PROGRAM`";
}

// A column of memory_events or memory_readings: the table's member, 0 and `kUnknown` being null if
// `zero_is_null`.
template <class Table, class Number>
EventColumn memory_number(const char* name, const char* unit, const char* meaning,
                          Table trace::Trace::* table, std::vector<Number> Table::* column,
                          bool zero_is_null) {
  return {{name, integer, unit, meaning}, [=](const EventSource& source) {
            const std::vector<Number>& values = source.trace.*table.*column;
            return computed([&values, zero_is_null](size_t row) {
              const auto value = static_cast<uint64_t>(values[row]);
              const bool null =
                  (value == 0 && zero_is_null) || value == trace::MemoryReadingTable::kUnknown;
              return null ? Value() : Value::of_count(value);
            });
          }};
}

template <class Table>
EventColumns moment_columns(Table trace::Trace::* table) {
  return {{{"time_ns", integer, "ns", "time, on the capture's clock"},
           [table](const EventSource& source) {
             const auto& times = (source.trace.*table).time;
             return computed([&times](size_t row) { return Value::of(int64_t{times[row]}); });
           }},
          {{"device", text, "", "as in kernels"},
           [table](const EventSource& source) {
             const auto& devices = (source.trace.*table).device;
             return coded(source.devices(), [&devices](size_t row) { return devices[row].value; });
           }},
          {{"pid", integer, "", "the process"}, [table](const EventSource& source) {
             const trace::Trace& trace = source.trace;
             const auto& processes = (trace.*table).process;
             return computed([&trace, &processes](size_t row) {
               return Value::of_count(trace.processes[processes[row].index()].pid);
             });
           }}};
}

EventColumn text_of_event(const char* name, const char* meaning,
                          std::vector<trace::StringId> trace::MemoryEventTable::* column) {
  return {{name, text, "", meaning}, [column](const EventSource& source) {
            const auto& texts = source.trace.memory_events.*column;
            return coded(source.strings(), [&texts](size_t row) { return texts[row].value; });
          }};
}

Table memory_events() {
  using trace::MemoryEventTable;
  constexpr auto kEvents = &trace::Trace::memory_events;
  EventColumns columns = {
      {{"action", text, "",
        "allocation, release; pool_created, pool_destroyed, pool_trimmed; of virtual memory: "
        "create, map, unmap, release_handle, retain_handle; graph_instantiated, module_loaded"},
       [](const EventSource& source) {
         using enum trace::MemoryAction;
         const auto& actions = source.trace.memory_events.action;
         return coded(words<trace::MemoryAction>({{allocation, "allocation"},
                                                  {release, "release"},
                                                  {pool_created, "pool_created"},
                                                  {pool_destroyed, "pool_destroyed"},
                                                  {pool_trimmed, "pool_trimmed"},
                                                  {create, "create"},
                                                  {map, "map"},
                                                  {unmap, "unmap"},
                                                  {release_handle, "release_handle"},
                                                  {retain_handle, "retain_handle"},
                                                  {graph_instantiated, "graph_instantiated"},
                                                  {module_loaded, "module_loaded"}}),
                      [&actions](size_t row) { return static_cast<size_t>(actions[row]); });
       }},
      {{"kind", text, "", "kind of the memory; null if unknown"},
       [](const EventSource& source) {
         using enum trace::AllocationKind;
         const auto& kinds = source.trace.memory_events.kind;
         return coded(words<trace::AllocationKind>({{unknown, ""},
                                                    {pageable, "pageable"},
                                                    {pinned, "pinned"},
                                                    {device, "device"},
                                                    {array, "array"},
                                                    {managed, "managed"},
                                                    {module_variable, "module_variable"},
                                                    {managed_variable, "managed_variable"}}),
                      [&kinds](size_t row) { return static_cast<size_t>(kinds[row]); });
       }},
      memory_number("address", "", "virtual address; null without one", kEvents,
                    &MemoryEventTable::address, true),
      memory_number("bytes", "B", "bytes, as asked for; of a module: of its code", kEvents,
                    &MemoryEventTable::bytes, false),
      text_of_event("library", "path of the library that called; null if unknown",
                    &MemoryEventTable::library),
      text_of_event("name", "name of a module's variable; null otherwise", &MemoryEventTable::name),
      {{"range", integer, "",
        "index in ranges of the innermost one open on the calling thread; null if unknown"},
       [](const EventSource& source) {
         const auto& ranges = source.trace.memory_events.range;
         return computed([&ranges](size_t row) {
           return ranges[row].valid() ? Value::of(int64_t{ranges[row].value}) : Value();
         });
       }},
      memory_number("correlation", "", "of the call, as in launches; null if unknown", kEvents,
                    &MemoryEventTable::correlation, true),
      memory_number("pool", "", "the pool, or the handle of virtual memory; null without one",
                    kEvents, &MemoryEventTable::owner, true),
      memory_number("pool_bytes", "B", "bytes of the pool then; null without a pool", kEvents,
                    &MemoryEventTable::pool_bytes, true),
      memory_number("pool_used_bytes", "B", "of them, those in use; null without a pool", kEvents,
                    &MemoryEventTable::pool_used_bytes, true),
  };
  return event_table(
      "memory_events",
      "allocations and releases of GPU memory and of pinned memory, and what else takes memory; by "
      "time. Virtual memory may be there twice: as map, and as an allocation with the same "
      "correlation",
      joined({first_columns("memory_event"), moment_columns(kEvents), std::move(columns)}),
      [](const trace::Trace& trace) { return trace.memory_events.size(); }, lack_of_allocations);
}

std::optional<std::string> lack_of_readings(const Profile& /*profile*/, size_t rows) {
  if (rows > 0) return std::nullopt;
  return "GPU memory was not read. llmprof's collector reads it if NVML is there: `llmprof run -- "
         "PROGRAM`";
}

Table memory_readings() {
  using trace::MemoryReadingTable;
  constexpr auto kReadings = &trace::Trace::memory_readings;
  EventColumns columns = {
      {{"moment", text, "", "before_context (the program did not use the GPU yet), running, end"},
       [](const EventSource& source) {
         using enum MemoryReadingTable::Moment;
         const auto& moments = source.trace.memory_readings.moment;
         return coded(words<MemoryReadingTable::Moment>(
                          {{before_context, "before_context"}, {running, "running"}, {end, "end"}}),
                      [&moments](size_t row) { return static_cast<size_t>(moments[row]); });
       }},
      memory_number("total_bytes", "B", "the GPU's memory", kReadings, &MemoryReadingTable::total,
                    false),
      memory_number("free_bytes", "B", "free", kReadings, &MemoryReadingTable::free, false),
      memory_number("used_bytes", "B", "used, without reserved_bytes", kReadings,
                    &MemoryReadingTable::used, false),
      memory_number("reserved_bytes", "B", "reserved by the driver", kReadings,
                    &MemoryReadingTable::reserved, false),
      memory_number("own_bytes", "B", "used by the process; null if NVML does not say", kReadings,
                    &MemoryReadingTable::own, false),
      memory_number("other_bytes", "B", "used by other processes; null if NVML does not say",
                    kReadings, &MemoryReadingTable::others, false),
  };
  return event_table(
      "memory_readings", "the GPU's memory according to NVML; by time",
      joined({first_columns("memory_reading"), moment_columns(kReadings), std::move(columns)}),
      [](const trace::Trace& trace) { return trace.memory_readings.size(); }, lack_of_readings);
}

}  // namespace

std::vector<Table> gpu_tables() {
  return {kernels(), memory_operations(), graphs(), counters(), memory_events(), memory_readings()};
}

}  // namespace llmprof::query
