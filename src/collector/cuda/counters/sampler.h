#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <utility>

#include "collector/cuda/counters/pm_metrics.h"
#include "collector/cuda/counters/sampler_clock.h"
#include "collector/cuda/counters/samples.h"
#include "collector/environment.h"

namespace llmprof::collector {

inline constexpr int64_t kSecond = 1'000'000'000;

// One sample takes some kilobytes of the hardware buffer: 4,000 fit into 64 MiB on an H200. The
// buffer holds one second, in case our thread is not scheduled.
inline constexpr size_t kBufferBytesPerSample = 16 << 10;
inline constexpr size_t kSmallestBuffer = 1 << 20;
inline constexpr size_t kUsualBuffer = 8 << 20;
inline constexpr size_t kLargestBuffer = 128 << 20;

// The image must have room for all samples since the last decode; the rest is lost. Clearing a
// slot, filled or not, costs as much as evaluating one of ten counters, so samples are appended to
// those already read until less than half is free.
inline constexpr int64_t kImageTime = kSecond / 2;
inline constexpr int64_t kMinImageSamples = 64;
inline constexpr int64_t kMaxImageSamples = 2000;
inline constexpr size_t kMaxImageBytes = 48 << 20;
inline constexpr int64_t kDecodesPerImage = 6;

// The maximum delay of a sample from the hardware.
inline constexpr int64_t kLag = 20'000'000;
inline constexpr int kMaxDecodes = 3;
inline constexpr unsigned kMaxFailures = 4;

inline constexpr char kUnknownClock[] =
    "the times of its samples, which are on no clock of this system,";

inline size_t buffer_bytes_for(int64_t period) {
  return std::clamp(static_cast<size_t>(kSecond / period) * kBufferBytesPerSample, kUsualBuffer,
                    kLargestBuffer);
}

inline uint32_t image_samples_for(int64_t period) {
  return static_cast<uint32_t>(std::clamp(kImageTime / period, kMinImageSamples, kMaxImageSamples));
}

// PM sampling of one GPU. One thread at a time. Once started it stays configured until it is
// paused: CUPTI accepts a configuration once, configuring is far slower than start and stop (100 ms
// against 2 ms), and after cuptiFinalize an existing configuration still works but no new one can
// be made.
class Sampler {
 public:
  // Chooses the metrics; does not use the GPU.
  PmFailure choose(uint32_t device) {
    device_ = device;
    if (const auto failure = find_chip()) return failure;
    if (const auto failure = find_availability()) return failure;
    if (const auto failure = choose_metrics(chip_, availability_, metrics_)) return failure;
    if (metrics_.count == 0)
      return {"cuptiProfilerHostConfigAddMetrics", CUPTI_ERROR_NOT_SUPPORTED};
    return {};
  }

  // Starts recording `hertz` samples per second; after a stop, at the rate before it.
  PmFailure start(uint32_t hertz) {
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

  // Writes new samples if there are enough. Fails if sampling ended and could not be restarted.
  PmFailure drain() {
    const int64_t enough = period_ * image_samples_ / kDecodesPerImage;
    if (now_ns() - last_decode_ < enough) return {};
    const PmFailure failure = take_samples();
    return failure ? recover(failure) : failure;
  }

  // Writes the remaining samples.
  void stop() {
    halt();
    if (take_samples()) write_counters_lost();
  }
  // Stops and releases the hardware, until the next start.
  void pause() {
    stop();
    disable();
  }
  // Permanently.
  void end() {
    if (object_ != nullptr) disable();
    release(metrics_);
  }

  [[nodiscard]] const char* chip() const { return chip_; }
  [[nodiscard]] const MetricChoice& metrics() const { return metrics_; }

 private:
  PmFailure find_chip() {
    CUpti_Device_GetChipName_Params named{.deviceIndex = device_};
    if (const auto failure = pm.chip_name(named)) return failure;
    std::memcpy(chip_, named.pChipName, strnlen(named.pChipName, sizeof chip_ - 1));
    return {};
  }

  PmFailure find_availability() {
    CUpti_PmSampling_GetCounterAvailability_Params image{.deviceIndex = device_};
    if (const auto failure = pm.availability(image)) return failure;
    availability_ = static_cast<uint8_t*>(malloc(image.counterAvailabilityImageSize));
    if (availability_ == nullptr) return {"malloc", CUPTI_ERROR_OUT_OF_MEMORY};
    image.pCounterAvailabilityImage = availability_;
    return pm.availability(image);
  }

  PmFailure configure() {
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

  PmFailure set_config(size_t buffer_bytes) {
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

  PmFailure make_image() {
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

  // CUPTI lays out images for the number of samples of the last call of this function, whatever
  // their size.
  PmFailure ask_image_size(uint32_t samples, size_t& bytes) {
    CUpti_PmSampling_GetCounterDataSize_Params size{.pPmSamplingObject = object_,
                                                    .pMetricNames = metrics_.names,
                                                    .numMetrics = metrics_.count,
                                                    .maxSamples = samples};
    if (const auto failure = pm.image_size(size)) return failure;
    bytes = size.counterDataSize;
    image_samples_ = samples;
    return {};
  }

  PmFailure reset_image() {
    const auto failure = pm.image_reset(
        {.pPmSamplingObject = object_, .counterDataSize = image_bytes_, .pCounterData = image_});
    if (failure) return failure;
    read_samples_ = 0;
    filled_samples_ = 0;
    return {};
  }

  PmFailure run() {
    started_ = now_ns();
    last_decode_ = started_;
    filled_samples_ = image_samples_;  // by an earlier start: cleared before use
    return pm.start({.pPmSamplingObject = object_});
  }

  PmFailure halt() { return pm.stop({.pPmSamplingObject = object_}); }
  PmFailure take_samples() {
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

  PmFailure decode(bool& full) {
    CUpti_PmSampling_DecodeData_Params decoded{.pPmSamplingObject = object_,
                                               .pCounterDataImage = image_,
                                               .counterDataImageSize = image_bytes_};
    if (const auto failure = pm.decode(decoded)) return failure;
    full = decoded.decodeStopReason == CUPTI_PM_SAMPLING_DECODE_STOP_REASON_COUNTER_DATA_FULL;
    return {};
  }

  PmFailure write_samples(SampleWindow window) {
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

  PmFailure write_sample(size_t index, QuietSamples& samples) {
    CUpti_PmSampling_CounterData_GetSampleInfo_Params times;
    if (const auto failure = sample_times(index, times)) return failure;
    const SampleTime time = {clock_.to_log(times.startTimestamp),
                             clock_.to_log(times.endTimestamp)};
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

  PmFailure sample_times(size_t index, CUpti_PmSampling_CounterData_GetSampleInfo_Params& times) {
    times = {.pPmSamplingObject = object_,
             .pCounterDataImage = image_,
             .counterDataImageSize = image_bytes_,
             .sampleIndex = index};
    return pm.sample_info(times);
  }

  // A buffer that has overflowed yields nothing until sampling is restarted, or reconfigured.
  PmFailure recover(PmFailure failure) {
    write_counters_lost();
    halt();
    ++failures_;
    if (failures_ >= kMaxFailures) return failure;
    if (failures_ == 1) return run();
    if (const auto stuck = disable()) return stuck;
    if (const auto refused = configure()) return refused;
    return run();
  }

  PmFailure disable() { return pm.disable({.pPmSamplingObject = std::exchange(object_, nullptr)}); }
  [[nodiscard]] bool has_time_trigger() const {
    return std::strncmp(chip_, "TU", 2) != 0 && std::strcmp(chip_, "GA100") != 0;
  }

  static constexpr size_t kChipBytes = 32;

  uint32_t device_ = 0;
  char chip_[kChipBytes] = {};
  int64_t period_ = 0;  // ns
  uint8_t* availability_ = nullptr;
  MetricChoice metrics_;
  CUpti_PmSampling_Object* object_ = nullptr;  // null: the hardware is not in use
  uint8_t* image_ = nullptr;                   // decoded samples
  size_t image_bytes_ = 0;
  uint32_t image_samples_ = 0;  // its capacity
  size_t filled_samples_ = 0;
  size_t read_samples_ = 0;  // already recorded
  uint32_t set_ = 0;         // in the log; 0: not defined yet
  int64_t started_ = 0;
  int64_t last_decode_ = 0;
  unsigned failures_ = 0;  // in a row
  SamplerClock clock_;
};

}  // namespace llmprof::collector
