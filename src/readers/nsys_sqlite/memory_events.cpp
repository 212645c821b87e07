#include "readers/nsys_sqlite/memory_events.h"

#include <fmt/format.h>

#include <filesystem>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "trace/append.h"

namespace llmprof::readers {
namespace {

using trace::AllocationKind;
using trace::MemoryAction;

// No machine has as much.
constexpr int64_t kLargestAllocation = int64_t{1} << 50U;

// The meanings of an enum's numbers: the export's own table of them, or those of versions that
// export none. Numbers differ from CUPTI's.
template <class Meaning>
class NsysEnum {
 public:
  // `names`: how the names in the export end.
  using Names = std::vector<std::pair<std::string_view, Meaning>>;

  NsysEnum(const NsysSchema& schema, std::string_view table, const Names& names,
           std::map<int64_t, Meaning> defaults)
      : meanings_(std::move(defaults)) {
    if (!schema.find(table)) return;
    SqliteRows rows = schema.file().query(fmt::format("SELECT id, name FROM {} LIMIT 256", table));
    std::map<int64_t, Meaning> own;
    while (rows.valid() && rows.next()) {
      for (const auto& [end, meaning] : names) {
        if (rows.text(1).ends_with(end)) own[rows.integer(0)] = meaning;
      }
    }
    if (!own.empty()) meanings_ = std::move(own);
  }

  [[nodiscard]] std::optional<Meaning> find(int64_t number) const {
    const auto found = meanings_.find(number);
    return found == meanings_.end() ? std::nullopt : std::optional(found->second);
  }

 private:
  std::map<int64_t, Meaning> meanings_;
};

NsysEnum<MemoryAction> operations(const NsysSchema& schema) {
  using enum MemoryAction;
  return {schema,
          "ENUM_CUDA_DEV_MEM_EVENT_OPER",
          {{"_ALLOCATION", allocation}, {"_DEALLOCATION", release}},
          {{0, allocation}, {1, release}}};
}

NsysEnum<AllocationKind> kinds(const NsysSchema& schema) {
  using enum AllocationKind;
  return {schema,
          "ENUM_CUDA_MEM_KIND",
          {{"_PAGEABLE", pageable},
           {"_PINNED", pinned},
           {"_DEVICE", device},
           {"_ARRAY", array},
           {"_MANAGED", managed},
           {"_DEVICE_STATIC", module_variable},
           {"_MANAGED_STATIC", managed_variable}},
          {{0, pageable},
           {1, pinned},
           {2, device},
           {3, array},
           {4, managed},
           {5, module_variable},
           {6, managed_variable}}};
}

NsysEnum<MemoryAction> pool_operations(const NsysSchema& schema) {
  using enum MemoryAction;
  return {schema,
          "ENUM_CUDA_MEMPOOL_OPER",
          {{"_CREATED", pool_created}, {"_DESTROYED", pool_destroyed}, {"_TRIMMED", pool_trimmed}},
          {{1, pool_created}, {2, pool_destroyed}, {3, pool_trimmed}}};
}

bool is_size(int64_t bytes) { return bytes >= 0 && bytes < kLargestAllocation; }

void report_table(const SqliteRows& rows, std::string_view table, uint64_t bad,
                  trace::TraceBuilder& builder) {
  const std::string file = std::filesystem::path(builder.capture().path).filename().string();
  builder.diagnostics().warn(
      "nsys_bad_rows",
      fmt::format("{}: skipped rows of {} without a time, or with impossible values", file, table),
      bad);
  if (!rows.damage().empty()) {
    builder.diagnostics().error(
        "nsys_damaged_table",
        fmt::format("{}: {} is damaged ({}); the rows before the damage were read, export the "
                    "report again",
                    file, table, rows.damage()));
  }
}

// The size of a pool, which old versions do not state.
std::optional<uint64_t> stated_size(const SqliteRows& rows, int column) {
  if (rows.is_null(column)) return 0;
  const int64_t bytes = rows.integer(column);
  return is_size(bytes) ? std::optional(static_cast<uint64_t>(bytes)) : std::nullopt;
}

const trace::Queue& queue_at(const NsysPlace& place, trace::TraceBuilder& builder,
                             NsysPlaces& places) {
  return builder.trace().queues[places.queue(place)];
}

void read_usage(const NsysSchema& schema, trace::TraceBuilder& builder, NsysPlaces& places) {
  constexpr std::string_view kColumns =
      "start,globalPid,deviceId,contextId,streamId,address,bytes,memKind,memoryOperationType,"
      "correlationId,localMemoryPoolAddress,localMemoryPoolSize,localMemoryPoolUtilizedSize,"
      "importedMemoryPoolAddress";
  const auto table = schema.find("CUDA_GPU_MEMORY_USAGE_EVENTS");
  if (!table) return;
  const auto operation_of = operations(schema);
  const auto kind_of = kinds(schema);
  uint64_t bad = 0;
  uint64_t imported = 0;
  SqliteRows rows = schema.file().query(schema.select(*table, kColumns));
  while (rows.valid() && rows.next()) {
    const auto operation = rows.is_null(8) ? std::nullopt : operation_of.find(rows.integer(8));
    const auto pool_bytes = stated_size(rows, 11);
    const auto pool_used = stated_size(rows, 12);
    if (rows.is_null(0) || rows.integer(0) < 0 || !is_size(rows.integer(6)) || !operation ||
        !pool_bytes || !pool_used) {
      ++bad;
      continue;
    }
    const bool has_pool = rows.integer(10) != 0;
    if (!has_pool && rows.integer(13) != 0) {
      ++imported;
      continue;
    }
    const NsysPlace place = {nsys_process_key(static_cast<uint64_t>(rows.integer(1))),
                             nsys_unsigned(rows.integer(2)), nsys_unsigned(rows.integer(3)),
                             nsys_unsigned(rows.integer(4))};
    const trace::Queue& queue = queue_at(place, builder, places);
    const auto kind = rows.is_null(7) ? std::nullopt : kind_of.find(rows.integer(7));
    trace::add_row(builder.trace().memory_events, rows.integer(0), queue.process, queue.device,
                   *operation, kind.value_or(AllocationKind::unknown),
                   static_cast<uint64_t>(rows.integer(5)), static_cast<uint64_t>(rows.integer(6)),
                   static_cast<uint64_t>(rows.integer(10)), *pool_bytes, *pool_used, place.context,
                   place.stream, nsys_unsigned(rows.integer(9)), trace::StringId(),
                   trace::StringId(), trace::RangeRow());
  }
  builder.diagnostics().info(
      "nsys_imported_pools",
      "allocations in memory pools of other processes: the memory belongs to those", imported);
  report_table(rows, *table, bad, builder);
}

void read_pools(const NsysSchema& schema, trace::TraceBuilder& builder, NsysPlaces& places) {
  constexpr std::string_view kColumns =
      "start,globalPid,deviceId,address,operationType,correlationId,localMemoryPoolSize,"
      "localMemoryPoolUtilizedSize,poolType";
  const auto table = schema.find("CUDA_GPU_MEMORY_POOL_EVENTS");
  if (!table) return;
  enum class PoolType : uint8_t { local, imported };
  const auto operation_of = pool_operations(schema);
  const NsysEnum<PoolType> type_of(schema, "ENUM_CUDA_MEMPOOL_TYPE",
                                   {{"_LOCAL", PoolType::local}, {"_IMPORTED", PoolType::imported}},
                                   {{1, PoolType::local}, {2, PoolType::imported}});
  uint64_t bad = 0;
  SqliteRows rows = schema.file().query(schema.select(*table, kColumns));
  while (rows.valid() && rows.next()) {
    const auto operation = rows.is_null(4) ? std::nullopt : operation_of.find(rows.integer(4));
    const auto bytes = stated_size(rows, 6);
    const auto used = stated_size(rows, 7);
    if (rows.is_null(0) || rows.integer(0) < 0 || rows.integer(3) == 0 || !operation || !bytes ||
        !used) {
      ++bad;
      continue;
    }
    // Of another process, whose memory it is.
    if (!rows.is_null(8) && type_of.find(rows.integer(8)) == PoolType::imported) continue;
    const NsysPlace place = {nsys_process_key(static_cast<uint64_t>(rows.integer(1))),
                             nsys_unsigned(rows.integer(2)), 0, 0};
    const trace::Queue& queue = queue_at(place, builder, places);
    const auto pool = static_cast<uint64_t>(rows.integer(3));
    trace::add_row(builder.trace().memory_events, rows.integer(0), queue.process, queue.device,
                   *operation, AllocationKind::device, uint64_t{0}, uint64_t{0}, pool, *bytes,
                   *used, 0U, 0U, nsys_unsigned(rows.integer(5)), trace::StringId(),
                   trace::StringId(), trace::RangeRow());
  }
  report_table(rows, *table, bad, builder);
}

}  // namespace

void read_nsys_memory_events(const NsysSchema& schema, trace::TraceBuilder& builder,
                             NsysPlaces& places) {
  read_usage(schema, builder, places);
  read_pools(schema, builder, places);
}

}  // namespace llmprof::readers
