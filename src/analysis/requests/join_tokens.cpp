#include "analysis/requests/join_tokens.h"

#include <algorithm>

#include "analysis/budget/budget_basis.h"
#include "analysis/requests/delivery_delay.h"
#include "analysis/stages/thresholds.h"
#include "base/quantiles.h"

namespace llmprof::analysis {
namespace {

// Places the chunks, each as late as its arrival and its request's later chunks allow; then moves
// runs of consecutive chunks to earlier batches where a batch got more tokens than it has rows.
class Placement {
 public:
  Placement(std::span<const JoinBatch> batches, std::span<const TokenRequest> requests,
            std::span<const TokenChunk> chunks, bool token_per_batch)
      : batches_(batches), requests_(requests), chunks_(chunks), each_(token_per_batch) {
    result_.batch.assign(chunks.size(), kNoBatch);
    result_.state.assign(chunks.size(), ChunkState::unmatched);
    result_.tokens.assign(batches.size(), 0);
    result_.token_per_batch = token_per_batch;
    request_of_.assign(chunks.size(), 0);
    for (uint32_t request = 0; request < requests.size(); ++request) {
      const TokenRequest& of = requests[request];
      std::fill_n(request_of_.begin() + of.first_chunk, of.chunks, request);
    }
  }

  TokenJoin run() {
    if (batches_.empty()) return std::move(result_);
    earliest_ = shortest_delay(batches_, chunks_);
    longest_ = longest_usual_delay();
    next_made_ = std::min(longest_, earliest_ + shortest_usual_period());
    for (const TokenRequest& request : requests_) place(request);
    fill_before_breaks();
    make_room();
    drop_excess();
    drop_isolated();
    note_ambiguous();
    note_delays();
    return std::move(result_);
  }

 private:
  // Batches that a chunk takes, up to the one that it is placed in.
  [[nodiscard]] uint32_t width(uint32_t chunk) const { return each_ ? chunks_[chunk].tokens : 1; }
  [[nodiscard]] uint32_t first_batch(uint32_t chunk) const {
    return result_.batch[chunk] - width(chunk) + 1;
  }
  [[nodiscard]] bool placed(uint32_t chunk) const { return result_.batch[chunk] != kNoBatch; }
  [[nodiscard]] Nanoseconds delay(uint32_t chunk, uint32_t batch) const {
    return chunks_[chunk].time - batches_[batch].results;
  }
  [[nodiscard]] bool is_first(uint32_t chunk) const {
    return requests_[request_of_[chunk]].first_chunk == chunk;
  }
  [[nodiscard]] bool is_last(uint32_t chunk) const {
    const TokenRequest& of = requests_[request_of_[chunk]];
    return of.first_chunk + of.chunks == chunk + 1;
  }
  [[nodiscard]] bool break_behind(uint32_t batch) const {
    return batch + 1 == batches_.size() || batches_[batch + 1].after_break;
  }
  [[nodiscard]] bool has_room(uint32_t batch) const {
    return !batches_[batch].rows || result_.tokens[batch] < *batches_[batch].rows;
  }
  [[nodiscard]] bool too_full(uint32_t batch) const {
    return batches_[batch].rows && result_.tokens[batch] > *batches_[batch].rows;
  }

  void count(uint32_t chunk, bool add) {
    for (uint32_t batch = first_batch(chunk); batch <= result_.batch[chunk]; ++batch) {
      if (add) {
        ++result_.tokens[batch];
      } else {
        --result_.tokens[batch];
      }
    }
  }
  void remove(uint32_t chunk, ChunkState state) {
    count(chunk, false);
    result_.batch[chunk] = kNoBatch;
    result_.state[chunk] = state;
  }

  // Whether the batches right behind the first `count` are recorded, so that a chunk made then
  // would be of one of them.
  [[nodiscard]] bool recorded_until(uint32_t count, Nanoseconds made) const {
    if (count > 0) return !break_behind(count - 1);
    return !batches_.front().after_break && batches_.front().results <= made;
  }

  void place(const TokenRequest& request) {
    // Batches before this one are free.
    auto behind = static_cast<uint32_t>(batches_.size());
    const uint32_t first = request.first_chunk;
    for (uint32_t chunk = first + request.chunks; chunk-- > first;) {
      const Nanoseconds made = chunks_[chunk].time - earliest_;
      // Mostly right before the batch of the next chunk.
      const auto latest = static_cast<uint32_t>(
          gallop(behind, behind, [&](size_t batch) { return batches_[batch].results <= made; }));
      if (latest < width(chunk) || batches_[latest - width(chunk)].results <= request.sent) {
        if (recorded_until(latest, made)) continue;
        result_.state[chunk] = ChunkState::outside;
        continue;
      }
      if (break_behind(latest - 1) && delay(chunk, latest - 1) > next_made_) {
        result_.state[chunk] = ChunkState::outside;
        continue;
      }
      result_.batch[chunk] = latest - 1;
      result_.state[chunk] = ChunkState::joined;
      count(chunk, true);
      behind = latest - width(chunk);
    }
  }

  // Tokens that arrive later than this behind the last batch before a break are of unrecorded
  // batches. A multiple of the usual, since delays have a long tail.
  [[nodiscard]] Nanoseconds longest_usual_delay() const {
    std::vector<Nanoseconds> delays;
    size_t place = 0;
    for (const TokenChunk& chunk : chunks_) {
      const Nanoseconds made = chunk.time - earliest_;
      place = gallop(place, batches_.size(),
                     [&](size_t batch) { return batches_[batch].results <= made; });
      if (place == 0 || break_behind(static_cast<uint32_t>(place - 1))) continue;
      delays.push_back(chunk.time - batches_[place - 1].results);
    }
    if (delays.empty()) return INT64_MAX;
    constexpr double kNearlyLongest = 0.99;
    return threshold::kWellMore * nearest_rank(std::span(delays), kNearlyLongest);
  }

  // From one batch to the next.
  [[nodiscard]] Nanoseconds shortest_usual_period() const {
    std::vector<Nanoseconds> periods;
    for (size_t batch = 1; batch < batches_.size(); ++batch) {
      if (batches_[batch].after_break) continue;
      periods.push_back(batches_[batch].results - batches_[batch - 1].results);
    }
    if (periods.empty()) return INT64_MAX / 2;
    constexpr double kNearlyShortest = 0.1;
    return nearest_rank(std::span(periods), kNearlyShortest);
  }

  // Late tokens of the last batches before breaks: as many as these have rows, the first ones that
  // may be of them.
  void fill_before_breaks() {
    std::vector<uint32_t> late;
    for (uint32_t chunk = 0; chunk < chunks_.size(); ++chunk) {
      if (result_.state[chunk] == ChunkState::outside) late.push_back(chunk);
    }
    std::ranges::stable_sort(late, {}, [&](uint32_t chunk) { return chunks_[chunk].time; });
    for (const uint32_t chunk : late) {
      const auto behind =
          static_cast<uint32_t>(std::ranges::upper_bound(batches_, chunks_[chunk].time - earliest_,
                                                         {}, &JoinBatch::results) -
                                batches_.begin());
      if (behind == 0 || !may_end_before_break(chunk, behind - 1)) continue;
      result_.batch[chunk] = behind - 1;
      result_.state[chunk] = ChunkState::joined;
      count(chunk, true);
    }
  }
  [[nodiscard]] bool may_end_before_break(uint32_t chunk, uint32_t batch) const {
    if (!break_behind(batch) || delay(chunk, batch) > longest_ || !has_room(batch)) return false;
    if (batch + 1 < width(chunk)) return false;
    const uint32_t first = batch + 1 - width(chunk);
    if (!is_first(chunk)) return placed(chunk - 1) && result_.batch[chunk - 1] + 1 == first;
    return batches_[first].takes_prompts &&
           batches_[first].results > requests_[request_of_[chunk]].sent;
  }

  // The first chunk of the run of consecutive batches that ends with this chunk.
  [[nodiscard]] uint32_t run_start(uint32_t chunk) const {
    while (!is_first(chunk) && placed(chunk - 1) &&
           result_.batch[chunk - 1] + 1 == first_batch(chunk)) {
      --chunk;
    }
    return chunk;
  }

  // Whether the run that starts with this chunk may begin one batch earlier.
  [[nodiscard]] bool may_begin_earlier(uint32_t start) const {
    const uint32_t begin = first_batch(start);
    if (begin == 0 || batches_[begin].after_break || !has_room(begin - 1)) return false;
    if (is_first(start)) {
      return batches_[begin - 1].results > requests_[request_of_[start]].sent &&
             (batches_[begin - 1].takes_prompts || !batches_[begin].takes_prompts);
    }
    return placed(start - 1) && result_.batch[start - 1] + 1 < begin;
  }

  void shift(uint32_t start, uint32_t last, int by) {
    for (uint32_t chunk = start; chunk <= last; ++chunk) {
      count(chunk, false);
      result_.batch[chunk] = static_cast<uint32_t>(static_cast<int64_t>(result_.batch[chunk]) + by);
      count(chunk, true);
    }
  }

  // By batch: chunks placed in it, as far as several fit there.
  [[nodiscard]] std::vector<std::vector<uint32_t>> chunks_of_full_batches() const {
    std::vector<std::vector<uint32_t>> chunks(batches_.size());
    for (uint32_t chunk = 0; chunk < chunks_.size(); ++chunk) {
      if (placed(chunk) && too_full(result_.batch[chunk])) {
        chunks[result_.batch[chunk]].push_back(chunk);
      }
    }
    return chunks;
  }

  void make_room() {
    bool moved = true;
    for (uint32_t turn = 0; moved && turn < threshold::kMany; ++turn) {
      moved = false;
      const auto chunks = chunks_of_full_batches();
      for (uint32_t batch = 0; batch < batches_.size(); ++batch) {
        while (too_full(batch) && move_out_of(batch, chunks[batch])) moved = true;
      }
    }
  }

  // Moves the run that ends in this batch and leaves the least behind: one that then follows the
  // request's chunks before it, then the shortest one.
  bool move_out_of(uint32_t batch, const std::vector<uint32_t>& chunks) {
    uint32_t best = UINT32_MAX;
    std::pair<bool, uint32_t> best_rank;
    for (const uint32_t chunk : chunks) {
      if (result_.batch[chunk] != batch) continue;
      const uint32_t start = run_start(chunk);
      if (!may_begin_earlier(start)) continue;
      const bool follows = !is_first(start) && result_.batch[start - 1] + 2 == first_batch(start);
      const std::pair rank(!follows, chunk - start);
      if (best == UINT32_MAX || rank < best_rank) {
        best = chunk;
        best_rank = rank;
      }
    }
    if (best == UINT32_MAX) return false;
    shift(run_start(best), best, -1);
    return true;
  }

  [[nodiscard]] bool follows_or_leads(uint32_t chunk) const {
    const uint32_t batch = result_.batch[chunk];
    const bool follows =
        !is_first(chunk) && placed(chunk - 1) && near(result_.batch[chunk - 1], first_batch(chunk));
    const bool leads = !is_last(chunk) && placed(chunk + 1) && near(batch, first_batch(chunk + 1));
    return follows || leads;
  }
  // A sequence's next token is in the next batch, or in the one after as many prompts.
  [[nodiscard]] bool near(uint32_t batch, uint32_t next) const {
    for (uint32_t between = batch + 1; between < next; ++between) {
      if (!batches_[between].takes_prompts) return false;
      if (batches_[between].after_break) return true;
    }
    return true;
  }

  // A batch cannot have given more tokens than it has rows.
  void drop_excess() {
    const auto chunks = chunks_of_full_batches();
    for (uint32_t batch = 0; batch < batches_.size(); ++batch) {
      // Those that do not continue a run first.
      for (const bool any : {false, true}) {
        for (const uint32_t chunk : chunks[batch]) {
          if (!too_full(batch)) break;
          if (!any && follows_or_leads(chunk)) continue;
          if (placed(chunk)) remove(chunk, ChunkState::unmatched);
        }
      }
    }
  }

  // The first token of a sequence that was evicted behind it: a batch with prompts gave it, in
  // which at most one more row has no token, that of a prompt that goes on.
  [[nodiscard]] bool explains_prompt(uint32_t chunk) const {
    const uint32_t batch = result_.batch[chunk];
    return is_first(chunk) && batches_[batch].takes_prompts && batches_[batch].rows &&
           *batches_[batch].rows <= result_.tokens[batch] + 1;
  }

  // Sequences in decode get a token in each batch. A chunk far from both of its neighbors fits by
  // chance.
  void drop_isolated() {
    std::vector<uint32_t> isolated;
    for (uint32_t chunk = 0; chunk < chunks_.size(); ++chunk) {
      if (!placed(chunk) || (is_first(chunk) && is_last(chunk))) continue;
      const bool at_break = break_behind(result_.batch[chunk]) ||
                            batches_[first_batch(chunk)].after_break || first_batch(chunk) == 0;
      if (at_break || follows_or_leads(chunk) || explains_prompt(chunk)) continue;
      isolated.push_back(chunk);
    }
    for (const uint32_t chunk : isolated) remove(chunk, ChunkState::unmatched);
  }

  void note_ambiguous() {
    Nanoseconds longest = 0;
    for (uint32_t chunk = 0; chunk < chunks_.size(); ++chunk) {
      if (placed(chunk)) longest = std::max(longest, delay(chunk, result_.batch[chunk]));
    }
    for (uint32_t last = 0; last < chunks_.size(); ++last) {
      if (!placed(last) || goes_on(last)) continue;
      const uint32_t start = run_start(last);
      if (!fits_elsewhere(start, last, longest)) continue;
      for (uint32_t chunk = start; chunk <= last; ++chunk) {
        result_.state[chunk] = ChunkState::ambiguous;
      }
    }
  }
  [[nodiscard]] bool goes_on(uint32_t chunk) const {
    return !is_last(chunk) && placed(chunk + 1) &&
           result_.batch[chunk] + 1 == first_batch(chunk + 1);
  }
  [[nodiscard]] bool fits_elsewhere(uint32_t start, uint32_t last, Nanoseconds longest) const {
    const auto all = [&](int by) {
      for (uint32_t chunk = start; chunk <= last; ++chunk) {
        const auto batch = static_cast<uint32_t>(static_cast<int64_t>(result_.batch[chunk]) + by);
        const Nanoseconds time = delay(chunk, batch);
        if (time < earliest_ || time > longest) return false;
      }
      return true;
    };
    if (may_begin_earlier(start) && all(-1)) return true;
    const uint32_t next = result_.batch[last] + 1;
    if (next >= batches_.size() || batches_[next].after_break || !has_room(next)) return false;
    const bool free = is_last(last) || !placed(last + 1) || next < first_batch(last + 1);
    return free && all(1);
  }

  void note_delays() {
    for (uint32_t chunk = 0; chunk < chunks_.size(); ++chunk) {
      if (placed(chunk)) result_.delays.push_back(delay(chunk, result_.batch[chunk]));
    }
    std::ranges::sort(result_.delays);
  }

  std::span<const JoinBatch> batches_;
  std::span<const TokenRequest> requests_;
  std::span<const TokenChunk> chunks_;
  bool each_;
  Nanoseconds earliest_ = 0;
  Nanoseconds longest_ = INT64_MAX;
  // From the last batch before a break on; later tokens may be of the unrecorded batch behind it.
  Nanoseconds next_made_ = INT64_MAX;
  std::vector<uint32_t> request_of_;  // by chunk
  TokenJoin result_;
};

uint64_t joined_tokens(const TokenJoin& join, std::span<const TokenChunk> chunks) {
  uint64_t tokens = 0;
  for (uint32_t chunk = 0; chunk < chunks.size(); ++chunk) {
    if (join.joined(chunk)) tokens += chunks[chunk].tokens;
  }
  return tokens;
}

}  // namespace

TokenJoin join_tokens(std::span<const JoinBatch> batches, std::span<const TokenRequest> requests,
                      std::span<const TokenChunk> chunks, bool speculative) {
  const bool several =
      std::ranges::any_of(chunks, [](const TokenChunk& chunk) { return chunk.tokens > 1; });
  TokenJoin each = Placement(batches, requests, chunks, !speculative || !several).run();
  if (!several) return each;
  TokenJoin other = Placement(batches, requests, chunks, speculative).run();
  const bool better = joined_tokens(other, chunks) > joined_tokens(each, chunks);
  return better ? other : each;
}

}  // namespace llmprof::analysis
