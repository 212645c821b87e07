#include <fmt/format.h>

#include <algorithm>
#include <string>

#include "report/format/figures.h"
#include "report/format/words.h"
#include "report/sections/sections.h"

namespace llmprof::report {
namespace {

Table model_table(const Memory& memory) {
  return table_of(
      "snapshot | device | #weights by the configuration | #weights found | #complete sets | #KV "
      "cache per token | #tokens of the KV cache | #in passes (tokens)",
      memory.models, [](const ModelMemory& row) {
        return cells(grouped(row.snapshot), row.device, in_unit(row.weights),
                     in_unit(row.found_weights), grouped(row.weight_sets),
                     in_unit(row.bytes_per_token), grouped(row.cache_tokens),
                     plain(row.cache_tokens_in_passes));
      });
}

}  // namespace

void add_memory_contents(const Memory& memory, Document& document) {
  if (memory.contents.empty()) return;
  const bool several = memory.snapshots.size() > 1;
  document.heading(3, "What it is used for");
  Table table = table_of(
      "snapshot | device | used for | #after loading | #most in passes | #at the peak | #at the "
      "snapshot | #blocks | "
      "how it is known",
      memory.contents, [](const MemoryContents& row) {
        return cells(grouped(row.snapshot), row.device, std::string(in_words(row.content)),
                     in_unit(row.after_load), in_unit(row.in_passes), in_unit(row.at_peak),
                     in_unit(row.now), grouped(row.blocks_now), std::string(in_words(row.basis)));
      });
  table.show_if(several, "snapshot");
  document.add_filled(std::move(table),
                      "Each column sums to what PyTorch held then. The peak may be while loading, "
                      "the most in passes is after it. Rounding is known at the snapshot; before, "
                      "it is part of what is unused:");
  Table models = model_table(memory);
  models.show_if(several, "snapshot");
  document.add_filled(std::move(models), "Beside the model's configuration:");
}

void add_ledger_contents(const profile::MemoryLedger& ledger, size_t moment, Document& document) {
  Table table = table_of("inside PyTorch's rows | #memory | #of these rows | how it is known");
  for (const profile::LedgerContents& row : ledger.contents) {
    if (row.moment != moment) continue;
    table.add(std::string(in_words(row.content)), in_unit(row.bytes), percent(row.share),
              std::string(in_words(row.basis)));
  }
  document.add_filled(std::move(table),
                      "Of these, PyTorch's rows contain, by its memory snapshot, which may be of "
                      "another recording of the program:");
}

void add_memory_statements(const Profile& profile, Document& document) {
  document.add_filled(
      table_of("engine | memory | device | #stated | #tokens | #lines | #recorded | #stated minus "
               "recorded | log",
               profile.memory_statements,
               [](const MemoryStatement& row) {
                 return cells(row.engine, std::string(in_words(row.part)), row.device.value_or(""),
                              in_unit(row.stated), plain(row.tokens), grouped(row.lines),
                              in_unit(row.recorded), in_unit(row.difference), row.file);
               }),
      "What the engine says in its log, beside the same part of the recorded memory at the peak:");
}

std::string cache_sentence(const Profile& profile) {
  if (!profile.memory_ledger) return {};
  const profile::MemoryLedger& ledger = *profile.memory_ledger;
  const auto left = std::ranges::max_element(
      ledger.headroom, {}, [](const auto& each) { return each.cache_tokens.value_or(0); });
  if (left == ledger.headroom.end() || !left->cache_tokens || !left->bytes_per_token) return {};
  const auto peak = std::ranges::find_if(ledger.moments, [&](const auto& moment) {
    return moment.device == left->device && moment.kind == profile::LedgerMomentKind::peak;
  });
  if (peak == ledger.moments.end() || !peak->total || *left->cache_tokens == 0) return {};
  const profile::Bytes cache{static_cast<double>(*left->cache_tokens) *
                             left->bytes_per_token->value};
  return fmt::format(
      "{} of the {} of {} are KV cache{}.", in_unit(cache), in_unit(peak->total), left->device,
      left->cache_used_share ? fmt::format(", of which requests used at most {} at a time",
                                           percent(left->cache_used_share))
                             : std::string());
}

}  // namespace llmprof::report
