#pragma once

#include <array>
#include <span>
#include <unordered_map>
#include <vector>

#include "analysis/requests/causes.h"
#include "analysis/requests/client_tokens.h"

namespace llmprof::analysis {

// What the slowest times to first token, gaps, times per token and whole requests consist of, and
// what those around the median do, as far as they were recorded.
class RequestTails {
 public:
  // Of the counted requests.
  explicit RequestTails(const ClientTokens& client);

  // For all intervals of a request, then `finish`.
  void add(uint32_t request, const RequestInterval& interval);
  void finish(uint32_t request);

  // `items` give the ids.
  void write(profile::Requests& into) const;

 private:
  using Waits = std::unordered_map<uint32_t, Nanoseconds>;
  struct Sums {
    PartSums parts{};
    Waits waits;

    void add(const RequestInterval& interval);
    [[nodiscard]] bool is_recorded() const;
  };
  struct Group {
    uint64_t count = 0;
    std::array<double, kRequestParts> parts{};
    Waits waits;

    // `count` values that together have these parts, each divided by `over`.
    void add(uint64_t values, const Sums& sums, double over);
  };
  struct Figure {
    std::vector<Nanoseconds> above;  // by quantile: where the tail begins
    Nanoseconds low = 0;             // the values around the median
    Nanoseconds high = 0;
    std::vector<Group> tails;  // by quantile
    Group middle;
    bool known = false;

    void set(std::vector<Nanoseconds> values);
    void add(Nanoseconds value, uint64_t values, const Sums& sums, double over);
  };

  const ClientTokens& client_;
  std::array<Figure, 4> figures_;  // by RequestFigure
  // Of the current request.
  Sums gaps_;
  Sums all_;
};

}  // namespace llmprof::analysis
