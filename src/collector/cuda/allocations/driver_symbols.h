#pragma once

#include <atomic>

// Functions of the CUDA driver behind those of the same name that this library exports.
namespace llmprof::collector {

// The loader's own lookup: this library exports `dlsym`, to see how programs reach the driver.
[[nodiscard]] void* find_symbol(void* library, const char* name);

// A function of libcuda.so.1, looked up at its first use.
class DriverSymbol {
 public:
  explicit constexpr DriverSymbol(const char* name) : name_(name) {}

  // Null if no driver is loaded, or if it has no such function.
  [[nodiscard]] void* get() {
    void* found = found_.load(std::memory_order_acquire);
    if (found != nullptr) return found;
    return missing_.load(std::memory_order_relaxed) ? nullptr : look_up();
  }

 private:
  void* look_up();

  const char* name_;
  std::atomic<void*> found_ = nullptr;
  std::atomic<bool> missing_ = false;  // the driver that is loaded has none
};

// The function of this library that stands in front of the driver's `function`; `function` itself
// if none does.
[[nodiscard]] void* in_front_of(void* function);

// Whether LLMPROF_MEMORY=calls asks for allocations by calls of the driver.
[[nodiscard]] bool wants_driver_calls();

}  // namespace llmprof::collector
