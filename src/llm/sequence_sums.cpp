#include "llm/sequence_sums.h"

namespace llmprof::llm {

bool are_possible(const SequenceSums& sums) {
  const auto sequences = static_cast<double>(sums.sequences);
  const auto queries = static_cast<double>(sums.queries);
  const auto keys = static_cast<double>(sums.keys);
  const auto squared = static_cast<double>(sums.queries_squared);
  const auto by_keys = static_cast<double>(sums.queries_by_keys);
  if (sums.sequences == 0) return sums == SequenceSums();
  return queries >= sequences && keys >= queries && by_keys >= squared &&
         squared <= queries * queries && squared * sequences >= queries * queries &&
         by_keys <= queries * keys && by_keys >= keys;
}

double causal_pairs(const SequenceSums& sums) {
  const double below_diagonal =
      (static_cast<double>(sums.queries_squared) - static_cast<double>(sums.queries)) / 2;
  return static_cast<double>(sums.queries_by_keys) - below_diagonal;
}

}  // namespace llmprof::llm
