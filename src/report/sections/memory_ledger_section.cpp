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
                     std::string(!moment.closes   ? ""
                                 : *moment.closes ? "yes"
                                                  : "not all"));
      });
}

// Without readings of NVML.
Table recorded_moments(const profile::MemoryLedger& ledger) {
  return table_of("device | moment | #after (ms) | #recorded | of the GPU", ledger.moments,
                  [](const profile::LedgerMoment& moment) {
                    return cells(moment.device, moment_words(moment.kind, moment.stage),
                                 ms(moment.time), in_unit(moment.recorded), std::string("unknown"));
                  });
}

void add_moment(const profile::MemoryLedger& ledger, size_t index, Document& document) {
  const profile::LedgerMoment& moment = ledger.moments[index];
  Table table = table_of(
      moment.used ? "used for | by | #memory | #stated by the engine | #of used | #allocations | "
                    "how it is known"
                  : "used for | by | #memory | #stated by the engine | #of recorded | "
                    "#allocations | how it is known");
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
                               return other.gpu == moment.gpu && other.time == moment.time;
                             });
}

void add_headroom(const profile::MemoryLedger& ledger, Document& document) {
  Table table = table_of(
      "device | #free at the peak | #KV cache per token | #tokens that fit into it | #in bf16 | "
      "#in fp8 | #tokens of the KV cache | #used at a time (tokens) | #of the KV cache | #requests "
      "followed",
      ledger.headroom, [](const profile::MemoryHeadroom& left) {
        return cells(
            left.device, in_unit(left.free), in_unit(left.bytes_per_token), plain(left.tokens_left),
            plain(left.tokens_left_bf16), plain(left.tokens_left_fp8), plain(left.cache_tokens),
            plain(left.cache_used_tokens), percent(left.cache_used_share), grouped(left.requests));
      });
  const bool used = std::ranges::any_of(
      ledger.headroom, [](const auto& left) { return left.cache_used_tokens.has_value(); });
  table.show_if(used, "used at a time (tokens)").show_if(used, "of the KV cache");
  document.add_filled(std::move(table), "What is left:");
}

// One row per context, with a column for each format of the cache.
void add_more_sequences(const profile::MemoryLedger& ledger, Document& document) {
  Table table = table_of(
      "device | #context | #one sequence in bf16 | #fit | #one sequence in fp8 | #fit in "
      "fp8");
  for (const profile::MemoryRoom& room : ledger.room) {
    if (room.cache != profile::CacheFormat::bf16) continue;
    const auto fp8 = std::ranges::find_if(ledger.room, [&](const profile::MemoryRoom& other) {
      return other.cache == profile::CacheFormat::fp8 && other.device == room.device &&
             other.context == room.context;
    });
    if (fp8 == ledger.room.end()) continue;
    table.add(room.device, grouped(room.context), in_unit(room.per_sequence),
              grouped(room.sequences), in_unit(fp8->per_sequence), grouped(fp8->sequences));
  }
  document.add_filled(
      std::move(table),
      "Further sequences whose KV cache fits into what is left at the peak, by context. What else "
      "they need, llmprof fit computes:");
}

void add_forecasts(const profile::MemoryLedger& ledger, Document& document) {
  document.add_filled(table_of("device | if | #needs | #free | fits | basis", ledger.forecasts,
                               [](const profile::MemoryForecast& forecast) {
                                 return cells(forecast.device,
                                              std::string(in_words(forecast.change)),
                                              in_unit(forecast.more), in_unit(forecast.free),
                                              std::string(forecast.fits ? "yes" : "no"),
                                              std::string(in_words(forecast.basis)));
                               }),
                      "What larger runs need:");
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
  if (ledger.readings > 0) {
    document.paragraph(
        "What the GPU's memory is used for, from {} recorded allocations and releases and {} "
        "readings of NVML. The rows of a moment sum to what is used, exactly; what nothing "
        "explains is a row of its own.",
        grouped(ledger.events), grouped(ledger.readings));
    document.add_filled(moment_table(ledger));
  } else {
    document.paragraph(
        "What {} recorded allocations and releases hold of the GPU's memory. Without readings of "
        "NVML it is unknown what else is used (CUDA context, modules, graphs, other processes), "
        "and what is left: llmprof run records both.",
        grouped(ledger.events));
    document.add_filled(recorded_moments(ledger));
  }
  for (size_t i = 0; i < ledger.moments.size(); ++i) {
    if (!is_shown_before(ledger, i)) add_moment(ledger, i, document);
  }
  add_memory_statements(profile, document);
  add_headroom(ledger, document);
  add_more_sequences(ledger, document);
  add_forecasts(ledger, document);
  add_growth(ledger, document);
}

}  // namespace llmprof::report
