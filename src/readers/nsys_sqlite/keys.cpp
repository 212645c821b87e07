
#include "readers/nsys_sqlite/tables.h"

namespace llmprof::readers {

trace::ProcessId nsys_process(trace::TraceBuilder& builder, uint64_t global_id) {
  return builder.process(nsys_process_key(global_id), nsys_pid(global_id));
}

trace::ThreadId nsys_thread(trace::TraceBuilder& builder, uint64_t global_tid) {
  return builder.thread(nsys_process(builder, global_tid), global_tid,
                        global_tid & kNsysThreadMask);
}

NsysPlaces::NsysPlaces(const NsysSchema& schema, trace::TraceBuilder& builder)
    : builder_(builder), lone_process_(lone_process(schema)) {
  if (!schema.find("TARGET_INFO_CUDA_DEVICE")) return;
  SqliteRows rows =
      schema.file().query("SELECT pid, cudaId, gpuId FROM TARGET_INFO_CUDA_DEVICE LIMIT 65536");
  while (rows.valid() && rows.next()) {
    machine_device_[{static_cast<uint64_t>(rows.integer(0)), rows.integer(1)}] =
        nsys_unsigned(rows.integer(2));
  }
}

// Trimmed exports do not name a kernel's process. If all API calls come from one process, it is
// that one; with several, kernels cannot be assigned and stay without a launch.
uint64_t NsysPlaces::lone_process(const NsysSchema& schema) {
  const auto kernels = schema.find("CUPTI_ACTIVITY_KIND_KERNEL");
  const auto calls = schema.find("CUPTI_ACTIVITY_KIND_RUNTIME");
  if (!kernels || !calls || schema.has_column(*kernels, "globalPid")) return 0;
  SqliteRows rows =
      schema.file().query("SELECT min(globalTid), max(globalTid) FROM " + sql_name(*calls));
  if (!rows.valid() || !rows.next() || rows.is_null(0)) return 0;
  const uint64_t first = nsys_process_key(static_cast<uint64_t>(rows.integer(0)));
  const uint64_t last = nsys_process_key(static_cast<uint64_t>(rows.integer(1)));
  return first == last ? first : 0;
}

trace::QueueId NsysPlaces::queue(const NsysPlace& place) {
  uint32_t ordinal = place.device;
  const auto known = machine_device_.find({nsys_pid(place.process), place.device});
  if (known != machine_device_.end()) ordinal = known->second;
  trace::Queue queue;
  queue.process = nsys_process(builder_, place.process != 0 ? place.process : lone_process_);
  queue.device = builder_.device(ordinal);
  queue.context = place.context;
  queue.stream = place.stream;
  return builder_.queue(queue);
}

void NsysStrings::load(const NsysSchema& schema, trace::TraceBuilder& builder) {
  SqliteRows rows = schema.file().query("SELECT id, value FROM StringIds");
  while (rows.valid() && ids_.size() < wanted_.size() && rows.next()) {
    const int64_t id = rows.integer(0);
    if (wanted_.contains(id)) ids_.emplace(id, builder.string(rows.text(1)));
  }
  if (!rows.damage().empty()) {
    builder.diagnostics().error(
        "nsys_damaged_table",
        "the export's table StringIds is damaged (" + rows.damage() + "); some names are missing");
  }
  if (ids_.size() < wanted_.size()) {
    builder.diagnostics().warn("nsys_missing_strings",
                               "names that the export refers to but does not contain",
                               wanted_.size() - ids_.size());
  }
}

}  // namespace llmprof::readers
