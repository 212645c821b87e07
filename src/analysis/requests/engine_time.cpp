#include "analysis/requests/engine_time.h"

#include <algorithm>
#include <cmath>
#include <optional>

#include "analysis/requests/mixed_passes.h"
#include "analysis/stages/thresholds.h"
#include "analysis/statistics/line_fit.h"

namespace llmprof::analysis {
namespace {

// The parts of a pass; they sum to its time.
struct PassCost {
  Nanoseconds host = 0;
  Nanoseconds communication = 0;
  Nanoseconds lowered = 0;
  Nanoseconds graph_miss = 0;
  Nanoseconds decode = 0;
  Nanoseconds prefill = 0;
};

// Rows of a pass whose sequences are in decode, given its prompts' tokens.
uint64_t decode_rows(const BatchPass& pass, uint64_t prompt_tokens) {
  if (!pass.takes_prompts()) return pass.rows.value_or(0);
  if (pass.kind == StepKind::prefill || !pass.tokens) return 0;
  return *pass.tokens - std::min(*pass.tokens, prompt_tokens);
}

class Costs {
 public:
  Costs(std::span<const PassFacts> facts, std::span<const PassTime> times, const LikePasses& like,
        const MixedPasses& mixed)
      : facts_(facts), times_(times), like_(like), mixed_(mixed) {}

  // `rows`: sequences in decode. `by_tokens` is set if only tokens can split the pass.
  [[nodiscard]] PassCost of(uint32_t row, const BatchPass& pass, uint64_t rows, bool& by_tokens) {
    const bool first = times_[row].first;
    Nanoseconds left = times_[row].length();
    const auto take = [&](Nanoseconds time) {
      const Nanoseconds taken = std::clamp<Nanoseconds>(time, 0, left);
      left -= taken;
      return taken;
    };
    PassCost cost;
    const auto usual = like_.usual(pass, first);
    // A pass that takes much longer while the GPU has no work waits for the host.
    if (usual && left > threshold::kWellMore * *usual) {
      cost.host = take(std::min(left - *usual, left - pass.busy));
    }
    cost.communication = take(facts_[row].communication);
    if (usual && facts_[row].slowed) cost.lowered = take(left - *usual);
    if (pass.kind == StepKind::decode) {
      const auto replayed = like_.replayed(rows, first);
      if (replayed && !pass.replayed) cost.graph_miss = take(left - *replayed);
      const auto unpadded = like_.unpadded(pass, first);
      if (unpadded) cost.graph_miss = take(usual.value_or(left) - *unpadded);
      cost.decode = left;
      return cost;
    }
    if (rows > 0) {
      const auto without = mixed_.decode_in(row);
      by_tokens = !without;
      cost.decode = take(without ? *without : by_share(left, rows, pass.tokens.value_or(rows + 1)));
    }
    cost.prefill = left;
    return cost;
  }

 private:
  static Nanoseconds by_share(Nanoseconds time, uint64_t part, uint64_t whole) {
    return std::llround(as_double(time) * static_cast<double>(part) / static_cast<double>(whole));
  }

  std::span<const PassFacts> facts_;
  std::span<const PassTime> times_;
  const LikePasses& like_;
  const MixedPasses& mixed_;
};

// Decode of a batch: its sequences and time, if it has no prompts.
struct DecodeBatch {
  uint64_t rows = 0;
  Nanoseconds time = 0;
  bool only_decode = true;
};

// What one sequence takes, from larger batches.
std::optional<Nanoseconds> extrapolate_to_one(std::span<const DecodeBatch> batches) {
  std::vector<MeasuredPoint> points;
  Nanoseconds shortest = INT64_MAX;
  for (const DecodeBatch& batch : batches) {
    if (!batch.only_decode || batch.rows == 0) continue;
    points.push_back({static_cast<double>(batch.rows), as_double(batch.time)});
    shortest = std::min(shortest, batch.time);
  }
  const auto line = fit_line(points);
  if (!line) return std::nullopt;
  return std::clamp<Nanoseconds>(std::llround(line->at(1)), 0, shortest);
}

class TimeWriter {
 public:
  explicit TimeWriter(EngineTime& into) : into_(into) {}

  void add(TimeKind kind, Nanoseconds time, uint32_t batch, uint32_t owner = kNoRequest) {
    if (time <= 0) return;
    const Nanoseconds end = into_.end() + time;
    into_.pieces.push_back({end, kind, batch, owner});
  }
  void until(TimeKind kind, Nanoseconds end, uint32_t batch) {
    add(kind, end - into_.end(), batch);
  }

 private:
  EngineTime& into_;
};

class Timeline {
 public:
  Timeline(const EngineBatches& engine, std::span<const PassFacts> facts,
           std::span<const PromptPart> parts, const std::vector<bool>& breaks)
      : engine_(engine),
        times_(pass_times(engine)),
        like_(engine, times_, facts),
        parts_(parts),
        breaks_(breaks),
        first_part_(engine.passes.size() + 1, 0) {
    for (const PromptPart& part : parts) ++first_part_[part.pass + 1];
    for (size_t row = 1; row < first_part_.size(); ++row) first_part_[row] += first_part_[row - 1];
    const auto loads = loads_of_passes();
    const MixedPasses mixed(engine, times_, loads, like_);
    Costs costs(facts, times_, like_, mixed);
    for (const EngineBatch& batch : engine.batches) add_costs(batch, loads, costs);
  }

  EngineTime run() {
    EngineTime time = std::move(result_);
    if (engine_.batches.empty()) return time;
    find_alone(time);
    set_begins(time);
    // Before the first batch, a recorded engine had nothing to do.
    constexpr Nanoseconds kLongAgo = INT64_MIN / 2;
    time.start =
        breaks_.front() ? std::min(engine_.batches.front().begin, times_.front().start) : kLongAgo;
    for (uint32_t batch = 0; batch < engine_.batches.size(); ++batch) write(batch, time);
    return time;
  }

 private:
  [[nodiscard]] std::span<const PromptPart> parts_of(uint32_t pass) const {
    return parts_.subspan(first_part_[pass], first_part_[pass + 1] - first_part_[pass]);
  }

  [[nodiscard]] std::vector<PassLoad> loads_of_passes() const {
    std::vector<PassLoad> loads;
    for (uint32_t row = 0; row < engine_.passes.size(); ++row) {
      PassLoad& load = loads.emplace_back();
      for (const PromptPart& part : parts_of(row)) load.prompt_tokens += part.tokens;
      load.decode_rows = decode_rows(engine_.passes[row], load.prompt_tokens);
    }
    return loads;
  }

  void add_costs(const EngineBatch& batch, std::span<const PassLoad> loads, Costs& costs) {
    DecodeBatch decode;
    for (uint32_t row = batch.first_pass; row < batch.first_pass + batch.passes; ++row) {
      const BatchPass& pass = engine_.passes[row];
      const uint64_t rows = loads[row].decode_rows;
      bool by_tokens = false;
      costs_.push_back(costs.of(row, pass, rows, by_tokens));
      result_.split_by_tokens += by_tokens ? 1 : 0;
      decode.rows += rows;
      decode.time += costs_.back().decode;
      decode.only_decode = decode.only_decode && !pass.takes_prompts();
    }
    decodes_.push_back(decode);
    result_.decodes.push_back(decode.rows > 0);
  }

  void find_alone(EngineTime& time) {
    std::vector<Nanoseconds> alone;
    for (const DecodeBatch& batch : decodes_) {
      if (batch.only_decode && batch.rows == 1) alone.push_back(batch.time);
    }
    if (!alone.empty()) {
      time.alone = summarize(alone);
      alone_ = time.alone.p50;
      return;
    }
    time.alone_estimated = true;
    alone_ = extrapolate_to_one(decodes_);
  }

  // The host turns to a batch when it has chosen the tokens of the one before and moved caches. If
  // no sequence was left, it may have waited for a request.
  void set_begins(EngineTime& time) const {
    for (uint32_t row = 0; row < engine_.batches.size(); ++row) {
      const EngineBatch& batch = engine_.batches[row];
      Nanoseconds begin = batch.begin;
      if (row > 0 && !breaks_[row]) {
        const Nanoseconds chosen = engine_.batches[row - 1].end.last_chosen;
        begin = time.decodes[row] ? chosen : std::max(begin, chosen);
      }
      begin = std::max(begin, batch.caches_moved.value_or(begin));
      time.begins.push_back(std::min(begin, batch.end.results_read));
    }
  }

  // Of the batch's decode time, what a single sequence takes.
  [[nodiscard]] Nanoseconds alone_in(const DecodeBatch& batch) const {
    if (batch.rows <= 1) return batch.time;
    if (alone_) return std::min(*alone_, batch.time);
    return batch.time / static_cast<Nanoseconds>(batch.rows);
  }

  void write(uint32_t row, EngineTime& time) const {
    const EngineBatch& batch = engine_.batches[row];
    TimeWriter out(time);
    const Nanoseconds starts = times_[batch.first_pass].start;
    out.until(breaks_[row] ? TimeKind::not_recorded : TimeKind::host, starts, row);
    Nanoseconds alone = alone_in(decodes_[row]);
    for (uint32_t pass = batch.first_pass; pass < batch.first_pass + batch.passes; ++pass) {
      const PassCost& cost = costs_[pass];
      out.add(TimeKind::host, cost.host, row);
      out.add(TimeKind::communication, cost.communication, row);
      out.add(TimeKind::lowered_clocks, cost.lowered, row);
      out.add(TimeKind::graph_miss, cost.graph_miss, row);
      const Nanoseconds own = std::min(alone, cost.decode);
      alone -= own;
      out.add(TimeKind::decode_alone, own, row);
      out.add(TimeKind::decode_more, cost.decode - own, row);
      write_prefill(pass, cost.prefill, row, out);
    }
    Nanoseconds read = batch.end.results_read;
    if (row + 1 < engine_.batches.size()) {
      read = std::min(read, times_[engine_.batches[row + 1].first_pass].start);
    }
    out.until(TimeKind::host, read, row);
  }

  // Among its prompts by tokens; the parts sum to the time.
  void write_prefill(uint32_t pass, Nanoseconds time, uint32_t row, TimeWriter& out) const {
    const auto parts = parts_of(pass);
    uint64_t tokens = 0;
    for (const PromptPart& part : parts) tokens += part.tokens;
    uint64_t before = 0;
    Nanoseconds written = 0;
    for (const PromptPart& part : parts) {
      before += part.tokens;
      const auto until = static_cast<Nanoseconds>(as_double(time) * static_cast<double>(before) /
                                                  static_cast<double>(tokens));
      out.add(TimeKind::prefill, until - written, row, part.request);
      written = std::max(written, until);
    }
    out.add(TimeKind::prefill, time - written, row,
            parts.empty() ? kNoRequest : parts.back().request);
  }

  const EngineBatches& engine_;
  std::vector<PassTime> times_;
  LikePasses like_;
  std::span<const PromptPart> parts_;
  const std::vector<bool>& breaks_;
  std::vector<uint32_t> first_part_;  // by pass
  std::vector<PassCost> costs_;       // by pass
  std::vector<DecodeBatch> decodes_;  // by batch
  std::optional<Nanoseconds> alone_;
  EngineTime result_;
};

}  // namespace

EngineTime engine_time(const EngineBatches& engine, std::span<const PassFacts> facts,
                       std::span<const PromptPart> parts, const std::vector<bool>& breaks) {
  return Timeline(engine, facts, parts, breaks).run();
}

}  // namespace llmprof::analysis
