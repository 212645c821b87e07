#pragma once

#include <cupti.h>

#include <atomic>

namespace llmprof::collector {

// CUPTI as this process has it: attached or not, and whether it records what GPUs do. One thread at
// a time changes it; any may ask, from CUPTI's callbacks above all.
class Attachment {
 public:
  // Before the first attach: callbacks of all CUDA functions, not only those that
  // launch, copy or wait.
  void set_every_call(bool every_call) { every_call_ = every_call; }
  [[nodiscard]] bool every_call() const { return every_call_; }

  [[nodiscard]] bool is_attached() const { return attached_; }

  // The result of the first step that fails, if any; then leave() must follow. `give_way` is
  // called when another tool in the process asks for CUPTI.
  CUptiResult attach(CUpti_CallbackFunc callback, void (*give_way)());
  void leave();

  // Kernels, memory operations and the callbacks of launches.
  CUptiResult switch_on();
  void switch_off();
  [[nodiscard]] bool records() const { return records_.load(std::memory_order_relaxed); }

  void flush() const;
  // What is complete, without waiting for the rest.
  void hand_over() const;

  // A graph was replayed while records were off: from then on CUPTI can never be finalized
  // (docs/collector.md).
  void note_unrecorded_replay() { unrecorded_replay_.store(true, std::memory_order_relaxed); }

 private:
  void disable_activities();
  void set_launch_callbacks(bool wanted);

  CUpti_SubscriberHandle subscriber_ = nullptr;
  bool attached_ = false;
  bool every_call_ = false;
  bool launch_callbacks_ = false;
  std::atomic<bool> records_ = false;
  std::atomic<bool> unrecorded_replay_ = false;
};

}  // namespace llmprof::collector
