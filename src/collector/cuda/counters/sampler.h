#pragma once

#include <cstddef>
#include <cstdint>

#include "collector/cuda/counters/pm_metrics.h"

namespace llmprof::collector {

// The interval in which samples must have ended, on the log's clock.
struct SampleWindow {
  int64_t earliest = 0;
  int64_t latest = 0;
};

// Converts sample times to the log's clock. CUPTI uses the clock that was registered with
// cuptiActivityRegisterTimestampCallback, the log's own. Without one, its clock is undocumented,
// and the candidates are tried on the samples.
class SamplerClock {
 public:
  // Finds the clock on which a sample with this end lies in the window; false if none does.
  bool find(uint64_t sample_end, SampleWindow window);
  [[nodiscard]] int64_t to_log(uint64_t sample_time) const {
    return static_cast<int64_t>(sample_time) + offset_;
  }

 private:
  size_t clock_ = 0;  // the one found last
  int64_t offset_ = 0;
};

class QuietSamples;

// PM sampling of one GPU. One thread at a time. Once started it stays configured until it is
// paused: CUPTI accepts a configuration once, configuring is far slower than start and stop (100 ms
// against 2 ms), and after cuptiFinalize an existing configuration still works but no new one can
// be made.
class Sampler {
 public:
  // Chooses the metrics; does not use the GPU.
  PmFailure choose(uint32_t device);
  // Starts recording `hertz` samples per second; after a stop, at the rate before it.
  PmFailure start(uint32_t hertz);
  // Writes new samples if there are enough. Fails if sampling ended and could not be restarted.
  PmFailure drain();
  // Writes the remaining samples.
  void stop();
  // Stops and releases the hardware, until the next start.
  void pause();
  // Permanently.
  void end();

  [[nodiscard]] const char* chip() const { return chip_; }
  [[nodiscard]] const MetricChoice& metrics() const { return metrics_; }

 private:
  PmFailure find_chip();
  PmFailure find_availability();
  PmFailure configure();
  PmFailure set_config(size_t buffer_bytes);
  PmFailure make_image();
  PmFailure ask_image_size(uint32_t samples, size_t& bytes);
  PmFailure reset_image();
  PmFailure run();
  PmFailure halt();
  PmFailure take_samples();
  PmFailure decode(bool& full);
  PmFailure write_samples(SampleWindow window);
  PmFailure write_sample(size_t index, QuietSamples& samples);
  PmFailure sample_times(size_t index, CUpti_PmSampling_CounterData_GetSampleInfo_Params& times);
  PmFailure recover(PmFailure failure);
  PmFailure disable();
  [[nodiscard]] bool has_time_trigger() const;

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
