#include "analysis/requests/request_tails.h"

#include <algorithm>

#include "analysis/requests/explain_requests.h"
#include "analysis/requests/request_delays.h"
#include "base/quantiles.h"

namespace llmprof::analysis {
namespace {

using profile::RequestFigure;

constexpr std::array kQuantiles = {0.9, 0.99};
constexpr double kMiddleFrom = 0.4;
constexpr double kMiddleTo = 0.6;

size_t index_of(RequestFigure figure) { return static_cast<size_t>(figure); }

uint64_t tokens_of(const ClientTokens& client, const TokenRequest& request) {
  uint64_t tokens = 0;
  for (uint32_t i = 0; i < request.chunks; ++i) {
    tokens += client.chunks[request.first_chunk + i].tokens;
  }
  return tokens;
}

Nanoseconds first_to_last(const ClientTokens& client, const TokenRequest& request) {
  const auto& chunks = client.chunks;
  return chunks[request.first_chunk + request.chunks - 1].time - chunks[request.first_chunk].time;
}

}  // namespace

// Nearly all of the value, so that its parts say what it consists of.
bool RequestTails::Sums::is_recorded() const {
  Nanoseconds all = 0;
  for (const Nanoseconds part : parts) all += part;
  return !is_too_much(static_cast<uint64_t>(parts[static_cast<size_t>(RequestPart::not_recorded)]),
                      static_cast<uint64_t>(all));
}

void RequestTails::Sums::add(const RequestInterval& interval) {
  for (size_t part = 0; part < kRequestParts; ++part) parts[part] += interval.parts[part];
  for (const WaitFor& wait : interval.waits) waits[wait.owner] += wait.time;
}

void RequestTails::Group::add(uint64_t values, const Sums& sums, double over) {
  count += values;
  for (size_t part = 0; part < kRequestParts; ++part)
    parts[part] += as_double(sums.parts[part]) / over;
  for (const auto& [owner, time] : sums.waits) waits[owner] += time;
}

void RequestTails::Figure::set(std::vector<Nanoseconds> values) {
  known = !values.empty();
  if (!known) return;
  const std::span<Nanoseconds> all(values);
  for (const double quantile : kQuantiles) above.push_back(nearest_rank(all, quantile));
  low = nearest_rank(all, kMiddleFrom);
  high = nearest_rank(all, kMiddleTo);
  tails.resize(kQuantiles.size());
}

void RequestTails::Figure::add(Nanoseconds value, uint64_t values, const Sums& sums, double over) {
  if (!sums.is_recorded()) return;
  for (size_t i = 0; i < tails.size(); ++i) {
    if (value >= above[i]) tails[i].add(values, sums, over);
  }
  if (value >= low && value <= high) middle.add(values, sums, over);
}

RequestTails::RequestTails(const ClientTokens& client) : client_(client) {
  std::array<std::vector<Nanoseconds>, 4> values;
  for (uint32_t request = 0; request < client.size(); ++request) {
    const TokenRequest& of = client.requests[request];
    if (!client.counted[request] || of.chunks == 0) continue;
    values[index_of(RequestFigure::ttft)].push_back(client.time(request, 0) - of.sent);
    values[index_of(RequestFigure::e2e)].push_back(client.ends[request] - of.sent);
    const auto after_first = static_cast<Nanoseconds>(tokens_of(client, of)) - 1;
    if (after_first > 0) {
      values[index_of(RequestFigure::tpot)].push_back(first_to_last(client, of) / after_first);
    }
    for (uint32_t i = 1; i < of.chunks; ++i) {
      const uint32_t tokens = client.chunks[of.first_chunk + i].tokens;
      const Nanoseconds gap = client.time(request, i) - client.time(request, i - 1);
      auto& gaps = values[index_of(RequestFigure::itl)];
      gaps.insert(gaps.end(), tokens, gap / tokens);
    }
  }
  for (size_t i = 0; i < figures_.size(); ++i) figures_[i].set(std::move(values[i]));
}

void RequestTails::add(uint32_t request, const RequestInterval& interval) {
  const TokenRequest& of = client_.requests[request];
  all_.add(interval);
  const bool of_first = interval.chunk == 0 && of.chunks > 0;
  if (!of_first && interval.chunk >= of.chunks) return;
  Sums sums;
  sums.add(interval);
  const Nanoseconds time = interval.end - interval.start;
  if (of_first) {
    figures_[index_of(RequestFigure::ttft)].add(time, 1, sums, 1);
    return;
  }
  gaps_.add(interval);
  const uint32_t tokens = client_.chunks[of.first_chunk + interval.chunk].tokens;
  // A part of each of its tokens is a part of the gap over their number.
  figures_[index_of(RequestFigure::itl)].add(time / tokens, tokens, sums, 1);
}

void RequestTails::finish(uint32_t request) {
  const TokenRequest& of = client_.requests[request];
  if (of.chunks > 0) {
    figures_[index_of(RequestFigure::e2e)].add(client_.ends[request] - of.sent, 1, all_, 1);
    const auto after_first = static_cast<Nanoseconds>(tokens_of(client_, of)) - 1;
    if (after_first > 0) {
      figures_[index_of(RequestFigure::tpot)].add(first_to_last(client_, of) / after_first, 1,
                                                  gaps_, as_double(after_first));
    }
  }
  gaps_ = {};
  all_ = {};
}

void RequestTails::write(profile::Requests& into) const {
  for (size_t i = 0; i < figures_.size(); ++i) {
    const Figure& figure = figures_[i];
    if (!figure.known) continue;
    for (size_t tail = 0; tail < kQuantiles.size(); ++tail) {
      const Group& group = figure.tails[tail];
      if (group.count == 0) continue;
      profile::RequestTail& row = into.tail.emplace_back();
      row.figure = static_cast<RequestFigure>(i);
      row.quantile = {kQuantiles[tail]};
      row.above = to_milliseconds(figure.above[tail]);
      row.count = group.count;
      row.around_median = figure.middle.count;
      const auto mean = [](const Group& of, size_t part) {
        return of.count == 0 ? 0 : of.parts[part] / static_cast<double>(of.count);
      };
      for (size_t part = 0; part < kRequestParts; ++part) {
        const double slow = mean(group, part);
        const double middle = mean(figure.middle, part);
        if (slow == 0 && middle == 0) continue;
        row.parts.push_back({static_cast<RequestPart>(part), to_milliseconds(slow),
                             to_milliseconds(middle), to_milliseconds(slow - middle)});
      }
      std::ranges::stable_sort(
          row.parts, [](const auto& a, const auto& b) { return a.more.value > b.more.value; });
      if (const auto by = most_delayed_by(group.waits)) row.most_delayed_by = into.items[*by].id;
    }
  }
}

}  // namespace llmprof::analysis
