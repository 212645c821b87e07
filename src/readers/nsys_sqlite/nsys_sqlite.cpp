#include "readers/shared/reader.h"

#include <fmt/format.h>
#include <algorithm>
#include <array>

#include "base/secrets/secrets.h"
#include "base/streams/ordered_windows.h"
#include "base/text.h"
#include "readers/nsys_sqlite/memory_events.h"
#include "readers/nsys_sqlite/sqlite_file.h"
#include "readers/nsys_sqlite/tables.h"
#include "readers/shared/tool_words.h"
#include "trace/builder.h"

namespace llmprof::readers {
namespace {

// Accepts only a version: anything else that a damaged or manipulated export has there is dropped.
std::string version_text(std::string_view text) {
  const bool plain =
      text.size() <= 32 && text.find_first_not_of("0123456789.") == std::string_view::npos;
  return std::string(plain ? text : "");
}

std::string raw_value(const NsysSchema& schema, std::string_view table, std::string_view name) {
  SqliteRows rows = schema.file().query(
      fmt::format("SELECT value FROM {} WHERE name = '{}' LIMIT 1", sql_name(table), name));
  return rows.valid() && rows.next() ? std::string(rows.text(0)) : std::string();
}

std::string named_value(const NsysSchema& schema, std::string_view table, std::string_view name) {
  return version_text(raw_value(schema, table, name));
}

void read_gpus(const NsysSchema& schema, trace::TraceBuilder& builder) {
  constexpr std::string_view kColumns =
      "id,name,uuid,smCount,totalMemory,memoryBandwidth,clockRate,computeMajor,computeMinor";
  const auto table = schema.find("TARGET_INFO_GPU");
  if (!table) return;
  SqliteRows rows = schema.file().query(schema.select(*table, kColumns) + " LIMIT 1024");
  while (rows.valid() && rows.next()) {
    trace::Device& device = builder.device_info(builder.device(nsys_unsigned(rows.integer(0))));
    device.name = to_printable(rows.text(1));
    device.uuid = to_printable(rows.text(2));
    device.sm_count = nsys_unsigned(rows.integer(3));
    device.memory_bytes = static_cast<uint64_t>(std::max<int64_t>(0, rows.integer(4)));
    device.memory_bandwidth = static_cast<uint64_t>(std::max<int64_t>(0, rows.integer(5)));
    device.clock_hz = static_cast<uint64_t>(std::max<int64_t>(0, rows.integer(6)));
    if (!rows.is_null(7)) {
      device.compute_capability = fmt::format("{}.{}", rows.integer(7), rows.integer(8));
    }
  }
}

// Version, start time, GPUs and driver of an export, from an allow-list of names: the metadata
// tables also hold command lines and entire environments, which are never read.
void read_nsys_provenance(const NsysSchema& schema, trace::TraceBuilder& builder) {
  trace::Capture& capture = builder.capture();
  capture.rank = rank_of_path(capture.path);
  for (const std::string_view table : {"META_DATA_EXPORT", "EXPORT_META_DATA"}) {
    if (!schema.find(table)) continue;
    capture.tool_version = named_value(schema, table, "EXPORT_PRODUCT_VERSION");
    capture.schema_version = named_value(schema, table, "EXPORT_SCHEMA_VERSION");
  }
  if (schema.find("TARGET_INFO_SYSTEM_ENV")) {
    capture.driver_version = named_value(schema, "TARGET_INFO_SYSTEM_ENV", "NvDriverVersion");
    const auto cuda = parse_int(named_value(schema, "TARGET_INFO_SYSTEM_ENV", "CudaDriverVersion"));
    capture.cuda_version = cuda_version(static_cast<uint64_t>(cuda.value_or(0)));
    constexpr size_t kLongestHost = 64;
    capture.host = shortened(
        to_printable(trim(raw_value(schema, "TARGET_INFO_SYSTEM_ENV", "Hostname"))), kLongestHost);
  }
  if (schema.find("TARGET_INFO_SESSION_START_TIME")) {
    SqliteRows rows =
        schema.file().query("SELECT utcEpochNs FROM TARGET_INFO_SESSION_START_TIME LIMIT 1");
    if (rows.valid() && rows.next() && !rows.is_null(0)) capture.wall_clock_ns = rows.integer(0);
  }
  read_gpus(schema, builder);
}

// nsys's own messages about problems while recording (dropped events, for example).
void read_nsys_diagnostics(const NsysSchema& schema, trace::TraceBuilder& builder) {
  constexpr int64_t kWarning = 2;
  constexpr int64_t kError = 3;
  if (!schema.find("DIAGNOSTIC_EVENT")) return;
  SqliteRows rows = schema.file().query(
      "SELECT severity, text FROM DIAGNOSTIC_EVENT WHERE severity IN (2, 3) LIMIT 1000");
  while (rows.valid() && rows.next()) {
    const int64_t severity = rows.integer(0);
    const std::string text = to_printable(without_secrets(trim(rows.text(1))));
    if (text.empty() || (severity != kWarning && severity != kError)) continue;
    builder.diagnostics().add(severity == kError ? Severity::error : Severity::warning, "nsys_says",
                              "nsys: " + shortened(text, 300));
  }
}

constexpr std::string_view kNsysSqliteFormat = "nsys SQLite";

bool recognizes_nsys_sqlite(std::string_view head) {
  return head.starts_with(std::string_view("SQLite format 3\0", 16));
}

std::string other_sqlite(const std::filesystem::path& path, const NsysSchema& schema) {
  if (schema.is_nvprof()) {
    return fmt::format(
        "{}: this is a profile of nvprof or the Visual Profiler, not of Nsight Systems; record "
        "again with `nsys profile --trace=cuda,nvtx` and export with `nsys export --type sqlite`",
        path.string());
  }
  return fmt::format(
      "{}: this SQLite file is not an export of Nsight Systems (no StringIds and no capture "
      "tables); make one with `nsys export --type sqlite REPORT.nsys-rep`",
      path.string());
}

void report(const std::filesystem::path& path, const NsysTable& table, Diagnostics& diagnostics) {
  diagnostics.warn(
      "nsys_bad_rows",
      fmt::format("{}: skipped rows of {} without a start, or that end before they start",
                  path.filename().string(), table.name()),
      table.bad_rows);
  if (!table.damage.empty()) {
    diagnostics.error(
        "nsys_damaged_table",
        fmt::format("{}: {} is damaged ({}); {} rows could be read, export the report again",
                    path.filename().string(), table.name(), table.damage, table.rows));
  }
}

// Rows in the write-ahead log are not in the file yet, and replaying it would change the file.
void warn_of_pending_changes(const std::filesystem::path& path, Diagnostics& diagnostics) {
  std::error_code missing;
  const auto size = std::filesystem::file_size(path.string() + "-wal", missing);
  if (missing || size == 0) return;
  diagnostics.warn("nsys_pending_changes",
                   fmt::format("{}-wal contains changes that are not in the file yet and are not "
                               "read; close the program that writes it",
                               path.filename().string()));
}

Result<void> read_nsys_sqlite_file(const std::filesystem::path& path,
                                   trace::TraceBuilder& builder) {
  auto file = SqliteFile::open(path);
  if (!file) return fail_with(file.error());
  std::string damage;
  const NsysSchema schema(*file, file->tables(damage));
  if (!damage.empty()) {
    return fail_input(
        fmt::format("{}: the SQLite file is damaged ({}); export the report again with `nsys "
                    "export --type sqlite REPORT.nsys-rep`",
                    path.string(), damage));
  }
  if (!schema.is_nsys()) return fail_input(other_sqlite(path, schema));

  builder.begin_capture(path, kNsysSqliteFormat, "Nsight Systems");
  Diagnostics& diagnostics = builder.diagnostics();
  warn_of_pending_changes(path, diagnostics);
  read_nsys_provenance(schema, builder);
  read_nsys_diagnostics(schema, builder);

  NsysReading reading{schema, builder, NsysPlaces(schema, builder), {}, worker_count()};
  if (!schema.find("CUPTI_ACTIVITY_KIND_KERNEL")) {
    diagnostics.error("no_kernel_table",
                      "the export has no table of kernels: nothing ran on a GPU while nsys traced, "
                      "or CUDA was not traced; record again with `nsys profile --trace=cuda,nvtx` "
                      "(for worker processes add --trace-fork-before-exec=true)");
  }
  const std::vector<std::unique_ptr<NsysTable>> tables = nsys_tables(reading);
  scan_tables(path, *file, tables, reading.workers, [&] {
    for (const auto& table : tables) table->want_strings(reading.strings);
    reading.strings.load(schema, builder);
  });
  for (const auto& table : tables) {
    report(path, *table, diagnostics);
    table->deliver();
  }
  read_nsys_memory_events(schema, builder, reading.places);
  return {};
}

}  // namespace

const Reader kNsysSqliteReader{kNsysSqliteFormat, recognizes_nsys_sqlite, read_nsys_sqlite_file};

bool holds_gpu_kernels(const std::filesystem::path& sqlite_export) {
  constexpr std::array<std::string_view, 2> kTables = {"CUPTI_ACTIVITY_KIND_KERNEL",
                                                       "CUPTI_ACTIVITY_KIND_GRAPH_TRACE"};
  const auto file = SqliteFile::open(sqlite_export);
  if (!file) return true;
  std::string damage;
  static_cast<void>(file->tables(damage));
  if (!damage.empty()) return true;
  for (const std::string_view table : kTables) {
    SqliteRows rows = file->query(fmt::format("SELECT 1 FROM {} LIMIT 1", sql_name(table)));
    // nsys omits a table if it has no rows for it.
    if (rows.valid() && (rows.next() || !rows.damage().empty())) return true;
  }
  return false;
}

}  // namespace llmprof::readers
