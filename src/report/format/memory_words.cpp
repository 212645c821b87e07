#include "report/format/memory_words.h"

namespace llmprof::report {
namespace {

using profile::LedgerPart;
using profile::OutOfMemoryCause;

struct LedgerPartRow {
  LedgerPart value;
  Color color;
};

// Gray is what the program does not decide.
constexpr auto kLedgerParts = [] {
  using enum LedgerPart;
  return profile::one_per_value<LedgerPart, LedgerPartRow>({
      {other_processes, {"#8a93a0", "#6c7480"}},
      {driver_reserved, {"#5b646f", "#9aa4b2"}},
      {context, {"#6b4e0c", "#b07a10"}},
      {weights, {"#0072b2", "#3698f5"}},
      {kv_cache, {"#009e73", "#4fc9a0"}},
      {graphs, {"#8a4fd0", "#8f7fd0"}},
      {library_workspace, {"#b18507", "#d9dd2b"}},
      {framework, {"#b54e0c", "#f0813a"}},
      {allocations, {"#615ff6", "#b8e4ff"}},
      {pool, {"#b0428c", "#e6a4e9"}},
      {pool_unused, {"#e641d3", "#b25fa5"}},
      {vmm, {"#8e1f5c", "#d7146b"}},
      {managed, {"#2c2f86", "#4f6bf5"}},
      {rounding, {"#8f7d52", "#a6876b"}},
      {profiler, {"#23272e", "#f2f4f7"}},
      {rest, {"#e4576b", "#f0606f"}},
  });
}();

}  // namespace

LedgerPartLook look_of(LedgerPart part) {
  const bool known = is_known(part);
  const auto place = static_cast<size_t>(known ? part : LedgerPart::rest);
  const LedgerPartRow& row = kLedgerParts.at(place);
  if (!known) return {to_string(part), {}, row.color};
  return {in_words(part), sentence(profile::kWords<LedgerPart>.at(place).meaning), row.color};
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
