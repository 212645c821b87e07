#include "collector/cuda/counters/counters_off.h"

#include <unistd.h>

#include <cstdio>
#include <cstring>

#include "collector/cuda/counters/samples.h"
#include "collector/cuda/cupti/cupti_library.h"
#include "collector/environment.h"

namespace llmprof::collector {
namespace {

constexpr size_t kSentenceBytes = 1024;
constexpr size_t kNameBytes = 64;

constexpr char kAdministratorsAlone[] =
    "the driver restricts counters to administrators (RmProfilingAdminOnly is 1). Run as root or "
    "with CAP_SYS_ADMIN (in a container: --cap-add=SYS_ADMIN), or allow them for all users: add "
    "the "
    "line \"options nvidia NVreg_RestrictProfilingToAdminUsers=0\" to /etc/modprobe.d/nvidia.conf "
    "and "
    "reload the driver";
constexpr char kVirtualNeedsPermission[] =
    "the hypervisor does not allow counters on this virtual GPU: its administrator can enable them "
    "with the vGPU setting enable_profiling=1";
constexpr char kBusy[] =
    "another program uses the GPU's counters (DCGM, nsys, ncu, another llmprof): stop it while "
    "this "
    "one runs, DCGM with \"dcgmi profile --pause\"";
constexpr char kNotSupported[] =
    "this GPU or its mode (vGPU, MIG, confidential computing, WSL) has no PM sampling; ncu may "
    "still be able to read its counters";
constexpr char kOldInterface[] =
    "the program itself uses CUPTI's older profiling API, which cannot be combined with PM "
    "sampling: "
    "run it without";

bool administrators_alone() {
  char text[8192];
  read_front("/proc/driver/nvidia/params", text, sizeof text);
  return std::strstr(text, "RmProfilingAdminOnly: 1") != nullptr && geteuid() != 0;
}

// Null: nothing more is known than CUPTI's result code.
const char* reason_of(CUptiResult result) {
  switch (result) {
    case CUPTI_ERROR_INSUFFICIENT_PRIVILEGES:
      return kAdministratorsAlone;
    case CUPTI_ERROR_VIRTUALIZED_DEVICE_INSUFFICIENT_PRIVILEGES:
      return kVirtualNeedsPermission;
    case CUPTI_ERROR_HARDWARE_BUSY:
    case CUPTI_ERROR_MAX_LIMIT_REACHED:
    case CUPTI_ERROR_MULTIPLE_SUBSCRIBERS_NOT_SUPPORTED:
      return kBusy;
    case CUPTI_ERROR_NOT_SUPPORTED:
    case CUPTI_ERROR_NOT_COMPATIBLE:
    case CUPTI_ERROR_API_NOT_IMPLEMENTED:
    case CUPTI_ERROR_LEGACY_PROFILER_NOT_SUPPORTED:
    case CUPTI_ERROR_VIRTUALIZED_DEVICE_NOT_SUPPORTED:
    case CUPTI_ERROR_CONFIDENTIAL_COMPUTING_NOT_SUPPORTED:
    case CUPTI_ERROR_CMP_DEVICE_NOT_SUPPORTED:
    case CUPTI_ERROR_MIG_DEVICE_NOT_SUPPORTED:
    case CUPTI_ERROR_SLI_DEVICE_NOT_SUPPORTED:
    case CUPTI_ERROR_WSL_DEVICE_NOT_SUPPORTED:
    case CUPTI_ERROR_INVALID_CHIP_NAME:
      return kNotSupported;
    case CUPTI_ERROR_OLD_PROFILER_API_INITIALIZED:
      return kOldInterface;
    default:
      return administrators_alone() ? kAdministratorsAlone : nullptr;
  }
}

void name_device(const SampledDevice& device, char (&text)[kNameBytes]) {
  if (device.chip[0] == '\0') {
    snprintf(text, sizeof text, "GPU %u", device.ordinal);
  } else {
    snprintf(text, sizeof text, "GPU %u (%s)", device.ordinal, device.chip);
  }
}

}  // namespace

bool concerns_all_devices(PmFailure failure) {
  const char* reason = reason_of(failure.result);
  return reason == kAdministratorsAlone || reason == kOldInterface;
}

void report_sampling_failed(const SampledDevice& device, PmFailure failure) {
  char name[kNameBytes];
  name_device(device, name);
  char text[kSentenceBytes];
  if (const char* reason = reason_of(failure.result); reason != nullptr) {
    snprintf(text, sizeof text, "%s: %s (%s: CUPTI result %d)", name, reason, failure.call,
             static_cast<int>(failure.result));
  } else {
    snprintf(text, sizeof text,
             "%s: %s failed with CUPTI result %d. Run again; if it persists, LLMPROF_COUNTERS=off "
             "disables "
             "counters",
             name, failure.call, static_cast<int>(failure.result));
  }
  write_counters_off(text);
}

void report_cupti_lacks_sampling() {
  char text[kSentenceBytes];
  snprintf(text, sizeof text,
           "%.512s (version %u) has no PM sampling, which came with CUDA 12.6: set LLMPROF_CUPTI "
           "to a newer "
           "libcupti",
           cupti_path(), cupti_version());
  write_counters_off(text);
}

void report_cupti_missing() {
  write_counters_off("libcupti not found: set LLMPROF_CUPTI to its path");
}

void report_missing_quantities(const SampledDevice& device, const MetricChoice& choice) {
  const bool dram = has(choice, Quantity::dram_read) && has(choice, Quantity::dram_write);
  const bool tensor = has(choice, Quantity::tensor_active);
  if (dram && tensor) return;
  char name[kNameBytes];
  name_device(device, name);
  char text[kSentenceBytes];
  snprintf(text, sizeof text, "%s cannot sample %s%s%s; its other counters are recorded", name,
           dram ? "" : "DRAM bytes", dram || tensor ? "" : " and ", tensor ? "" : "tensor cycles");
  write_counters_off(text);
}

void report_nvml_missing() {
  write_counters_off(
      "clocks, power, temperature and energy: NVML was not found or could not be initialized. It "
      "comes with the driver as libnvidia-ml.so.1 (in a container: "
      "NVIDIA_DRIVER_CAPABILITIES=compute,utility); LLMPROF_NVML can name another path");
}

}  // namespace llmprof::collector
