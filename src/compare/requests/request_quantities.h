#pragma once

#include <optional>
#include <string_view>
#include <vector>

#include "compare/model/diff.h"
#include "compare/model/sides.h"
#include "compare/quantities/judging.h"

namespace llmprof::compare {

// Where comparisons of requests belong, in diff.json and in gate rules.
inline constexpr std::string_view kRequests = "requests";

// Comparisons of a client's requests. Figures are those of the profiles. The load without a
// recorder counts if all runs have one; only its aggregates are known, so that in single runs it is
// assumed to vary like the recorded load of the same runs.
class RequestQuantities {
 public:
  // None unless all runs have completed requests. `withheld`: why requests have no answer.
  static std::optional<RequestQuantities> of(const Sides& sides, const Judging& judging,
                                             std::optional<NoAnswer> withheld);

  // None if a side does not have the quantity.
  [[nodiscard]] std::optional<Comparison> compare(ComparedQuantity quantity,
                                                  Statistic statistic) const;
  // All comparisons in diff.json.
  [[nodiscard]] std::vector<Comparison> compare_all() const;

 private:
  RequestQuantities(const Sides& sides, const Judging& judging)
      : sides_(sides), judging_(&judging) {}

  [[nodiscard]] std::optional<Comparison> recorded(ComparedQuantity quantity,
                                                   Statistic statistic) const;
  // Null interval if the recorded requests have none.
  [[nodiscard]] std::optional<Comparison> unrecorded(ComparedQuantity quantity, Statistic statistic,
                                                     const Comparison& recorded) const;
  [[nodiscard]] std::optional<Comparison> goodput(Times times) const;
  [[nodiscard]] Comparison judged(Comparison comparison) const;

  Sides sides_;
  const Judging* judging_;
  std::optional<NoAnswer> withheld_;
  double host_share_ = 0;  // of the requests' time, on the side with more of it
};

}  // namespace llmprof::compare
