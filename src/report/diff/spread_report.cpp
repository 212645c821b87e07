#include "report/diff/spread_report.h"

#include <fmt/format.h>

#include "report/diff/diff_words.h"
#include "report/format/figures.h"

namespace llmprof::report {
namespace {

std::string words_of(const compare::Spread& spread, bool on_cpu) {
  compare::Comparison comparison;
  comparison.quantity = spread.quantity;
  comparison.statistic = "mean";
  comparison.times = spread.times;
  return quantity_words(comparison, on_cpu);
}

Figure time(double milliseconds) { return fine_ms(profile::Milliseconds{milliseconds}); }

}  // namespace

Document spread_report(std::span<const compare::Spread> spreads, bool on_cpu) {
  Document document;
  if (spreads.empty()) {
    document.add(Paragraph{"No stage was found in every run: there is no spread to report."});
    return document;
  }
  const size_t runs = spreads.front().values.size();
  document.add(Heading{2, fmt::format("Spread of {}", counted(runs, "run"))});
  Table table{{{"stage", Column::Kind::text, 3},
               {"quantity", Column::Kind::text, 4},
               {"mean (ms)", Column::Kind::number, 4},
               {"std (ms)", Column::Kind::number, 2},
               {"std", Column::Kind::number, 3},
               {"lowest", Column::Kind::number, 1},
               {"highest", Column::Kind::number, 1},
               {"smallest change seen", Column::Kind::number, 3}}};
  for (const compare::Spread& spread : spreads) {
    const bool several = spread.values.size() > 1 && spread.mean > 0;
    table.rows.push_back(
        {spread.stage, words_of(spread, on_cpu), time(spread.mean),
         several ? time(spread.deviation) : fine_ms(std::nullopt),
         percent(several ? std::optional(profile::Share{spread.deviation / spread.mean})
                         : std::nullopt),
         time(spread.low), time(spread.high), percent(spread.smallest_seen)});
  }
  document.add(std::move(table));
  document.add(Paragraph{
      runs > 1 ? fmt::format("Standard deviations are of the runs' means. The smallest change is "
                             "what {} per side would show in four of five comparisons.",
                             counted(runs, "run"))
               : std::string("One run has no spread: `--repeat 5` records one.")});
  return document;
}

}  // namespace llmprof::report
