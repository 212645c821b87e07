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
        const double total = moment.total.value;
        const Fraction share =
            total > 0 ? Fraction(Share{moment.used.value / total}) : std::nullopt;
        return cells(moment.device, moment_words(moment.kind, moment.stage), ms(moment.time),
                     in_unit(moment.used), percent(share), in_unit(moment.own),
                     std::string(moment.closes ? "yes" : "not all"));
      });
}

void add_moment(const profile::MemoryLedger& ledger, size_t index, Document& document) {
  const profile::LedgerMoment& moment = ledger.moments[index];
  Table table = table_of("used for | by | #memory | #of used | #allocations | how it is known");
  for (const profile::LedgerRow& row : ledger.rows) {
    if (row.moment != index) continue;
    const double used = moment.used.value;
    const Fraction share = used > 0 ? Fraction(Share{row.bytes.value / used}) : std::nullopt;
    table.add(std::string(in_words(row.part)), row.owner, in_unit(row.bytes), percent(share),
              grouped(row.allocations), std::string(in_words(row.basis)));
  }
  document.add_filled(std::move(table), fmt::format("{}, {}:", moment.device,
                                                    moment_words(moment.kind, moment.stage)));
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

}  // namespace

void add_section(Topic<"memory ledger"> /*topic*/, const Profile& profile, Document& document) {
  if (!profile.memory_ledger) return;
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
}

}  // namespace llmprof::report
