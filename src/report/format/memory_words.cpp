#include "report/format/memory_words.h"

namespace llmprof::report {
namespace {

using profile::LedgerBasis;
using profile::LedgerMomentKind;
using profile::LedgerPart;
using profile::OutOfMemoryCause;

struct LedgerPartRow {
  LedgerPart value;
  std::string_view shown;
  Color color;
};

// Gray is what the program does not decide.
constexpr auto kLedgerParts = [] {
  using enum LedgerPart;
  return profile::one_per_value<LedgerPart, LedgerPartRow>({
      {other_processes, "other processes", {"#8a93a0", "#6c7480"}},
      {driver_reserved, "driver, reserved", {"#5b646f", "#9aa4b2"}},
      {context, "CUDA context and loaded code", {"#6b4e0c", "#b07a10"}},
      {weights, "weights", {"#0072b2", "#3698f5"}},
      {kv_cache, "KV cache", {"#009e73", "#4fc9a0"}},
      {graphs, "CUDA graphs", {"#8a4fd0", "#8f7fd0"}},
      {library_workspace, "library workspace", {"#b18507", "#d9dd2b"}},
      {framework, "framework's allocator", {"#b54e0c", "#f0813a"}},
      {allocations, "other allocations", {"#615ff6", "#b8e4ff"}},
      {pool, "pool, used", {"#b0428c", "#e6a4e9"}},
      {pool_unused, "pool, free", {"#e641d3", "#b25fa5"}},
      {vmm, "virtual memory (expandable segments)", {"#8e1f5c", "#d7146b"}},
      {managed, "managed memory", {"#2c2f86", "#4f6bf5"}},
      {rounding, "rounding to 2 MiB", {"#8f7d52", "#a6876b"}},
      {profiler, "profiler", {"#23272e", "#f2f4f7"}},
      {rest, "rest, not explained", {"#e4576b", "#f0606f"}},
  });
}();

}  // namespace

LedgerPartLook look_of(LedgerPart part) {
  const bool known = is_known(part);
  const auto place = static_cast<size_t>(known ? part : LedgerPart::rest);
  const LedgerPartRow& row = kLedgerParts.at(place);
  if (!known) return {to_string(part), {}, row.color};
  return {row.shown, sentence(profile::kWords<LedgerPart>.at(place).meaning), row.color};
}

std::string_view basis_words(LedgerBasis basis) {
  using enum LedgerBasis;
  static constexpr auto kTexts = profile::texts<LedgerBasis>({
      {reading, "read from NVML"},
      {recorded, "sum of recorded allocations"},
      {addresses, "pages that recorded allocations touch"},
      {stated, "stated by the driver or CUPTI"},
      {model_size, "recorded, with the size that the model's configuration gives"},
      {difference, "growth that no allocation explains"},
      {remainder, "used minus all other rows"},
  });
  return kTexts[basis];
}

std::string moment_words(const profile::LedgerMoment& moment) {
  using enum LedgerMomentKind;
  static constexpr auto kTexts = profile::texts<LedgerMomentKind>({
      {after_load, "after loading"},
      {stage_peak, "peak of"},
      {steady_decode, "steady decode"},
      {peak, "peak"},
      {end, "end"},
  });
  std::string name(kTexts[moment.kind]);
  if (moment.kind == stage_peak) name += " " + moment.stage.value_or("");
  return name;
}

std::string_view cause_words(OutOfMemoryCause cause) {
  using enum OutOfMemoryCause;
  static constexpr auto kTexts = profile::texts<OutOfMemoryCause>({
      {size, "too little memory is free, wherever it is"},
      {fragmentation, "free memory is fragmented"},
      {other_pools, "free memory belongs to other pools, streams or size classes"},
      {not_known, "the cause is unknown, because by the snapshot it fits"},
  });
  return kTexts[cause];
}

}  // namespace llmprof::report
