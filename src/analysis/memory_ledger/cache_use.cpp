#include "analysis/memory_ledger/cache_use.h"

#include <algorithm>
#include <map>
#include <string>

#include "llm/cost.h"

namespace llmprof::analysis {
namespace {

using profile::LedgerMomentKind;
using profile::LedgerPart;
using profile::MemoryHeadroom;
using profile::MemoryLedger;
using profile::Request;
using profile::Requests;

// Most tokens in the caches of a batch's sequences, of the batches for which they are known.
std::optional<uint64_t> most_in_batches(const Requests& requests) {
  std::optional<uint64_t> most;
  for (const profile::RequestBatch& batch : requests.batches) {
    if (batch.context_tokens) most = std::max(most.value_or(0), *batch.context_tokens);
  }
  return most;
}

// A request has its prompt in the cache from its first token on. Its answer counts from then on,
// too: when which token came, not every client records.
std::optional<uint64_t> most_in_flight(const Requests& requests) {
  std::map<double, double> changes;  // of tokens, by time in ms
  for (const Request& request : requests.items) {
    if (!request.sent || !request.ttft || !request.e2e || !request.prompt_tokens ||
        !request.output_tokens) {
      if (request.status == profile::RequestStatus::completed) return std::nullopt;
      continue;
    }
    constexpr double kMillisecond = 1e6;
    const double tokens =
        static_cast<double>(*request.prompt_tokens) + static_cast<double>(*request.output_tokens);
    const double sent = request.sent->value;
    changes[sent + static_cast<double>(request.ttft->value) / kMillisecond] += tokens;
    changes[sent + static_cast<double>(request.e2e->value) / kMillisecond] -= tokens;
  }
  double level = 0;
  double most = 0;
  for (const auto& [time, change] : changes) {
    level += change;
    most = std::max(most, level);
  }
  return most > 0 ? std::optional(llm::whole_count(most)) : std::nullopt;
}

// Several sequences of one length, as the workload states it.
std::optional<uint64_t> of_workload(const profile::Workload& workload) {
  if (!workload.batch || !workload.prompt_tokens || !workload.new_tokens) return std::nullopt;
  const double tokens =
      static_cast<double>(*workload.batch) *
      (static_cast<double>(*workload.prompt_tokens) + static_cast<double>(*workload.new_tokens));
  return llm::whole_count(tokens);
}

std::optional<uint64_t> used_tokens(const std::optional<Requests>& requests,
                                    const profile::Workload& workload) {
  if (!requests) return of_workload(workload);
  const auto most = most_in_batches(*requests);
  return most ? most : most_in_flight(*requests);
}

// Of the GPU's peak.
template <class Row, class Use>
void each_row_at_peak(const MemoryLedger& ledger, const std::string& device,
                      const std::vector<Row>& rows, const Use& use) {
  for (size_t i = 0; i < ledger.moments.size(); ++i) {
    const profile::LedgerMoment& moment = ledger.moments[i];
    if (moment.device != device || moment.kind != LedgerMomentKind::peak) continue;
    for (const Row& row : rows) {
      if (row.moment == i) use(row);
    }
  }
}

void complete(const MemoryLedger& ledger, double per_token,
              const std::optional<uint64_t>& used_tokens, MemoryHeadroom& left) {
  uint64_t sets = 0;
  each_row_at_peak(ledger, left.device, ledger.rows, [&](const profile::LedgerRow& row) {
    if (row.part == LedgerPart::weights) sets += row.allocations;
  });
  left.weight_sets = sets;
  double cache = 0;
  each_row_at_peak(ledger, left.device, ledger.contents, [&](const profile::LedgerContents& row) {
    if (row.content == profile::MemoryContent::kv_cache) cache += row.bytes.value;
  });
  if (!left.cache_tokens && cache > 0) left.cache_tokens = llm::whole_count(cache / per_token);
  // With several GPUs, each may hold the cache of a part of the requests.
  if (ledger.headroom.size() != 1 || left.cache_tokens.value_or(0) == 0 || !used_tokens) return;
  if (*used_tokens > *left.cache_tokens) return;
  left.cache_used_tokens = used_tokens;
  left.cache_used_share =
      profile::Share{static_cast<double>(*used_tokens) / static_cast<double>(*left.cache_tokens)};
}

}  // namespace

void add_cache_use(const std::optional<Requests>& requests, const profile::Workload& workload,
                   const llm::ModelSpec* model, MemoryLedger& ledger) {
  const double per_token = model == nullptr ? 0 : llm::kv_bytes_per_token(*model);
  if (per_token <= 0) return;
  const auto used = used_tokens(requests, workload);
  for (MemoryHeadroom& left : ledger.headroom) complete(ledger, per_token, used, left);
}

}  // namespace llmprof::analysis
