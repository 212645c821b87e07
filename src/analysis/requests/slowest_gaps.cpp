#include "analysis/requests/slowest_gaps.h"

#include <algorithm>
#include <iterator>
#include <utility>

#include "analysis/statistics/statistics.h"
#include "base/quantiles.h"

namespace llmprof::analysis {
namespace {

constexpr size_t kSlowest = 50;

// The shortest of the longest.
Nanoseconds shortest_of_slowest(std::vector<Nanoseconds> lengths) {
  if (lengths.size() <= kSlowest) return 0;
  return value_of_rank(std::span(lengths), lengths.size() - kSlowest);
}

template <class Gaps>
void keep_slowest(Gaps& gaps) {
  std::ranges::stable_sort(gaps, [](const auto& a, const auto& b) {
    return a.interval.end - a.interval.start > b.interval.end - b.interval.start;
  });
  if (gaps.size() > kSlowest) gaps.resize(kSlowest);
}

}  // namespace

SlowestGaps::SlowestGaps(const ClientTokens& client) : client_(client) {
  std::vector<Nanoseconds> lengths;
  std::vector<Nanoseconds> firsts;
  for (uint32_t request = 0; request < client.size(); ++request) {
    const TokenRequest& of = client.requests[request];
    if (!client.counted[request] || of.chunks == 0) continue;
    firsts.push_back(client.time(request, 0) - of.sent);
    for (uint32_t i = 1; i < of.chunks; ++i) {
      lengths.push_back(client.time(request, i) - client.time(request, i - 1));
    }
  }
  from_ = shortest_of_slowest(std::move(lengths));
  from_first_ = shortest_of_slowest(std::move(firsts));
}

void SlowestGaps::add(uint32_t request, const RequestInterval& interval) {
  if (interval.chunk >= client_.requests[request].chunks) return;
  const bool first = interval.chunk == 0;
  if (interval.end - interval.start < (first ? from_first_ : from_)) return;
  Gap gap{request, interval, std::nullopt};
  const auto most = std::ranges::max_element(interval.waits, {}, &WaitFor::time);
  if (most != interval.waits.end()) gap.by = most->owner;
  gap.interval.waits = {};
  (first ? firsts_ : gaps_).push_back(gap);
}

void SlowestGaps::write(profile::Requests& into, const std::function<int64_t(uint32_t)>& batch_of) {
  keep_slowest(gaps_);
  keep_slowest(firsts_);
  std::vector<Gap> both;
  std::ranges::merge(gaps_, firsts_, std::back_inserter(both), [](const Gap& a, const Gap& b) {
    return a.interval.end - a.interval.start > b.interval.end - b.interval.start;
  });
  for (const Gap& from : both) {
    profile::RequestGap& gap = into.slowest_gaps.emplace_back();
    gap.request = from.request;
    gap.chunk = from.interval.chunk;
    gap.start = to_milliseconds(from.interval.start);
    gap.time.value = from.interval.end - from.interval.start;
    const uint32_t chunk = client_.requests[from.request].first_chunk + from.interval.chunk;
    if (const int64_t batch = batch_of(chunk); batch >= 0) {
      const profile::RequestBatch& made = into.batches[static_cast<size_t>(batch)];
      gap.batch = static_cast<uint64_t>(batch);
      gap.step = made.first_step + made.steps - 1;
    }
    gap.parts = named_parts(from.interval.parts);
    if (from.by) gap.most_delayed_by = into.items[*from.by].id;
  }
}

}  // namespace llmprof::analysis
