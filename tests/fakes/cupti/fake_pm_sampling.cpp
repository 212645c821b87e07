// PM sampling as libcupti offers it, without a GPU: samples of made-up work, with the behavior seen
// in the real one (CUPTI 13.0 on an H200):
// - the first sample after a start begins before that start;
// - samples that do not fit into the image at a decode are lost, and the image is reported full;
// - after an overflow, every decode returns OUT_OF_MEMORY until stop and start;
// - only the first SetConfig counts, until Disable;
// - images are laid out for the number of samples in the last call of GetCounterDataSize.
//
// Every device, at all times: 1 GB/s read from DRAM, 0.5 GB/s written, SMs active 75 %, tensor
// cores 25 %; any other metric is 1.
//
// Its environment, read at each call:
//   FAKE_PM_CHIP=NAME             chip [GH100]
//   FAKE_PM_FAIL=FUNCTION:CODE    comma-separated: cuptiPmSamplingSetConfig:35
//   FAKE_PM_REFUSE=TEXT           the chip lacks metrics whose name contains it
//   FAKE_PM_ONE_PASS=N            more than N metrics take two passes
//   FAKE_PM_CLOCK=realtime|none   clock of the samples' times [CLOCK_MONOTONIC]; none: an unknown
//                                 clock
//   FAKE_PM_BUFFER_SAMPLES=N      capacity of the hardware's buffer [from its size]
//   FAKE_PM_BUFFER_LIMIT=BYTES    larger hardware buffers are OUT_OF_MEMORY
//   FAKE_PM_CONFIG_MS=N           duration of SetConfig [0]; the real one takes 100
#include <cupti_pmsampling.h>
#include <cupti_profiler_host.h>
#include <cupti_profiler_target.h>
#include <cupti_target.h>

#include <chrono>
#include <cstdlib>
#include <cstring>
#include <ctime>
#include <mutex>
#include <string_view>
#include <thread>

struct CUpti_Profiler_Host_Object {
  size_t metrics = 0;
};

struct CUpti_PmSampling_Object {
  bool configured = false;
  bool running = false;
  bool overflowed = false;
  int64_t interval = 0;
  int64_t buffer_samples = 0;
  uint32_t image_samples = 0;
  int64_t started = 0;
  int64_t stopped = 0;
  int64_t taken = 0;  // samples since the start
};

namespace {

constexpr size_t kAvailabilityBytes = 64;
constexpr size_t kConfigBytes = 16;
constexpr int64_t kBytesPerSample = 8 << 10;
constexpr int64_t kSecond = 1'000'000'000;
constexpr int64_t kBeforeStart = kSecond;
constexpr int64_t kUnknownClock = 3600 * kSecond;

struct Sample {
  int64_t start;
  int64_t end;
};
struct Image {
  uint64_t capacity;
  uint64_t count;
};
struct Config {
  uint64_t metrics;
  uint64_t passes;
};
static_assert(sizeof(Config) == kConfigBytes);

std::recursive_mutex& mutex() {
  static auto* const instance = new std::recursive_mutex;
  return *instance;
}

std::string_view variable(const char* name) {
  const char* text = std::getenv(name);
  return text != nullptr ? text : "";
}

int64_t number(const char* name, int64_t otherwise) {
  const std::string_view text = variable(name);
  return text.empty() ? otherwise : std::strtoll(text.data(), nullptr, 10);
}

CUptiResult planned(std::string_view function) {
  std::string_view rest = variable("FAKE_PM_FAIL");
  while (!rest.empty()) {
    const std::string_view entry = rest.substr(0, rest.find(','));
    rest.remove_prefix(entry.size() < rest.size() ? entry.size() + 1 : rest.size());
    if (entry.substr(0, entry.find(':')) != function) continue;
    return static_cast<CUptiResult>(std::atoi(entry.data() + function.size() + 1));
  }
  return CUPTI_SUCCESS;
}

int64_t clock_ns(clockid_t clock) {
  timespec time{};
  clock_gettime(clock, &time);
  return time.tv_sec * kSecond + time.tv_nsec;
}

int64_t host_now() { return clock_ns(CLOCK_MONOTONIC); }

uint64_t on_the_samples_clock(int64_t time) {
  if (variable("FAKE_PM_CLOCK") == "realtime") time += clock_ns(CLOCK_REALTIME) - host_now();
  if (variable("FAKE_PM_CLOCK") == "none") time += kUnknownClock;
  return static_cast<uint64_t>(time);
}

double value_of(std::string_view metric, int64_t duration) {
  constexpr double kHalf = 0.5;
  constexpr double kSmsActive = 75;
  constexpr double kTensorActive = 25;
  if (metric.starts_with("dram__bytes") && metric.find("read") != std::string_view::npos) {
    return static_cast<double>(duration);
  }
  if (metric.starts_with("dram__bytes")) return static_cast<double>(duration) * kHalf;
  if (metric.find("tensor") != std::string_view::npos) return kTensorActive;
  return metric.starts_with("sm__cycles_active") ? kSmsActive : 1;
}

size_t image_bytes(uint64_t samples) { return sizeof(Image) + samples * sizeof(Sample); }

Sample* samples_of(uint8_t* image) { return reinterpret_cast<Sample*>(image + sizeof(Image)); }

Sample sample_of(const uint8_t* image, size_t index) {
  Sample sample{};
  std::memcpy(&sample, image + image_bytes(index), sizeof sample);
  return sample;
}

Sample sampled(const CUpti_PmSampling_Object& object, int64_t number) {
  const int64_t start = object.started + number * object.interval;
  return {number == 0 ? start - kBeforeStart : start, start + object.interval};
}

void fill(CUpti_PmSampling_DecodeData_Params& parameters, int64_t until) {
  CUpti_PmSampling_Object& object = *parameters.pPmSamplingObject;
  auto& image = *reinterpret_cast<Image*>(parameters.pCounterDataImage);
  for (; object.taken < until && image.count < image.capacity; ++object.taken) {
    samples_of(parameters.pCounterDataImage)[image.count++] = sampled(object, object.taken);
  }
  const bool full = object.taken < until;
  object.taken = until;
  parameters.decodeStopReason = full ? CUPTI_PM_SAMPLING_DECODE_STOP_REASON_COUNTER_DATA_FULL
                                     : CUPTI_PM_SAMPLING_DECODE_STOP_REASON_END_OF_RECORDS;
}

}  // namespace

#define FAKE(function)                  \
  const std::scoped_lock lock(mutex()); \
  if (const CUptiResult wanted = planned(#function); wanted != CUPTI_SUCCESS) return wanted

extern "C" {

CUptiResult CUPTIAPI cuptiProfilerInitialize(CUpti_Profiler_Initialize_Params* /*parameters*/) {
  FAKE(cuptiProfilerInitialize);
  return CUPTI_SUCCESS;
}

CUptiResult CUPTIAPI cuptiDeviceGetChipName(CUpti_Device_GetChipName_Params* parameters) {
  FAKE(cuptiDeviceGetChipName);
  const char* chip = std::getenv("FAKE_PM_CHIP");
  parameters->pChipName = chip != nullptr ? chip : "GH100";
  return CUPTI_SUCCESS;
}

CUptiResult CUPTIAPI
cuptiPmSamplingGetCounterAvailability(CUpti_PmSampling_GetCounterAvailability_Params* parameters) {
  FAKE(cuptiPmSamplingGetCounterAvailability);
  parameters->counterAvailabilityImageSize = kAvailabilityBytes;
  if (parameters->pCounterAvailabilityImage != nullptr) {
    std::memset(parameters->pCounterAvailabilityImage, 1, kAvailabilityBytes);
  }
  return CUPTI_SUCCESS;
}

CUptiResult CUPTIAPI
cuptiProfilerHostInitialize(CUpti_Profiler_Host_Initialize_Params* parameters) {
  FAKE(cuptiProfilerHostInitialize);
  parameters->pHostObject = new CUpti_Profiler_Host_Object;
  return CUPTI_SUCCESS;
}

CUptiResult CUPTIAPI
cuptiProfilerHostDeinitialize(CUpti_Profiler_Host_Deinitialize_Params* parameters) {
  FAKE(cuptiProfilerHostDeinitialize);
  delete parameters->pHostObject;
  return CUPTI_SUCCESS;
}

CUptiResult CUPTIAPI
cuptiProfilerHostConfigAddMetrics(CUpti_Profiler_Host_ConfigAddMetrics_Params* parameters) {
  FAKE(cuptiProfilerHostConfigAddMetrics);
  const std::string_view refused = variable("FAKE_PM_REFUSE");
  for (size_t i = 0; i < parameters->numMetrics; ++i) {
    const std::string_view name = parameters->ppMetricNames[i];
    if (!refused.empty() && name.find(refused) != std::string_view::npos)
      return CUPTI_ERROR_INVALID_METRIC_NAME;
  }
  parameters->pHostObject->metrics += parameters->numMetrics;
  return CUPTI_SUCCESS;
}

CUptiResult CUPTIAPI
cuptiProfilerHostGetConfigImageSize(CUpti_Profiler_Host_GetConfigImageSize_Params* parameters) {
  FAKE(cuptiProfilerHostGetConfigImageSize);
  parameters->configImageSize = kConfigBytes;
  return CUPTI_SUCCESS;
}

CUptiResult CUPTIAPI
cuptiProfilerHostGetConfigImage(CUpti_Profiler_Host_GetConfigImage_Params* parameters) {
  FAKE(cuptiProfilerHostGetConfigImage);
  const size_t metrics = parameters->pHostObject->metrics;
  const auto most = static_cast<size_t>(number("FAKE_PM_ONE_PASS", INT64_MAX));
  const Config config = {metrics, metrics <= most ? 1U : 2U};
  std::memcpy(parameters->pConfigImage, &config, sizeof config);
  return CUPTI_SUCCESS;
}

CUptiResult CUPTIAPI
cuptiProfilerHostGetNumOfPasses(CUpti_Profiler_Host_GetNumOfPasses_Params* parameters) {
  FAKE(cuptiProfilerHostGetNumOfPasses);
  Config config{};
  std::memcpy(&config, parameters->pConfigImage, sizeof config);
  parameters->numOfPasses = config.passes;
  return CUPTI_SUCCESS;
}

CUptiResult CUPTIAPI
cuptiProfilerHostEvaluateToGpuValues(CUpti_Profiler_Host_EvaluateToGpuValues_Params* parameters) {
  FAKE(cuptiProfilerHostEvaluateToGpuValues);
  const Sample sample = sample_of(parameters->pCounterDataImage, parameters->rangeIndex);
  for (size_t i = 0; i < parameters->numMetrics; ++i) {
    parameters->pMetricValues[i] =
        value_of(parameters->ppMetricNames[i], sample.end - sample.start);
  }
  return CUPTI_SUCCESS;
}

CUptiResult CUPTIAPI cuptiPmSamplingEnable(CUpti_PmSampling_Enable_Params* parameters) {
  FAKE(cuptiPmSamplingEnable);
  parameters->pPmSamplingObject = new CUpti_PmSampling_Object;
  return CUPTI_SUCCESS;
}

CUptiResult CUPTIAPI cuptiPmSamplingDisable(CUpti_PmSampling_Disable_Params* parameters) {
  FAKE(cuptiPmSamplingDisable);
  delete parameters->pPmSamplingObject;
  return CUPTI_SUCCESS;
}

CUptiResult CUPTIAPI cuptiPmSamplingSetConfig(CUpti_PmSampling_SetConfig_Params* parameters) {
  FAKE(cuptiPmSamplingSetConfig);
  const auto bytes = static_cast<int64_t>(parameters->hardwareBufferSize);
  if (bytes > number("FAKE_PM_BUFFER_LIMIT", INT64_MAX)) return CUPTI_ERROR_OUT_OF_MEMORY;
  std::this_thread::sleep_for(std::chrono::milliseconds(number("FAKE_PM_CONFIG_MS", 0)));
  CUpti_PmSampling_Object& object = *parameters->pPmSamplingObject;
  if (object.configured) return CUPTI_SUCCESS;
  object.configured = true;
  object.interval = static_cast<int64_t>(parameters->samplingInterval);
  object.buffer_samples = number("FAKE_PM_BUFFER_SAMPLES", bytes / kBytesPerSample);
  return CUPTI_SUCCESS;
}

CUptiResult CUPTIAPI
cuptiPmSamplingGetCounterDataSize(CUpti_PmSampling_GetCounterDataSize_Params* parameters) {
  FAKE(cuptiPmSamplingGetCounterDataSize);
  parameters->pPmSamplingObject->image_samples = parameters->maxSamples;
  parameters->counterDataSize = image_bytes(parameters->maxSamples);
  return CUPTI_SUCCESS;
}

CUptiResult CUPTIAPI cuptiPmSamplingCounterDataImageInitialize(
    CUpti_PmSampling_CounterDataImage_Initialize_Params* parameters) {
  FAKE(cuptiPmSamplingCounterDataImageInitialize);
  const uint64_t samples = parameters->pPmSamplingObject->image_samples;
  // The real one writes past the end.
  if (parameters->counterDataSize < image_bytes(samples)) return CUPTI_ERROR_INVALID_PARAMETER;
  const Image image = {samples, 0};
  std::memcpy(parameters->pCounterData, &image, sizeof image);
  return CUPTI_SUCCESS;
}

CUptiResult CUPTIAPI cuptiPmSamplingStart(CUpti_PmSampling_Start_Params* parameters) {
  FAKE(cuptiPmSamplingStart);
  CUpti_PmSampling_Object& object = *parameters->pPmSamplingObject;
  if (!object.configured || object.running) return CUPTI_ERROR_INVALID_OPERATION;
  object.running = true;
  object.overflowed = false;
  object.taken = 0;
  object.started = host_now();
  return CUPTI_SUCCESS;
}

CUptiResult CUPTIAPI cuptiPmSamplingStop(CUpti_PmSampling_Stop_Params* parameters) {
  FAKE(cuptiPmSamplingStop);
  CUpti_PmSampling_Object& object = *parameters->pPmSamplingObject;
  if (!object.running) return CUPTI_ERROR_INVALID_OPERATION;
  object.running = false;
  object.stopped = host_now();
  return CUPTI_SUCCESS;
}

CUptiResult CUPTIAPI cuptiPmSamplingDecodeData(CUpti_PmSampling_DecodeData_Params* parameters) {
  FAKE(cuptiPmSamplingDecodeData);
  CUpti_PmSampling_Object& object = *parameters->pPmSamplingObject;
  const int64_t end = object.running ? host_now() : object.stopped;
  const int64_t until = (end - object.started) / object.interval;
  object.overflowed = object.overflowed || until - object.taken > object.buffer_samples;
  parameters->overflow = object.overflowed ? 1 : 0;
  if (object.overflowed) return CUPTI_ERROR_OUT_OF_MEMORY;
  fill(*parameters, until);
  return CUPTI_SUCCESS;
}

CUptiResult CUPTIAPI
cuptiPmSamplingGetCounterDataInfo(CUpti_PmSampling_GetCounterDataInfo_Params* parameters) {
  FAKE(cuptiPmSamplingGetCounterDataInfo);
  Image image{};
  std::memcpy(&image, parameters->pCounterDataImage, sizeof image);
  parameters->numTotalSamples = image.capacity;
  parameters->numPopulatedSamples = image.count;
  parameters->numCompletedSamples = image.count;
  return CUPTI_SUCCESS;
}

CUptiResult CUPTIAPI cuptiPmSamplingCounterDataGetSampleInfo(
    CUpti_PmSampling_CounterData_GetSampleInfo_Params* parameters) {
  FAKE(cuptiPmSamplingCounterDataGetSampleInfo);
  const Sample sample = sample_of(parameters->pCounterDataImage, parameters->sampleIndex);
  parameters->startTimestamp = on_the_samples_clock(sample.start);
  parameters->endTimestamp = on_the_samples_clock(sample.end);
  return CUPTI_SUCCESS;
}

}  // extern "C"
