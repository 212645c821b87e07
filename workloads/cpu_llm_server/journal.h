#pragma once

#include <cstdint>
#include <cstdio>
#include <filesystem>
#include <memory>
#include <span>
#include <string>
#include <string_view>

#include "base/error.h"
#include "cpu_llm_server/faults.h"
#include "cpu_llm_server/scheduler.h"

namespace cpu_llm_server {

struct Span {
  int64_t start_ns = 0;  // CLOCK_MONOTONIC
  int64_t end_ns = 0;
};

// What the server did, as JSON lines: each request, step and fault (README.md). Tests compare it
// with what a profiler finds.
class Journal {
 public:
  static llmprof::Result<Journal> create(const std::filesystem::path& file);

  void request(RequestId id, std::string_view name, int64_t arrival_ns, size_t prompt_tokens,
               const GenerationLimits& limits);
  // `slowed_ns`: by which its operators were slowed down.
  void step(uint64_t number, const Span& time, const StepPlan& plan,
            std::span<const GeneratedToken> generated, int64_t slowed_ns);
  void canceled(RequestId id, int64_t at_ns);
  // A pause after it, an eviction when it happens, a slow layer when it begins.
  void fault(const Fault& fault, const Span& time, std::optional<RequestId> evicted);

 private:
  struct Close {
    void operator()(std::FILE* file) const { std::fclose(file); }
  };
  explicit Journal(std::FILE* file) : file_(file) {}
  // Complete lines at any time: the server may be killed.
  void write(const std::string& line);

  std::unique_ptr<std::FILE, Close> file_;
};

}  // namespace cpu_llm_server
