#include "analysis/requests/client_tokens.h"

#include <algorithm>
#include <map>
#include <utility>

#include "analysis/requests/request_times.h"

namespace llmprof::analysis {
namespace {

// Tokens of the prompt that no prefix cache has.
std::optional<uint64_t> to_process(const trace::RequestTable& table, size_t row) {
  const uint64_t prompt = table.prompt_tokens[row];
  if (prompt == trace::kNoCount) return std::nullopt;
  const uint64_t cached = table.cached_tokens[row];
  return cached == trace::kNoCount ? prompt : prompt - std::min(prompt, cached);
}

bool has_more_tokens_than_stated(const trace::RequestTable& table, size_t row,
                                 const ClientTokens& client, const TokenRequest& request) {
  if (table.output_tokens[row] == trace::kNoCount) return false;
  uint64_t tokens = 0;
  for (uint32_t i = 0; i < request.chunks; ++i) {
    tokens += client.chunks[request.first_chunk + i].tokens;
  }
  return tokens > table.output_tokens[row];
}

uint32_t width(const TokenJoin& join, const TokenChunk& chunk) {
  return join.token_per_batch ? chunk.tokens : 1;
}

bool decodes(const EngineBatches& engine, uint32_t batch) {
  return std::ranges::any_of(engine.passes_of(engine.batches[batch]), [](const BatchPass& pass) {
    return pass.kind == StepKind::decode || pass.kind == StepKind::mixed;
  });
}

// Whether a sequence with a token of batch `left`, and its next one of batch `back`, was evicted in
// between: others decoded without it, or it got the token of a batch that only took prompts.
bool comes_back(const EngineBatches& engine, uint32_t left, uint32_t back) {
  const auto passes = engine.passes_of(engine.batches[back]);
  if (std::ranges::none_of(passes, &BatchPass::takes_prompts)) return false;
  if (!decodes(engine, back)) return true;
  for (uint32_t batch = left + 1; batch < back; ++batch) {
    if (decodes(engine, batch)) return true;
  }
  return false;
}

}  // namespace

ClientTokens client_tokens(const trace::Trace& trace, const ClientRequests& requests) {
  const trace::RequestTable& table = trace.requests;
  ClientTokens client;
  for (size_t row = requests.first; row < requests.last; ++row) {
    const bool sent = table.sent[row] != trace::kNoTime;
    TokenRequest request;
    request.first_chunk = static_cast<uint32_t>(client.chunks.size());
    request.sent = sent ? table.sent[row] + requests.shift : 0;
    Nanoseconds end = request.sent;
    const ChunkRows chunks = chunks_of(trace, row);
    for (size_t chunk = chunks.first; sent && chunk < chunks.last; ++chunk) {
      const uint32_t tokens = trace.chunks.tokens[chunk];
      if (tokens == 0) continue;
      client.chunks.push_back({trace.chunks.time[chunk] + requests.shift, tokens});
      end = std::max(end, client.chunks.back().time);
    }
    request.chunks = static_cast<uint32_t>(client.chunks.size()) - request.first_chunk;
    if (sent && table.end[row] != trace::kNoTime) end = table.end[row] + requests.shift;
    client.requests.push_back(request);
    client.ends.push_back(end);
    client.counted.push_back(is_counted(trace, row));
    client.miscounted.push_back(has_more_tokens_than_stated(table, row, client, request));
    client.prompt_tokens.push_back(to_process(table, row));
  }
  return client;
}

std::vector<Prompt> joined_prompts(const ClientTokens& client, const TokenJoin& join,
                                   const EngineBatches& engine) {
  std::vector<Prompt> prompts;
  for (uint32_t request = 0; request < client.size(); ++request) {
    const TokenRequest& of = client.requests[request];
    uint64_t tokens = 0;
    for (uint32_t i = 0; i < of.chunks; ++i) {
      const uint32_t chunk = of.first_chunk + i;
      const uint64_t before = tokens;
      tokens += client.chunks[chunk].tokens;
      if (!join.joined(chunk)) continue;
      const uint32_t first = join.batch[chunk] - width(join, client.chunks[chunk]) + 1;
      if (i == 0) {
        prompts.push_back({request, first, of.sent, client.prompt_tokens[request]});
        continue;
      }
      if (!join.joined(chunk - 1) || !comes_back(engine, join.batch[chunk - 1], first)) continue;
      std::optional<uint64_t> again = client.prompt_tokens[request];
      if (again) *again += before;
      prompts.push_back(
          {request, first, engine.batches[join.batch[chunk - 1]].end.results_read, again, true});
    }
  }
  return prompts;
}

std::vector<Prompt> held_prompts(const std::vector<Prompt>& prompts,
                                 const std::vector<PromptPart>& parts) {
  std::map<std::pair<uint32_t, uint32_t>, uint64_t> tokens;  // by request, then batch
  for (const PromptPart& part : parts) tokens[{part.request, part.batch}] += part.tokens;
  std::vector<Prompt> held;
  const Prompt* before = nullptr;
  for (const Prompt& prompt : prompts) {
    uint64_t found = 0;
    if (prompt.again && before != nullptr && before->request == prompt.request) {
      const auto behind = tokens.upper_bound({prompt.request, prompt.batch});
      for (auto at = tokens.upper_bound({prompt.request, before->batch}); at != behind; ++at) {
        found += at->second;
      }
    }
    before = &prompt;
    if (!prompt.again || (prompt.tokens && 2 * found >= *prompt.tokens)) held.push_back(prompt);
  }
  return held;
}

std::vector<uint32_t> decode_tokens(const ClientTokens& client, const TokenJoin& join,
                                    const std::vector<Prompt>& prompts, size_t batches) {
  std::vector<uint32_t> tokens(batches, 0);
  for (uint32_t chunk = 0; chunk < client.chunks.size(); ++chunk) {
    if (!join.joined(chunk)) continue;
    const uint32_t last = join.batch[chunk];
    for (uint32_t batch = last + 1 - width(join, client.chunks[chunk]); batch <= last; ++batch) {
      ++tokens[batch];
    }
  }
  for (const Prompt& prompt : prompts) --tokens[prompt.batch];
  return tokens;
}

}  // namespace llmprof::analysis
