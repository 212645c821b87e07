#pragma once

#include <cstddef>
#include <cstdint>
#include <string_view>

namespace llmprof {

// Shows the progress of long work to people. Results never depend on it: this base class shows
// nothing. One piece of work is shown at a time; starting another ends it.
class Progress {
 public:
  Progress() = default;
  Progress(const Progress&) = delete;
  Progress& operator=(const Progress&) = delete;
  virtual ~Progress() = default;

  // The following work is pass `number` (from 1) of `count`; a count of 0 ends the passes.
  virtual void set_pass(size_t /*number*/, size_t /*count*/) {}

  // Work of unknown length: "converting trace.nsys-rep".
  virtual void begin(std::string_view /*what*/) {}
  // Reading a file of that size; bytes_read() counts the progress.
  virtual void begin_reading(std::string_view /*what*/, uint64_t /*bytes*/) {}
  // Work of `count` steps. Each is announced by next_step, from any thread.
  virtual void begin_steps(std::string_view /*what*/, size_t /*count*/) {}
  virtual void next_step(std::string_view /*what*/) {}

  // Announces long work before it starts, on the screen or in a log.
  virtual void announce(std::string_view /*text*/) {}
  // A sentence that stays on the screen: "ncu: 3 kernels are not measured".
  virtual void note(std::string_view /*text*/) {}
};

}  // namespace llmprof
