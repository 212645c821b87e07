#pragma once

#include <optional>
#include <string>
#include <vector>

#include "analysis/requests/batches.h"
#include "analysis/requests/client_tokens.h"
#include "profile/requests.h"

namespace llmprof::analysis {

// A small load whose tokens are joined to batches by hand. Times in any unit.
struct JoinedLoad {
  // A batch of one pass, whose results the host read at this time.
  JoinedLoad& batch(StepKind kind, std::optional<uint64_t> rows, Nanoseconds results) {
    BatchPass pass;
    pass.step = static_cast<uint32_t>(engine.passes.size());
    pass.kind = kind;
    pass.rows = rows;
    EngineBatch& made = engine.batches.emplace_back();
    made.end = {results, results};
    made.first_pass = pass.step;
    made.passes = 1;
    engine.passes.push_back(pass);
    return *this;
  }
  JoinedLoad& decode(std::optional<uint64_t> rows, Nanoseconds results) {
    return batch(StepKind::decode, rows, results);
  }

  struct Chunk {
    uint32_t batch = kNoBatch;
    Nanoseconds time = 0;
    uint32_t tokens = 1;
  };
  JoinedLoad& request(Nanoseconds sent, std::optional<uint64_t> prompt, Nanoseconds end,
                      const std::vector<Chunk>& chunks) {
    client.requests.push_back(
        {sent, static_cast<uint32_t>(client.chunks.size()), static_cast<uint32_t>(chunks.size())});
    client.ends.push_back(end);
    client.counted.push_back(true);
    client.prompt_tokens.push_back(prompt);
    for (const Chunk& chunk : chunks) {
      client.chunks.push_back({chunk.time, chunk.tokens});
      join.batch.push_back(chunk.batch);
      join.state.push_back(chunk.batch == kNoBatch ? ChunkState::unmatched : ChunkState::joined);
    }
    return *this;
  }
  // The last request broke off, or warmed up.
  JoinedLoad& not_counted() {
    client.counted.back() = false;
    return *this;
  }

  // Requests of a profile: those with these ids.
  static profile::Requests named(const std::vector<std::string>& ids) {
    profile::Requests requests;
    for (const std::string& id : ids) requests.items.emplace_back().id = id;
    return requests;
  }

  EngineBatches engine;
  ClientTokens client;
  TokenJoin join;
};

}  // namespace llmprof::analysis
