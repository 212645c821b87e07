#include "readers/nsys_sqlite/memory_events.h"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <string>
#include <string_view>

#include "trace/append.h"

namespace llmprof::readers {
namespace {

// nsys's numbers, which differ from CUPTI's (ENUM_CUDA_DEV_MEM_EVENT_OPER, ENUM_CUDA_MEM_KIND).
constexpr int64_t kOperations = 2;  // 0: allocation, 1: release
constexpr int64_t kKinds = 7;       // then: unknown

trace::AllocationKind kind_of(int64_t number) {
  using enum trace::AllocationKind;
  static_assert(static_cast<int64_t>(pageable) == 1 &&
                static_cast<int64_t>(managed_variable) == kKinds);
  return number >= 0 && number < kKinds ? static_cast<trace::AllocationKind>(number + 1) : unknown;
}

uint64_t to_count(int64_t number) { return static_cast<uint64_t>(std::max<int64_t>(number, 0)); }

}  // namespace

void read_nsys_memory_events(const NsysSchema& schema, trace::TraceBuilder& builder,
                             NsysPlaces& places) {
  constexpr int64_t kMostMemory = int64_t{1} << 50U;
  constexpr std::string_view kColumns =
      "start,globalPid,deviceId,contextId,streamId,address,bytes,memKind,memoryOperationType,"
      "correlationId,localMemoryPoolAddress,localMemoryPoolSize,localMemoryPoolUtilizedSize";
  const auto table = schema.find("CUDA_GPU_MEMORY_USAGE_EVENTS");
  if (!table) return;
  uint64_t bad = 0;
  SqliteRows rows = schema.file().query(schema.select(*table, kColumns));
  while (rows.valid() && rows.next()) {
    const int64_t bytes = rows.integer(6);
    const int64_t operation = rows.integer(8);
    if (rows.is_null(0) || rows.integer(0) < 0 || bytes < 0 || bytes >= kMostMemory ||
        operation < 0 || operation >= kOperations) {
      ++bad;
      continue;
    }
    const NsysPlace place = {nsys_process_key(static_cast<uint64_t>(rows.integer(1))),
                             nsys_unsigned(rows.integer(2)), nsys_unsigned(rows.integer(3)),
                             nsys_unsigned(rows.integer(4))};
    const trace::Queue& queue = builder.trace().queues[places.queue(place)];
    trace::add_row(
        builder.trace().memory_events, rows.integer(0), queue.process, queue.device,
        operation == 0 ? trace::MemoryAction::allocation : trace::MemoryAction::release,
        kind_of(rows.is_null(7) ? -1 : rows.integer(7)), static_cast<uint64_t>(rows.integer(5)),
        static_cast<uint64_t>(bytes), static_cast<uint64_t>(rows.integer(10)),
        to_count(rows.integer(11)), to_count(rows.integer(12)), place.context, place.stream,
        nsys_unsigned(rows.integer(9)), trace::StringId(), trace::StringId(), trace::RangeRow());
  }
  const std::string file = std::filesystem::path(builder.capture().path).filename().string();
  builder.diagnostics().warn(
      "nsys_bad_rows",
      fmt::format("{}: skipped rows of {} without a time, or with impossible values", file, *table),
      bad);
  if (!rows.damage().empty()) {
    builder.diagnostics().error(
        "nsys_damaged_table",
        fmt::format("{}: {} is damaged ({}); the rows before the damage were read, export the "
                    "report again",
                    file, *table, rows.damage()));
  }
}

}  // namespace llmprof::readers
