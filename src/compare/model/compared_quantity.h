#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "compare/model/words.h"
#include "profile/budget_parts.h"
#include "profile/memory_ledger.h"
#include "profile/requests.h"

namespace llmprof::compare {

// From ttft to goodput: of a client's requests. The last three are constants divided by the wall
// time. Memory is of a GPU in a whole run.
enum class Measured : uint8_t {
  wall,
  busy,
  idle,
  kernels,
  one_class,
  ttft,
  itl,
  tpot,
  e2e,
  request_part,
  goodput,
  memory,
  tokens_per_s,
  mfu,
  mbu,
};

// Either: per step if the stage has steps.
enum class Per : uint8_t { step, instance, either, request, run };

struct ComparedQuantity {
  Measured measured{};
  Per per{};
  std::optional<profile::KernelClass> kernel_class = {};  // of one_class
  std::optional<profile::RequestPart> part = {};          // of request_part
  std::optional<MemoryFigure> memory = {};                // of memory: either this
  std::optional<profile::LedgerPart> ledger_part = {};    // or this, at the peak

  bool operator==(const ComparedQuantity&) const = default;

  // On a GPU, these times vary with the host.
  [[nodiscard]] bool is_of_host() const {
    return measured == Measured::wall || measured == Measured::idle;
  }
  [[nodiscard]] bool is_from_wall() const { return measured >= Measured::tokens_per_s; }
  [[nodiscard]] bool is_of_requests() const { return per == Per::request; }
  [[nodiscard]] bool is_of_memory() const { return measured == Measured::memory; }
};

// As diff.json spells them: "class.gemm", "part.queue", "memory.peak", "memory.kv_cache".
inline constexpr std::string_view kClass = "class.";
inline constexpr std::string_view kPart = "part.";
inline constexpr std::string_view kMemory = "memory.";
template <class Word, size_t count>
consteval auto names_with(std::string_view prefix) {
  constexpr size_t kLongest = 32;
  std::array<std::array<char, kLongest>, count> names{};
  for (size_t i = 0; i < count; ++i) {
    const auto end = std::ranges::copy(prefix, names[i].begin());
    std::ranges::copy(profile::kNames<Word>[i], end.out);
  }
  return names;
}
inline constexpr auto kClassNames = names_with<profile::KernelClass, profile::kClassParts>(kClass);
inline constexpr size_t kRequestParts = profile::kNames<profile::RequestPart>.size();
inline constexpr auto kPartNames = names_with<profile::RequestPart, kRequestParts>(kPart);
inline constexpr size_t kMemoryFigures = profile::kNames<MemoryFigure>.size();
inline constexpr size_t kLedgerParts = profile::kNames<profile::LedgerPart>.size();
inline constexpr size_t kMemoryQuantities = kMemoryFigures + kLedgerParts;
inline constexpr auto kMemoryFigureNames = names_with<MemoryFigure, kMemoryFigures>(kMemory);
inline constexpr auto kLedgerPartNames = names_with<profile::LedgerPart, kLedgerParts>(kMemory);
constexpr ComparedQuantity time_of(profile::KernelClass kernel_class) {
  return {Measured::one_class, Per::either, kernel_class};
}
constexpr ComparedQuantity time_of(profile::RequestPart part) {
  return {Measured::request_part, Per::request, {}, part};
}
constexpr ComparedQuantity memory_of(MemoryFigure figure) {
  return {Measured::memory, Per::run, {}, {}, figure};
}
constexpr ComparedQuantity memory_of(profile::LedgerPart part) {
  return {Measured::memory, Per::run, {}, {}, {}, part};
}

inline constexpr profile::Word<ComparedQuantity> kQuantities[] = {
    {{Measured::wall, Per::step}, "wall time per step", "step"},
    {{Measured::busy, Per::step}, "busy time of the device per step", "step_busy"},
    {{Measured::idle, Per::step}, "idle time of the device per step", "step_idle"},
    {{Measured::kernels, Per::step}, "kernel time per step", "step_kernels"},
    {{Measured::wall, Per::instance}, "wall time per instance", "wall"},
    {{Measured::busy, Per::instance}, "busy time of the device per instance", "busy"},
    {{Measured::idle, Per::instance}, "idle time of the device per instance", "idle"},
    {{Measured::kernels, Per::instance}, "kernel time per instance", "kernels"},
    {{Measured::tokens_per_s, Per::either}, "", "tokens_per_s"},
    {{Measured::mfu, Per::either}, "on wall time", "mfu"},
    {{Measured::mbu, Per::either}, "on wall time", "mbu"},
};
inline constexpr profile::Word<ComparedQuantity> kRequestQuantities[] = {
    {{Measured::ttft, Per::request}, "time to first token of requests", "ttft"},
    {{Measured::itl, Per::request}, "inter-token latency of requests", "itl"},
    {{Measured::tpot, Per::request}, "time per output token of requests", "tpot"},
    {{Measured::e2e, Per::request}, "end-to-end time of requests", "e2e"},
    {{Measured::goodput, Per::request}, "requests per second that meet all objectives", "goodput"},
};
constexpr auto words_of(ComparedQuantity /*of*/) {
  std::array<profile::Word<ComparedQuantity>, std::size(kQuantities) +
                                                  std::size(kRequestQuantities) + kRequestParts +
                                                  profile::kClassParts + kMemoryQuantities>
      words;
  auto at = std::ranges::copy(kQuantities, words.begin()).out;
  at = std::ranges::copy(kRequestQuantities, at).out;
  for (size_t i = 0; i < kRequestParts; ++i) {
    *at++ = {time_of(static_cast<profile::RequestPart>(i)), "", kPartNames[i].data()};
  }
  for (size_t i = 0; i < profile::kClassParts; ++i) {
    *at++ = {time_of(static_cast<profile::KernelClass>(i)), "", kClassNames[i].data()};
  }
  for (const auto& word : profile::kWords<MemoryFigure>) {
    *at++ = {memory_of(word.value), word.meaning,
             kMemoryFigureNames[static_cast<size_t>(word.value)].data()};
  }
  for (size_t i = 0; i < kLedgerParts; ++i) {
    *at++ = {memory_of(static_cast<profile::LedgerPart>(i)), "at the peak of the run",
             kLedgerPartNames[i].data()};
  }
  return words;
}

}  // namespace llmprof::compare

namespace llmprof::profile {

template <>
inline std::string_view to_string(compare::ComparedQuantity quantity) {
  for (const auto& word : kWords<compare::ComparedQuantity>) {
    if (word.value == quantity) return word.name;
  }
  // The class or part is of another version's profile.json.
  LaterNames& later = later_names<compare::ComparedQuantity>();
  const auto name =
      quantity.part ? std::string(compare::kPart).append(to_string(*quantity.part))
                    : std::string(compare::kClass).append(to_string(quantity.kernel_class.value()));
  return later.at(*later.find_or_add(name, SIZE_MAX));
}

template <>
inline std::optional<compare::ComparedQuantity> read_word(std::string_view name) {
  if (name.starts_with(compare::kPart)) {
    const auto part = read_word<RequestPart>(name.substr(compare::kPart.size()));
    return part ? std::optional(compare::time_of(*part)) : std::nullopt;
  }
  if (!name.starts_with(compare::kClass)) return find_word<compare::ComparedQuantity>(name);
  const auto kernel_class = read_word<KernelClass>(name.substr(compare::kClass.size()));
  if (!kernel_class) return std::nullopt;
  return compare::time_of(*kernel_class);
}

}  // namespace llmprof::profile
