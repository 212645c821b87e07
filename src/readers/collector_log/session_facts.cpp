#include "readers/collector_log/session_facts.h"

#include <fmt/format.h>

#include <algorithm>
#include <string_view>

#include "base/text.h"
#include "readers/collector_log/place_in_job.h"
#include "readers/collector_log/records.h"
#include "readers/shared/tool_words.h"

namespace llmprof::readers::collector_log {
namespace {

static_assert(static_cast<uint32_t>(trace::CollectionState::stood_down) + 1 ==
              static_cast<uint32_t>(wire::CollectionState::stood_down));
static_assert(static_cast<uint32_t>(trace::CollectionReason::delay) ==
              static_cast<uint32_t>(wire::CollectionReason::delay));

trace::CollectionState state_of(wire::CollectionState state) {
  return static_cast<trace::CollectionState>(static_cast<uint32_t>(state) - 1);
}

std::string why_stood_down(const wire::Collection& change) {
  switch (change.reason) {
    case wire::CollectionReason::other_subscriber:
      return "CUDA tracing stopped: another tool (nsys, ncu, torch.profiler) uses CUPTI, which "
             "serves one at a time; kernels were not recorded. Run without the other tool";
    case wire::CollectionReason::cupti_missing:
      return "CUDA tracing stopped: libcupti could not be loaded, so kernels were not "
             "recorded. It comes with the CUDA toolkit and with PyTorch; LLMPROF_CUPTI names its "
             "path";
    case wire::CollectionReason::cupti_failed:
      return fmt::format(
          "CUDA tracing stopped: CUPTI failed with result {}, so kernels were not "
          "recorded from then on. Set LLMPROF_CUPTI to another libcupti",
          change.result);
    default:
      return "CUDA tracing stopped: kernels were not recorded from then on";
  }
}

}  // namespace

void SessionFacts::add(const wire::CudaSession& session) {
  builder_.capture().cuda_version = cuda_version(session.driver_version);
  sessions_.push_back(session);
}

void SessionFacts::add(const wire::CudaDevice& record) {
  trace::Device& device = builder_.device_info(builder_.device(record.ordinal));
  device.name = to_printable({record.name, strnlen(record.name, sizeof record.name)});
  device.uuid = uuid_text(record.uuid);
  device.sm_count = record.sm_count;
  device.memory_bytes = record.memory_bytes;
  device.memory_bandwidth = record.memory_bandwidth;
  device.clock_hz = record.clock_hz;
  device.compute_capability =
      fmt::format("{}.{}", record.capability_major, record.capability_minor);
}

void SessionFacts::add(const wire::Collection& change) {
  armed_ = true;
  trace::add_row(builder_.trace().collection, change.time, process_, state_of(change.state),
                 static_cast<trace::CollectionReason>(change.reason), change.step, change.cost_ns);
  if (change.state == wire::CollectionState::stood_down) {
    findings_.notices.push_back(
        {Severity::warning, "collector_stood_down", why_stood_down(change)});
  }
}

void SessionFacts::add(const wire::Dropped& dropped) {
  findings_.dropped = std::max(findings_.dropped, dropped.records);
}

void SessionFacts::add(const wire::CleanEnd& end) {
  findings_.closed = true;
  findings_.chunks_when_closed = end.chunks;
  findings_.dropped = std::max(findings_.dropped, end.dropped);
}

void SessionFacts::tell_driver_and_cupti(const Texts& texts) {
  for (const wire::CudaSession& session : sessions_) {
    if (session.kernel_driver != 0) {
      const trace::StringId version = texts.find(session.kernel_driver, findings_);
      builder_.capture().driver_version = std::string(texts.text(version));
    }
    const trace::StringId path = texts.find(session.cupti_path, findings_);
    if (session.cupti_version == 0) continue;
    findings_.notices.push_back({Severity::info, "collector_cupti",
                                 fmt::format("recorded through CUPTI {}{}{}", session.cupti_version,
                                             path.valid() ? ", " : "", texts.text(path))});
  }
}

void SessionFacts::tell_never_armed(const Texts& texts) {
  if (!waiting_ || armed_) return;
  std::string what;
  switch (waiting_->what) {
    case wire::WaitsFor::command:
      what =
          "`llmprof arm PID`, which was not given; give it while the program runs, or record from "
          "the start (LLMPROF_ARM=start)";
      break;
    case wire::WaitsFor::range:
      what = fmt::format(
          "the range '{}', which never opened after CUDA was initialized; name one that the "
          "program opens (LLMPROF_ARM), or record from the start (LLMPROF_ARM=start)",
          to_printable(texts.text(texts.find(waiting_->range, findings_))));
      break;
    case wire::WaitsFor::delay:
      what = fmt::format(
          "the delay of {} ms (LLMPROF_DELAY_MS), and the log ends before that; set a shorter "
          "delay",
          waiting_->delay_ms);
  }
  findings_.never_armed = true;
  findings_.notices.push_back({Severity::warning, "collector_never_armed",
                               "the collector was loaded but never armed, so no GPU work was "
                               "recorded: it waited for " +
                                   what});
}

void SessionFacts::tell_counters_off(const Texts& texts) {
  for (const wire::CountersOff& off : counters_off_) {
    const trace::StringId reason = texts.find(off.reason, findings_);
    findings_.notices.push_back(
        {Severity::warning, "collector_counters_off",
         std::string(reason.valid() ? texts.text(reason)
                                    : "hardware counters are off; the reason was lost")});
  }
}

void SessionFacts::find_place_in_job(const Texts& texts) {
  LauncherVariables variables;
  for (const wire::Variable& variable : variables_) {
    const std::string_view name = texts.text(texts.find(variable.name, findings_));
    const std::string_view value = texts.text(texts.find(variable.value, findings_));
    if (!name.empty()) variables.insert_or_assign(name, value);
  }
  const PlaceInJob place = place_in_job(variables);
  trace::Capture& capture = builder_.capture();
  capture.rank = place.rank;
  capture.local_rank = place.local_rank;
  capture.world_size = place.world_size;
  capture.job = place.job;
  findings_.bad_values += place.bad_values;
}

void SessionFacts::finish(Texts& texts) {
  tell_driver_and_cupti(texts);
  tell_never_armed(texts);
  tell_counters_off(texts);
  find_place_in_job(texts);
}

}  // namespace llmprof::readers::collector_log
