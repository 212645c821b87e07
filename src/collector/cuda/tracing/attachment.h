#pragma once

#include <cupti.h>

#include <atomic>

namespace llmprof::collector {

// CUPTI in this process: whether it is attached, and whether it records GPU work. One thread at a
// time changes it; any thread may query it, above all in CUPTI callbacks.
class Attachment {
 public:
  // Before the first attach: enables callbacks of all CUDA functions, not only those that launch,
  // copy or wait.
  void set_every_call(bool every_call) { every_call_ = every_call; }
  [[nodiscard]] bool every_call() const { return every_call_; }

  [[nodiscard]] bool is_attached() const { return attached_; }

  // Returns the result of the first step that fails, if any; then leave() must follow. `give_way`
  // is called when another tool in the process asks for CUPTI.
  CUptiResult attach(CUpti_CallbackFunc callback, void (*give_way)());
  void leave();

  // Kernels, memory operations and launch callbacks.
  CUptiResult switch_on();
  void switch_off();
  [[nodiscard]] bool records() const { return records_.load(std::memory_order_relaxed); }

  void flush() const;
  // Hands over completed records without waiting for the rest.
  void hand_over() const;

  // A graph was replayed while records were off: CUPTI can then never be finalized
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
