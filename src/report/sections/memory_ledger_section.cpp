#include <fmt/format.h>

#include <algorithm>
#include <string>

#include "report/format/figures.h"
#include "report/format/words.h"
#include "report/sections/sections.h"

namespace llmprof::report {
namespace {

Table moment_table(const profile::MemoryLedger& ledger) {
  return table_of(
      "device | moment | #after (ms) | #used | #of the GPU's | #of this process | "
      "explained",
      ledger.moments, [](const profile::LedgerMoment& moment) {
        return cells(moment.device, moment_words(moment.kind, moment.stage), ms(moment.time),
                     in_unit(moment.used), percent(moment.used_share), in_unit(moment.own),
                     std::string(moment.closes ? "yes" : "not all"));
      });
}

void add_moment(const profile::MemoryLedger& ledger, size_t index, Document& document) {
  const profile::LedgerMoment& moment = ledger.moments[index];
  Table table = table_of(
      "used for | by | #memory | #stated by the engine | #of used | #allocations | how it is "
      "known");
  bool stated = false;
  for (const profile::LedgerRow& row : ledger.rows) {
    if (row.moment != index) continue;
    stated = stated || row.stated;
    table.add(std::string(in_words(row.part)), row.owner, in_unit(row.bytes), in_unit(row.stated),
              percent(row.share), grouped(row.allocations), std::string(in_words(row.basis)));
  }
  table.show_if(stated, "stated by the engine");
  document.add_filled(std::move(table), fmt::format("{}, {}:", moment.device,
                                                    moment_words(moment.kind, moment.stage)));
  add_ledger_contents(ledger, index, document);
}

// Moments of one GPU at the same reading have the same rows.
bool is_shown_before(const profile::MemoryLedger& ledger, size_t index) {
  const profile::LedgerMoment& moment = ledger.moments[index];
  return std::ranges::any_of(ledger.moments.begin(),
                             ledger.moments.begin() + static_cast<std::ptrdiff_t>(index),
                             [&](const profile::LedgerMoment& other) {
                               return other.device == moment.device && other.time == moment.time;
                             });
}

void add_headroom(const profile::MemoryLedger& ledger, Document& document) {
  Table table = table_of(
      "device | #free at the peak | #KV cache per token | #tokens that fit into it | #tokens of "
      "the KV cache | #used at a time (tokens) | #of the KV cache | #requests followed",
      ledger.headroom, [](const profile::MemoryHeadroom& left) {
        return cells(left.device, in_unit(left.free), in_unit(left.bytes_per_token),
                     plain(left.tokens_left), plain(left.cache_tokens),
                     plain(left.cache_used_tokens), percent(left.cache_used_share),
                     grouped(left.requests));
      });
  const bool used = std::ranges::any_of(
      ledger.headroom, [](const auto& left) { return left.cache_used_tokens.has_value(); });
  table.show_if(used, "used at a time (tokens)").show_if(used, "of the KV cache");
  document.add_filled(std::move(table), "What is left:");
}

void add_growth(const profile::MemoryLedger& ledger, Document& document) {
  document.add_filled(
      table_of("device | used for | by | #grew (times) | #grew by | #per request | #at least | "
               "#at most | leak | #requests until full",
               ledger.growth,
               [](const profile::MemoryGrowth& growth) {
                 return cells(growth.device, std::string(in_words(growth.part)), growth.owner,
                              grouped(growth.increases), in_unit(growth.grown),
                              in_unit(growth.per_request), in_unit(growth.per_request_lower),
                              in_unit(growth.per_request_upper),
                              std::string(growth.leak ? "yes" : "no"), plain(growth.requests_left));
               }),
      "What grew from request to request, after warm-up. The limits are a 95 % interval; a leak "
      "grew at least five times, also in the last third of the requests:");
}

}  // namespace

void add_section(Topic<"memory ledger"> /*topic*/, const Profile& profile, Document& document) {
  if (!profile.memory_ledger) {
    if (profile.memory_statements.empty()) return;
    document.heading(2, "Use of GPU memory");
    return add_memory_statements(profile, document);
  }
  const profile::MemoryLedger& ledger = *profile.memory_ledger;
  document.heading(2, "Use of GPU memory");
  document.paragraph(
      "What the GPU's memory is used for, from {} recorded allocations and releases and {} "
      "readings of NVML. The rows of a moment sum to what is used, exactly; what nothing explains "
      "is a row of its own.",
      grouped(ledger.events), grouped(ledger.readings));
  document.add_filled(moment_table(ledger));
  for (size_t i = 0; i < ledger.moments.size(); ++i) {
    if (!is_shown_before(ledger, i)) add_moment(ledger, i, document);
  }
  add_memory_statements(profile, document);
  add_headroom(ledger, document);
  add_growth(ledger, document);
}

}  // namespace llmprof::report
