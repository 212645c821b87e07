#include "analysis/requests/join_tokens.h"

#include <algorithm>
#include <cstdlib>
#include <map>

#include "analysis/budget/budget_basis.h"
#include "analysis/requests/chunk_placement.h"
#include "analysis/requests/delivery_delay.h"
#include "analysis/stages/thresholds.h"
#include "base/quantiles.h"

namespace llmprof::analysis {
namespace {

// Places the chunks, each as late as its arrival and its request's later chunks allow. Then each
// request's chunks follow its first one, batch by batch, unless it was evicted; and runs of chunks
// move to earlier batches where a batch still has more tokens than rows.
class Placement : ChunkPlacement {
 public:
  using ChunkPlacement::ChunkPlacement;

  TokenJoin run() {
    if (batches_.empty()) return std::move(result_);
    earliest_ = shortest_delay(batches_, chunks_);
    longest_ = longest_usual_delay();
    next_made_ = std::min(longest_, earliest_ + shortest_usual_period());
    for (const TokenRequest& request : requests_) place(request);
    fill_before_breaks();
    place_in_runs();
    move_to_later_batches();
    make_room();
    drop_excess();
    drop_isolated();
    note_ambiguous();
    note_delays();
    return std::move(result_);
  }

 private:
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
      put(chunk, latest - 1);
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
      put(chunk, behind - 1);
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

  // A sequence in decode gets a token in each batch, so that its first token's batch follows from
  // whichever chunk arrived soonest, and the others' from that.
  void place_in_runs() {
    latest_ = result_.batch;
    for (const TokenRequest& request : requests_) {
      if (request.chunks == 0) continue;
      const uint32_t first = request.first_chunk;
      if (placed(first)) move_run(first, run_from(first, request, latest_[first]));
    }
    for (const TokenRequest& request : requests_) let_come_back(request);
  }

  // The batches of this chunk and those behind it, up to a break, if it is of `batch` and the
  // sequence is not evicted.
  [[nodiscard]] std::vector<uint32_t> run_from(uint32_t chunk, const TokenRequest& request,
                                               uint32_t batch) const {
    std::vector<uint32_t> run{batch};
    for (++chunk; chunk < request.first_chunk + request.chunks && placed(chunk); ++chunk) {
      const auto next = next_in_run(chunk, run.back());
      if (!next) break;
      run.push_back(std::min(*next, latest_[chunk]));
    }
    return run;
  }
  // None behind a break.
  [[nodiscard]] std::optional<uint32_t> next_in_run(uint32_t chunk, uint32_t before) const {
    uint32_t left = width(chunk);
    for (uint32_t batch = before + 1; batch < batches_.size(); ++batch) {
      if (batches_[batch].after_break) break;
      if (batches_[batch].decodes && --left == 0) return batch;
    }
    return std::nullopt;
  }
  void move_run(uint32_t chunk, std::span<const uint32_t> run) {
    for (const uint32_t batch : run) put(chunk++, batch);
  }

  // All chunks from some one on arrived late: its sequence was evicted before that, if batches then
  // have their rows explained better, or as well, and this one arrived later than others ever do.
  void let_come_back(const TokenRequest& request) {
    for (uint32_t i = 1; i < request.chunks; ++i) {
      const uint32_t chunk = request.first_chunk + i;
      if (!placed(chunk) || !placed(chunk - 1) || late_by(chunk) <= late_by(chunk - 1)) continue;
      const auto run = run_from(chunk, request, latest_[chunk]);
      const int64_t better = explained_by(chunk, run);
      const bool is_far = delay(chunk, result_.batch[chunk]) > longest_;
      if (better > 0 || (better == 0 && is_far)) move_run(chunk, run);
    }
  }
  [[nodiscard]] uint32_t late_by(uint32_t chunk) const {
    return latest_[chunk] - result_.batch[chunk];
  }
  // By how many rows the batches would be explained better if chunks were of these ones.
  [[nodiscard]] int64_t explained_by(uint32_t chunk, std::span<const uint32_t> run) const {
    std::map<uint32_t, int64_t> more;  // tokens, by batch
    for (const uint32_t batch : run) {
      for (uint32_t i = 0; i < width(chunk); ++i) {
        --more[result_.batch[chunk] - i];
        ++more[batch - i];
      }
      ++chunk;
    }
    int64_t better = 0;
    for (const auto& [batch, tokens] : more) {
      better += unexplained(batch, 0) - unexplained(batch, tokens);
    }
    return better;
  }
  // Rows without a token and tokens without a row. Rows of batches with prompts may be of those.
  [[nodiscard]] int64_t unexplained(uint32_t batch, int64_t more) const {
    if (!batches_[batch].rows) return 0;
    const auto rows = static_cast<int64_t>(*batches_[batch].rows);
    const int64_t excess = result_.tokens[batch] + more - rows;
    return excess < 0 && batches_[batch].takes_prompts ? 0 : std::abs(excess);
  }

  // An evicted sequence goes on in later batches: the rest of its run moves out of batches that
  // have fewer rows, as far as its chunks' arrivals allow.
  void move_to_later_batches() {
    std::vector<std::vector<uint32_t>> chunks(batches_.size());
    for (uint32_t chunk = 0; chunk < chunks_.size(); ++chunk) {
      if (placed(chunk)) chunks[result_.batch[chunk]].push_back(chunk);
    }
    for (uint32_t batch = 0; batch < batches_.size(); ++batch) {
      while (too_full(batch)) {
        uint32_t best = UINT32_MAX;
        uint32_t most = 0;
        for (const uint32_t chunk : chunks[batch]) {
          if (result_.batch[chunk] != batch || is_first(chunk)) continue;
          const uint32_t room = room_behind(chunk);
          if (room > most) {
            most = room;
            best = chunk;
          }
        }
        if (best == UINT32_MAX) break;
        for (uint32_t chunk = best, last = run_end(best); chunk <= last; ++chunk) {
          shift(chunk, chunk, 1);
          chunks[result_.batch[chunk]].push_back(chunk);
        }
      }
    }
  }
  // By how many batches the rest of its run may move.
  [[nodiscard]] uint32_t room_behind(uint32_t start) const {
    uint32_t room = UINT32_MAX;
    for (uint32_t chunk = start, last = run_end(start); chunk <= last; ++chunk) {
      room = std::min(room, latest_[chunk] - result_.batch[chunk]);
    }
    return room;
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

  Nanoseconds earliest_ = 0;
  Nanoseconds longest_ = INT64_MAX;
  // From the last batch before a break on; later tokens may be of the unrecorded batch behind it.
  Nanoseconds next_made_ = INT64_MAX;
  std::vector<uint32_t> latest_;  // by chunk: the last batch that could have made it
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
