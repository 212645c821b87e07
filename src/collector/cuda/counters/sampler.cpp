#include "collector/cuda/counters/sampler.h"

#include <cupti.h>

#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <iterator>
#include <utility>

#include "collector/cuda/counters/samples.h"
#include "collector/cuda/cupti/cupti_library.h"
#include "collector/environment.h"

namespace llmprof::collector {
namespace {

// CUPTI corrects the GPU's clock from time to time, and a sample may seem to end in the future.
constexpr int64_t kTolerance = 2'000'000;
// Two clocks are read one after the other; smaller changes of their offset are measurement noise.
constexpr int64_t kNoise = 10'000;

int64_t log_clock() { return now_ns(); }
int64_t unix_clock() { return read_clock(CLOCK_REALTIME); }
int64_t raw_clock() { return read_clock(CLOCK_MONOTONIC_RAW); }
int64_t boot_clock() { return read_clock(CLOCK_BOOTTIME); }
int64_t cupti_clock() {
  auto* read = reinterpret_cast<decltype(cuptiGetTimestamp)*>(cupti_symbol("cuptiGetTimestamp"));
  uint64_t now = 0;
  return read != nullptr && read(&now) == CUPTI_SUCCESS ? static_cast<int64_t>(now) : 0;
}

constexpr int64_t (*kClocks[])() = {log_clock, cupti_clock, unix_clock, raw_clock, boot_clock};

int64_t offset_of(size_t clock) {
  const int64_t before = now_ns();
  const int64_t there = kClocks[clock]();
  const int64_t after = now_ns();
  return clock == 0 ? 0 : before + (after - before) / 2 - there;
}

bool is_small(int64_t change) { return change < kNoise && change > -kNoise; }

constexpr int64_t kSecond = 1'000'000'000;

// One sample takes some kilobytes of the hardware buffer: 4,000 fit into 64 MiB on an H200. The
// buffer holds one second, in case our thread is not scheduled.
constexpr size_t kBufferBytesPerSample = 16 << 10;
constexpr size_t kSmallestBuffer = 1 << 20;
constexpr size_t kUsualBuffer = 8 << 20;
constexpr size_t kLargestBuffer = 128 << 20;

// The image must have room for all samples since the last decode; the rest is lost. Clearing a
// slot, filled or not, costs as much as evaluating one of ten counters, so samples are appended to
// those already read until less than half is free.
constexpr int64_t kImageTime = kSecond / 2;
constexpr int64_t kMinImageSamples = 64;
constexpr int64_t kMaxImageSamples = 2000;
constexpr size_t kMaxImageBytes = 48 << 20;
constexpr int64_t kDecodesPerImage = 6;

// The maximum delay of a sample from the hardware.
constexpr int64_t kLag = 20'000'000;
constexpr int kMaxDecodes = 3;
constexpr unsigned kMaxFailures = 4;

constexpr char kUnknownClock[] = "the times of its samples, which are on no clock of this system,";

size_t buffer_bytes_for(int64_t period) {
  return std::clamp(static_cast<size_t>(kSecond / period) * kBufferBytesPerSample, kUsualBuffer,
                    kLargestBuffer);
}

uint32_t image_samples_for(int64_t period) {
  return static_cast<uint32_t>(std::clamp(kImageTime / period, kMinImageSamples, kMaxImageSamples));
}

}  // namespace

bool SamplerClock::find(uint64_t sample_end, SampleWindow window) {
  for (size_t i = 0; i < std::size(kClocks); ++i) {
    const size_t clock = (clock_ + i) % std::size(kClocks);
    const int64_t offset = offset_of(clock);
    const int64_t end = static_cast<int64_t>(sample_end) + offset;
    if (end < window.earliest - kTolerance || end > window.latest + kTolerance) continue;
    if (clock != clock_ || !is_small(offset - offset_)) offset_ = offset;
    clock_ = clock;
    return true;
  }
  return false;
}

PmFailure Sampler::choose(uint32_t device) {
  device_ = device;
  if (const auto failure = find_chip()) return failure;
  if (const auto failure = find_availability()) return failure;
  if (const auto failure = choose_metrics(chip_, availability_, metrics_)) return failure;
  if (metrics_.count == 0) return {"cuptiProfilerHostConfigAddMetrics", CUPTI_ERROR_NOT_SUPPORTED};
  return {};
}

PmFailure Sampler::find_chip() {
  CUpti_Device_GetChipName_Params named{.deviceIndex = device_};
  if (const auto failure = pm.chip_name(named)) return failure;
  std::memcpy(chip_, named.pChipName, strnlen(named.pChipName, sizeof chip_ - 1));
  return {};
}

PmFailure Sampler::find_availability() {
  CUpti_PmSampling_GetCounterAvailability_Params image{.deviceIndex = device_};
  if (const auto failure = pm.availability(image)) return failure;
  availability_ = static_cast<uint8_t*>(malloc(image.counterAvailabilityImageSize));
  if (availability_ == nullptr) return {"malloc", CUPTI_ERROR_OUT_OF_MEMORY};
  image.pCounterAvailabilityImage = availability_;
  return pm.availability(image);
}

PmFailure Sampler::configure() {
  CUpti_PmSampling_Enable_Params enabled{.deviceIndex = device_};
  if (const auto unavailable = pm.enable(enabled)) return unavailable;
  object_ = enabled.pPmSamplingObject;
  size_t bytes = buffer_bytes_for(period_);
  PmFailure failure = set_config(bytes);
  while (failure.result == CUPTI_ERROR_OUT_OF_MEMORY && bytes > kSmallestBuffer) {
    bytes /= 2;
    failure = set_config(bytes);
  }
  if (!failure) failure = make_image();
  if (failure) disable();
  return failure;
}

bool Sampler::has_time_trigger() const {
  return std::strncmp(chip_, "TU", 2) != 0 && std::strcmp(chip_, "GA100") != 0;
}

PmFailure Sampler::set_config(size_t buffer_bytes) {
  return pm.set_config(
      {.pPmSamplingObject = object_,
       .configSize = metrics_.config_bytes,
       .pConfig = metrics_.config,
       .hardwareBufferSize = buffer_bytes,
       // In cycles of a clock of at least 1 GHz if the chip has no time trigger.
       .samplingInterval = static_cast<uint64_t>(period_),
       .triggerMode = has_time_trigger() ? CUPTI_PM_SAMPLING_TRIGGER_MODE_GPU_TIME_INTERVAL
                                         : CUPTI_PM_SAMPLING_TRIGGER_MODE_GPU_SYSCLK_INTERVAL,
       .hwBufferAppendMode = CUPTI_PM_SAMPLING_HARDWARE_BUFFER_APPEND_MODE_KEEP_OLDEST});
}

// CUPTI lays out images for the number of samples of the last call of this function, whatever their
// size.
PmFailure Sampler::ask_image_size(uint32_t samples, size_t& bytes) {
  CUpti_PmSampling_GetCounterDataSize_Params size{.pPmSamplingObject = object_,
                                                  .pMetricNames = metrics_.names,
                                                  .numMetrics = metrics_.count,
                                                  .maxSamples = samples};
  if (const auto failure = pm.image_size(size)) return failure;
  bytes = size.counterDataSize;
  image_samples_ = samples;
  return {};
}

PmFailure Sampler::make_image() {
  size_t bytes = 0;
  uint32_t samples = image_samples_for(period_);
  if (const auto failure = ask_image_size(samples, bytes)) return failure;
  while (bytes > kMaxImageBytes && samples > kMinImageSamples) {
    samples /= 2;
    if (const auto failure = ask_image_size(samples, bytes)) return failure;
  }
  free(image_);
  image_bytes_ = bytes;
  image_ = static_cast<uint8_t*>(calloc(1, bytes));
  if (image_ == nullptr) return {"malloc", CUPTI_ERROR_OUT_OF_MEMORY};
  return reset_image();
}

PmFailure Sampler::reset_image() {
  const auto failure = pm.image_reset(
      {.pPmSamplingObject = object_, .counterDataSize = image_bytes_, .pCounterData = image_});
  if (failure) return failure;
  read_samples_ = 0;
  filled_samples_ = 0;
  return {};
}

PmFailure Sampler::start(uint32_t hertz) {
  if (object_ == nullptr) {
    if (const int64_t period = kSecond / hertz; period != period_) {
      period_ = period;
      set_ = 0;
    }
    if (const auto failure = configure()) return failure;
  }
  if (set_ == 0) {
    set_ = write_counter_set(device_, has_time_trigger() ? period_ : 0,
                             {metrics_.names, metrics_.units, metrics_.count});
  }
  failures_ = 0;
  return run();
}

PmFailure Sampler::run() {
  started_ = now_ns();
  last_decode_ = started_;
  filled_samples_ = image_samples_;  // by an earlier start: cleared before use
  return pm.start({.pPmSamplingObject = object_});
}

PmFailure Sampler::halt() { return pm.stop({.pPmSamplingObject = object_}); }

PmFailure Sampler::drain() {
  const int64_t enough = period_ * image_samples_ / kDecodesPerImage;
  if (now_ns() - last_decode_ < enough) return {};
  const PmFailure failure = take_samples();
  return failure ? recover(failure) : failure;
}

void Sampler::stop() {
  halt();
  if (take_samples()) write_counters_lost();
}

PmFailure Sampler::take_samples() {
  bool full = true;
  for (int i = 0; full && i < kMaxDecodes; ++i) {
    const int64_t earliest = last_decode_ - kLag;
    last_decode_ = now_ns();
    if (filled_samples_ > image_samples_ / 2) {
      if (const auto failure = reset_image()) return failure;
    }
    if (const auto failure = decode(full)) return failure;
    if (full) write_counters_lost();
    if (const auto failure = write_samples({earliest, now_ns()})) return failure;
  }
  failures_ = 0;
  return {};
}

PmFailure Sampler::decode(bool& full) {
  CUpti_PmSampling_DecodeData_Params decoded{.pPmSamplingObject = object_,
                                             .pCounterDataImage = image_,
                                             .counterDataImageSize = image_bytes_};
  if (const auto failure = pm.decode(decoded)) return failure;
  full = decoded.decodeStopReason == CUPTI_PM_SAMPLING_DECODE_STOP_REASON_COUNTER_DATA_FULL;
  return {};
}

PmFailure Sampler::sample_times(size_t index,
                                CUpti_PmSampling_CounterData_GetSampleInfo_Params& times) {
  times = {.pPmSamplingObject = object_,
           .pCounterDataImage = image_,
           .counterDataImageSize = image_bytes_,
           .sampleIndex = index};
  return pm.sample_info(times);
}

PmFailure Sampler::write_samples(SampleWindow window) {
  CUpti_PmSampling_GetCounterDataInfo_Params info{.pCounterDataImage = image_,
                                                  .counterDataImageSize = image_bytes_};
  if (const auto failure = pm.image_info(info)) return failure;
  filled_samples_ = std::max(info.numPopulatedSamples, info.numCompletedSamples);
  if (info.numCompletedSamples <= read_samples_) return {};
  CUpti_PmSampling_CounterData_GetSampleInfo_Params last;
  if (const auto failure = sample_times(info.numCompletedSamples - 1, last)) return failure;
  if (!clock_.find(last.endTimestamp, window)) return {kUnknownClock, CUPTI_ERROR_UNKNOWN};
  QuietSamples samples(metrics_, set_);
  for (; read_samples_ < info.numCompletedSamples; ++read_samples_) {
    if (const auto failure = write_sample(read_samples_, samples)) return failure;
  }
  return {};
}

PmFailure Sampler::write_sample(size_t index, QuietSamples& samples) {
  CUpti_PmSampling_CounterData_GetSampleInfo_Params times;
  if (const auto failure = sample_times(index, times)) return failure;
  const SampleTime time = {clock_.to_log(times.startTimestamp), clock_.to_log(times.endTimestamp)};
  // The first sample after a start includes the time before it.
  if (time.start < started_) return {};
  double values[kMaxMetrics] = {};
  const auto failure = pm.evaluate({.pHostObject = metrics_.host,
                                    .pCounterDataImage = image_,
                                    .counterDataImageSize = image_bytes_,
                                    .rangeIndex = index,
                                    .ppMetricNames = metrics_.names,
                                    .numMetrics = metrics_.count,
                                    .pMetricValues = values});
  if (!failure) samples.add(time, values);
  return failure;
}

// A buffer that has overflowed yields nothing until sampling is restarted, or reconfigured.
PmFailure Sampler::recover(PmFailure failure) {
  write_counters_lost();
  halt();
  ++failures_;
  if (failures_ >= kMaxFailures) return failure;
  if (failures_ == 1) return run();
  if (const auto stuck = disable()) return stuck;
  if (const auto refused = configure()) return refused;
  return run();
}

PmFailure Sampler::disable() {
  return pm.disable({.pPmSamplingObject = std::exchange(object_, nullptr)});
}

void Sampler::pause() {
  stop();
  disable();
}

void Sampler::end() {
  if (object_ != nullptr) disable();
  release(metrics_);
}

}  // namespace llmprof::collector
