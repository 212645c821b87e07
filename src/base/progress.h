#pragma once

#include <cstddef>
#include <cstdint>
#include <string_view>

namespace llmprof {

// What long work shows people who wait for it. Results never depend on it: this class itself is
// the one that shows nothing. One piece of work is shown at a time; beginning another ends it.
class Progress {
 public:
  Progress() = default;
  Progress(const Progress&) = delete;
  Progress& operator=(const Progress&) = delete;
  virtual ~Progress() = default;

  // The work that follows is pass `number` (from 1) of `count`; a count of 0 ends that.
  virtual void set_pass(size_t /*number*/, size_t /*count*/) {}

  // Work of unknown length: "converting trace.nsys-rep".
  virtual void begin(std::string_view /*what*/) {}
  // Reading a file of that size; how far it is, bytes_read() counts.
  virtual void begin_reading(std::string_view /*what*/, uint64_t /*bytes*/) {}
  // Work of `count` steps. Each is announced by next_step, from any thread.
  virtual void begin_steps(std::string_view /*what*/, size_t /*count*/) {}
  virtual void next_step(std::string_view /*what*/) {}

  // What is about to take long, before it begins, for whoever reads along or finds it in a log.
  virtual void announce(std::string_view /*text*/) {}
  // A sentence that stays on the screen: "ncu: 3 kernels are not measured".
  virtual void note(std::string_view /*text*/) {}
};

}  // namespace llmprof
