#include "analysis/requests/steps_by_size.h"

#include <algorithm>
#include <map>

namespace llmprof::analysis {

std::vector<std::optional<uint64_t>> contexts_of_batches(const ClientTokens& client,
                                                         const TokenJoin& join, size_t batches) {
  std::vector<std::optional<uint64_t>> contexts(batches);
  std::vector<bool> unknown(batches, false);
  for (uint32_t request = 0; request < client.size(); ++request) {
    const TokenRequest& of = client.requests[request];
    uint64_t tokens = 0;
    for (uint32_t chunk = of.first_chunk; chunk < of.first_chunk + of.chunks; ++chunk) {
      const uint64_t before = tokens;
      tokens += client.chunks[chunk].tokens;
      if (!join.joined(chunk)) continue;
      const uint32_t batch = join.batch[chunk];
      if (!client.prompt_tokens[request]) {
        unknown[batch] = true;
      } else {
        contexts[batch] = contexts[batch].value_or(0) + *client.prompt_tokens[request] + before;
      }
    }
  }
  for (size_t batch = 0; batch < batches; ++batch) {
    if (unknown[batch]) contexts[batch].reset();
  }
  return contexts;
}

std::vector<profile::StepsBySize> steps_by_size(const EngineBatches& engine,
                                                const std::vector<bool>& breaks, uint32_t first,
                                                uint32_t behind,
                                                std::span<const std::optional<uint64_t>> contexts,
                                                const DecodeFloor& floor) {
  struct OfSize {
    std::vector<Nanoseconds> times;
    double context = 0;
    uint64_t known = 0;
  };
  std::map<uint64_t, OfSize> sizes;
  for (uint32_t row = std::max(first, 1U); row < behind; ++row) {
    const EngineBatch& batch = engine.batches[row];
    const uint64_t rows = engine.rows_of(batch).value_or(0);
    const auto passes = engine.passes_of(batch);
    if (breaks[row] || rows == 0 || std::ranges::any_of(passes, &BatchPass::takes_prompts))
      continue;
    OfSize& size = sizes[rows];
    size.times.push_back(batch.end.results_read - engine.batches[row - 1].end.results_read);
    if (!contexts[row]) continue;
    size.context += static_cast<double>(*contexts[row]);
    ++size.known;
  }
  std::vector<profile::StepsBySize> found;
  for (auto& [rows, size] : sizes) {
    profile::StepsBySize& by_size = found.emplace_back();
    by_size.rows = rows;
    by_size.steps = size.times.size();
    const Summary summary = summarize(std::move(size.times));
    by_size.wall = times(summary);
    by_size.per_token = to_milliseconds(summary.mean / static_cast<double>(rows));
    if (size.known == 0) continue;
    by_size.context_tokens = size.context / static_cast<double>(size.known);
    by_size.floor = to_milliseconds(floor(rows, *by_size.context_tokens));
  }
  return found;
}

}  // namespace llmprof::analysis
