#include "analysis/requests/slowest_gaps.h"

#include <algorithm>
#include <tuple>

#include "analysis/statistics/statistics.h"
#include "base/quantiles.h"

namespace llmprof::analysis {
namespace {

constexpr size_t kSlowest = 50;

}  // namespace

SlowestGaps::SlowestGaps(const ClientTokens& client) : client_(client) {
  std::vector<Nanoseconds> lengths;
  for (uint32_t request = 0; request < client.size(); ++request) {
    const TokenRequest& of = client.requests[request];
    if (!client.counted[request]) continue;
    for (uint32_t i = 0; i < of.chunks; ++i) {
      const Nanoseconds before = i == 0 ? of.sent : client.time(request, i - 1);
      lengths.push_back(client.time(request, i) - before);
    }
  }
  if (lengths.size() <= kSlowest) return;
  from_ = value_of_rank(std::span(lengths), lengths.size() - kSlowest);
}

void SlowestGaps::add(uint32_t request, const RequestInterval& interval) {
  if (interval.chunk >= client_.requests[request].chunks) return;
  if (interval.end - interval.start < from_) return;
  Gap gap{request, interval, std::nullopt};
  const auto most = std::ranges::max_element(interval.waits, {}, &WaitFor::time);
  if (most != interval.waits.end()) gap.by = most->owner;
  gap.interval.waits = {};
  gaps_.push_back(gap);
}

void SlowestGaps::write(profile::Requests& into, const std::function<int64_t(uint32_t)>& batch_of) {
  std::ranges::stable_sort(gaps_, [](const Gap& a, const Gap& b) {
    return a.interval.end - a.interval.start > b.interval.end - b.interval.start;
  });
  if (gaps_.size() > kSlowest) gaps_.resize(kSlowest);
  for (const Gap& from : gaps_) {
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
