#include "readers/nsys_sqlite/nsys_sqlite.h"

#include <fmt/format.h>

#include "base/streams/ordered_windows.h"
#include "readers/nsys_sqlite/provenance.h"
#include "readers/nsys_sqlite/tables.h"

namespace llmprof::readers {
namespace {

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
      "tables); "
      "make one with `nsys export --type sqlite REPORT.nsys-rep`",
      path.string());
}

void report(const std::filesystem::path& path, const ScannedTable& table,
            const ScanOutcome& outcome, Diagnostics& diagnostics) {
  if (outcome.bad_rows > 0) {
    diagnostics.warn("nsys_bad_rows",
                     fmt::format("{}: skipped rows of {} without a start, or that end before they "
                                 "start",
                                 path.filename().string(), table.name()),
                     outcome.bad_rows);
  }
  if (!outcome.damage.empty()) {
    diagnostics.error(
        "nsys_damaged_table",
        fmt::format("{}: {} is damaged ({}); {} rows could be read, export the report again",
                    path.filename().string(), table.name(), outcome.damage, outcome.rows));
  }
}

// A row in the write-ahead log is not in the file yet, and replaying it would change the file.
void warn_of_pending_changes(const std::filesystem::path& path, Diagnostics& diagnostics) {
  std::error_code missing;
  const auto size = std::filesystem::file_size(path.string() + "-wal", missing);
  if (missing || size == 0) return;
  diagnostics.warn(
      "nsys_pending_changes",
      fmt::format("{}-wal contains changes that are not in the file yet and are not read; "
                  "close the program that writes it",
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
        fmt::format("{}: the SQLite file is damaged ({}); export the report again with "
                    "`nsys export --type sqlite REPORT.nsys-rep`",
                    path.string(), damage));
  }
  if (!schema.is_nsys()) return fail_input(other_sqlite(path, schema));

  trace::Capture capture;
  capture.path = path.string();
  capture.format = kNsysSqliteFormat;
  builder.begin_capture(std::move(capture));
  Diagnostics& diagnostics = builder.diagnostics();
  warn_of_pending_changes(path, diagnostics);
  read_nsys_provenance(schema, builder);
  read_nsys_diagnostics(schema, builder);

  NsysReading reading{schema, builder, NsysPlaces(schema, builder), {}, worker_count()};
  std::vector<std::unique_ptr<NsysTable>> tables;
  const auto add = [&](std::string_view name, auto make) {
    if (const auto table = schema.find(name)) tables.push_back(make(*table));
  };
  add("CUPTI_ACTIVITY_KIND_KERNEL", [&](auto& t) { return nsys_kernel_table(reading, t); });
  if (tables.empty()) {
    diagnostics.error(
        "no_kernel_table",
        "the export has no table of kernels: nothing ran on a GPU while nsys traced, or CUDA was "
        "not traced; record again with `nsys profile --trace=cuda,nvtx` (for worker processes add "
        "--trace-fork-before-exec=true)");
  }
  add("CUPTI_ACTIVITY_KIND_RUNTIME", [&](auto& t) { return nsys_launch_table(reading, t); });
  add("CUPTI_ACTIVITY_KIND_MEMCPY",
      [&](auto& t) { return nsys_memory_table(reading, t, trace::MemoryKind::copy); });
  add("CUPTI_ACTIVITY_KIND_MEMSET",
      [&](auto& t) { return nsys_memory_table(reading, t, trace::MemoryKind::set); });
  add("CUPTI_ACTIVITY_KIND_GRAPH_TRACE",
      [&](auto& t) { return nsys_graph_replay_table(reading, t); });
  add("NVTX_EVENTS", [&](auto& t) { return nsys_range_table(reading, t); });

  std::vector<ScannedTable*> scanned;
  scanned.reserve(tables.size());
  for (const auto& table : tables) scanned.push_back(table.get());
  const auto outcomes = scan_tables(path, *file, scanned, reading.workers, [&] {
    for (const auto& table : tables) table->want_strings(reading.strings);
    reading.strings.load(schema, builder);
  });
  for (size_t i = 0; i < tables.size(); ++i) {
    report(path, *tables[i], outcomes[i], diagnostics);
    tables[i]->deliver();
  }
  return {};
}

}  // namespace

const Reader kNsysSqliteReader{kNsysSqliteFormat, recognizes_nsys_sqlite, read_nsys_sqlite_file};

}  // namespace llmprof::readers
