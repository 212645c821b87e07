#include "readers/nsys_sqlite/provenance.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "base/secrets/secrets.h"
#include "base/text.h"
#include "readers/nsys_sqlite/keys.h"
#include "readers/shared/rank_of_path.h"

namespace llmprof::readers {
namespace {

// A version and nothing else: whatever a damaged or doctored export puts there instead is dropped.
std::string version_text(std::string_view text) {
  const bool plain = text.size() <= 32 && std::all_of(text.begin(), text.end(), [](char c) {
                       return (c >= '0' && c <= '9') || c == '.';
                     });
  return plain ? std::string(text) : std::string();
}

std::string raw_value(const NsysSchema& schema, std::string_view table, std::string_view name) {
  SqliteRows rows = schema.file().query(
      fmt::format("SELECT value FROM {} WHERE name = '{}' LIMIT 1", sql_name(table), name));
  return rows.valid() && rows.next() ? std::string(rows.text(0)) : std::string();
}

std::string named_value(const NsysSchema& schema, std::string_view table, std::string_view name) {
  return version_text(raw_value(schema, table, name));
}

// 13000 is 13.0.
std::string cuda_version(const std::string& number) {
  const auto value = parse_int(number);
  if (!value || *value < 1000) return {};
  return fmt::format("{}.{}", *value / 1000, *value % 1000 / 10);
}

void read_gpus(const NsysSchema& schema, trace::TraceBuilder& builder) {
  constexpr std::array<std::string_view, 9> kColumns = {
      "id",        "name",         "uuid",        "smCount", "totalMemory", "memoryBandwidth",
      "clockRate", "computeMajor", "computeMinor"};
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

}  // namespace

void read_nsys_provenance(const NsysSchema& schema, trace::TraceBuilder& builder) {
  trace::Capture& capture = builder.capture();
  capture.tool = "Nsight Systems";
  capture.rank = rank_of_path(capture.path);
  for (const std::string_view table : {"META_DATA_EXPORT", "EXPORT_META_DATA"}) {
    if (!schema.find(table)) continue;
    capture.tool_version = named_value(schema, table, "EXPORT_PRODUCT_VERSION");
    capture.schema_version = named_value(schema, table, "EXPORT_SCHEMA_VERSION");
  }
  if (schema.find("TARGET_INFO_SYSTEM_ENV")) {
    capture.driver_version = named_value(schema, "TARGET_INFO_SYSTEM_ENV", "NvDriverVersion");
    capture.cuda_version =
        cuda_version(named_value(schema, "TARGET_INFO_SYSTEM_ENV", "CudaDriverVersion"));
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

}  // namespace llmprof::readers
