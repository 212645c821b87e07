#include "compare/requests/requests_diff.h"

#include <algorithm>
#include <array>
#include <cmath>

namespace llmprof::compare {
namespace {

using profile::Request;
using profile::RequestPart;

// By part, over all completed requests of a side.
using TotalsByPart = std::array<Nanoseconds, profile::kWords<RequestPart>.size()>;

struct SideTimes {
  uint64_t requests = 0;
  uint64_t failed = 0;
  Nanoseconds total = 0;
  TotalsByPart parts{};
  uint64_t first_tokens = 0;
  TotalsByPart first_token_parts{};
  bool joined = true;
};

void add_parts(const profile::ByWord<RequestPart, WholeNanoseconds>& from, TotalsByPart& to) {
  for (const auto& [part, time] : from) {
    if (is_known(part)) to[static_cast<size_t>(part)] += time.value;
  }
}

SideTimes times_of(std::span<const Run> runs) {
  SideTimes side;
  for (const Run& run : runs) {
    const profile::Requests& requests = *run.profile.requests;
    side.failed += requests.failed;
    side.joined = side.joined && !requests.parts.empty();
    for (const Request& request : requests.items) {
      if (request.warm_up || request.status != profile::RequestStatus::completed) continue;
      if (!request.e2e) continue;
      ++side.requests;
      side.total += request.e2e->value;
      add_parts(request.parts, side.parts);
      if (!request.ttft) continue;
      ++side.first_tokens;
      add_parts(request.ttft_parts, side.first_token_parts);
    }
  }
  return side;
}

// Each total over the count, in whole nanoseconds that sum to the sum over the count.
TotalsByPart means_of(const TotalsByPart& totals, uint64_t count) {
  TotalsByPart means{};
  if (count == 0) return means;
  const auto divisor = static_cast<Nanoseconds>(count);
  Nanoseconds sum = 0;
  for (size_t i = 0; i < totals.size(); ++i) {
    const Nanoseconds before = sum / divisor;
    sum += totals[i];
    means[i] = sum / divisor - before;
  }
  return means;
}

Nanoseconds sum_of(const TotalsByPart& parts) {
  Nanoseconds sum = 0;
  for (const Nanoseconds time : parts) sum += time;
  return sum;
}

std::optional<Share> share_of(Nanoseconds difference, Nanoseconds base) {
  if (base <= 0) return std::nullopt;
  return Share{static_cast<double>(difference) / static_cast<double>(base)};
}

std::vector<RequestPartChange> changes_between(const TotalsByPart& base, const TotalsByPart& now) {
  const Nanoseconds whole = sum_of(base);
  std::vector<RequestPartChange> changes;
  for (size_t i = 0; i < base.size(); ++i) {
    if (base[i] == 0 && now[i] == 0) continue;
    const Nanoseconds difference = now[i] - base[i];
    changes.push_back({static_cast<RequestPart>(i),
                       {base[i]},
                       {now[i]},
                       {difference},
                       share_of(difference, whole)});
  }
  std::ranges::stable_sort(changes, std::ranges::greater(), [](const RequestPartChange& change) {
    return std::abs(change.difference.value);
  });
  return changes;
}

}  // namespace

std::optional<RequestsDiff> diff_requests(const Sides& sides) {
  for (const std::span<const Run> runs : {sides.base, sides.now}) {
    for (const Run& run : runs) {
      if (!run.profile.requests || run.profile.requests->completed == 0) return std::nullopt;
    }
  }
  const SideTimes base = times_of(sides.base);
  const SideTimes now = times_of(sides.now);
  RequestsDiff found;
  found.base_completed = base.requests;
  found.now_completed = now.requests;
  found.base_failed = base.failed;
  found.now_failed = now.failed;
  const auto mean = [](const SideTimes& side) {
    return side.requests == 0 ? 0 : side.total / static_cast<Nanoseconds>(side.requests);
  };
  found.base.value = mean(base);
  found.now.value = mean(now);
  if (base.joined && now.joined) {
    const TotalsByPart from = means_of(base.parts, base.requests);
    const TotalsByPart to = means_of(now.parts, now.requests);
    found.base.value = sum_of(from);
    found.now.value = sum_of(to);
    found.parts = changes_between(from, to);
    found.first_token_parts = changes_between(means_of(base.first_token_parts, base.first_tokens),
                                              means_of(now.first_token_parts, now.first_tokens));
  }
  found.difference.value = found.now.value - found.base.value;
  found.relative = share_of(found.difference.value, found.base.value);
  return found;
}

}  // namespace llmprof::compare
