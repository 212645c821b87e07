#include "analysis/requests/batch_rows.h"

#include <algorithm>
#include <set>

namespace llmprof::analysis {
namespace {

class RowCount {
 public:
  RowCount(const EngineBatches& engine, const ClientTokens& client, const TokenJoin& join)
      : engine_(engine), client_(client), join_(join) {
    result_.joined_by_batch.assign(engine.batches.size(), 0);
    named_.assign(engine.batches.size(), 0);
    set_range();
    count_tokens();
  }

  // Sequences whose prompt goes on in a later batch.
  void name_prompts(const std::vector<PromptPart>& parts, const std::vector<Prompt>& prompts) {
    std::set<std::pair<uint32_t, uint32_t>> ends;
    for (const Prompt& prompt : prompts) ends.emplace(prompt.request, prompt.batch);
    std::set<std::pair<uint32_t, uint32_t>> named;
    for (const PromptPart& part : parts) {
      const std::pair key(part.request, part.batch);
      if (part.request == kNoRequest || ends.contains(key) || !named.insert(key).second) continue;
      name(part.batch);
    }
  }

  // The engine notices only after some batches that a request broke off.
  void name_broken_off() {
    for (uint32_t request = 0; request < client_.size(); ++request) {
      if (client_.counted[request]) continue;
      for (uint32_t batch = behind_last(request); batch < result_.behind && name(batch); ++batch) {
      }
    }
  }

  BatchRows run() {
    for (uint32_t batch = result_.first; batch < result_.behind; ++batch) {
      result_.rows += rows(batch);
      result_.joined += result_.joined_by_batch[batch];
      result_.named += named_[batch];
    }
    return std::move(result_);
  }

 private:
  // Rows that are unknown are those with a token.
  [[nodiscard]] uint64_t rows(uint32_t batch) const {
    const uint64_t known = result_.joined_by_batch[batch] + named_[batch];
    return std::max(engine_.rows_of(engine_.batches[batch]).value_or(known), known);
  }

  bool name(uint32_t batch) {
    const uint64_t known = result_.joined_by_batch[batch] + named_[batch];
    const auto all = engine_.rows_of(engine_.batches[batch]);
    if (!all || known >= *all) return false;
    ++named_[batch];
    return true;
  }

  void set_range() {
    Nanoseconds from = INT64_MAX;
    Nanoseconds to = INT64_MIN;
    for (uint32_t request = 0; request < client_.size(); ++request) {
      from = std::min(from, client_.requests[request].sent);
      to = std::max(to, client_.ends[request]);
    }
    const auto count_until = [&](Nanoseconds time) {
      return static_cast<uint32_t>(std::ranges::count_if(
          engine_.batches,
          [&](const EngineBatch& batch) { return batch.end.results_read <= time; }));
    };
    if (client_.size() == 0) return;
    result_.first = count_until(from);
    result_.behind = std::max(count_until(to), result_.first);
  }

  void count_tokens() {
    for (uint32_t request = 0; request < client_.size(); ++request) {
      const TokenRequest& of = client_.requests[request];
      auto& counts = client_.counted[request] ? result_.joined_by_batch : named_;
      for (uint32_t chunk = of.first_chunk; chunk < of.first_chunk + of.chunks; ++chunk) {
        if (!join_.joined(chunk)) continue;
        const uint32_t width = join_.token_per_batch ? client_.chunks[chunk].tokens : 1;
        const uint32_t last = join_.batch[chunk];
        for (uint32_t batch = last + 1 - width; batch <= last; ++batch) ++counts[batch];
      }
    }
  }

  // The batch behind its last token; if it got none, the first one that has room and took prompts
  // after it was sent.
  [[nodiscard]] uint32_t behind_last(uint32_t request) const {
    const TokenRequest& of = client_.requests[request];
    for (uint32_t chunk = of.first_chunk + of.chunks; chunk-- > of.first_chunk;) {
      if (join_.joined(chunk)) return join_.batch[chunk] + 1;
    }
    for (uint32_t batch = result_.first; batch < result_.behind; ++batch) {
      const EngineBatch& made = engine_.batches[batch];
      const uint64_t known = result_.joined_by_batch[batch] + named_[batch];
      if (made.end.results_read <= of.sent || known >= engine_.rows_of(made).value_or(known)) {
        continue;
      }
      if (std::ranges::any_of(engine_.passes_of(made), &BatchPass::takes_prompts)) return batch;
    }
    return result_.behind;
  }

  const EngineBatches& engine_;
  const ClientTokens& client_;
  const TokenJoin& join_;
  std::vector<uint32_t> named_;
  BatchRows result_;
};

}  // namespace

BatchRows count_rows(const EngineBatches& engine, const ClientTokens& client, const TokenJoin& join,
                     const std::vector<PromptPart>& parts, const std::vector<Prompt>& prompts) {
  RowCount count(engine, client, join);
  count.name_broken_off();
  count.name_prompts(parts, prompts);
  return count.run();
}

}  // namespace llmprof::analysis
