#include "analysis/memory_ledger/memory_outlook.h"

#include <algorithm>
#include <vector>

#include "analysis/memory_ledger/ledger_contents.h"
#include "llm/cost.h"

namespace llmprof::analysis {
namespace {

using profile::Bytes;
using profile::CacheFormat;
using profile::ForecastChange;

// Larger numbers are no tokens of any memory.
constexpr double kMostCount = 1e15;

std::optional<size_t> last_peak(const profile::MemoryLedger& ledger, const std::string& device) {
  std::optional<size_t> peak;
  for (size_t i = 0; i < ledger.moments.size(); ++i) {
    const profile::LedgerMoment& moment = ledger.moments[i];
    if (moment.device == device && moment.kind == profile::LedgerMomentKind::peak) peak = i;
  }
  return peak;
}

// Allocations of the peak that are known to be the KV cache; none if none is.
std::optional<double> cache_bytes(const profile::MemoryLedger& ledger, size_t peak) {
  std::optional<double> bytes;
  for (const profile::LedgerRow& row : ledger.rows) {
    if (row.moment != peak || row.part != profile::LedgerPart::kv_cache) continue;
    bytes = bytes.value_or(0) + row.bytes.value;
  }
  return bytes;
}

// How often `part` fits into `whole`.
std::optional<uint64_t> times_in(double part, double whole) {
  if (part <= 0 || whole < 0) return std::nullopt;
  return static_cast<uint64_t>(std::min(whole / part, kMostCount));
}

llm::ModelSpec with_cache(const llm::ModelSpec& model, CacheFormat format) {
  llm::ModelSpec other = model;
  other.kv_cache =
      format == CacheFormat::fp8 ? llm::NumberFormat{"fp8", 1} : llm::NumberFormat{"bf16", 2};
  return other;
}

// The KV cache that larger runs need beyond what the run has.
class Forecasts {
 public:
  Forecasts(const llm::ModelSpec& model, const profile::Workload& workload,
            std::optional<double> allocated)
      : model_(model), allocated_(allocated) {
    if (workload.batch && workload.prompt_tokens && workload.new_tokens) {
      batch_ = static_cast<double>(std::min<uint64_t>(*workload.batch, kMost));
      context_ = std::min(*workload.prompt_tokens, kMost) + std::min(*workload.new_tokens, kMost);
    }
  }

  // None if it is not known; the largest request follows from a snapshot.
  [[nodiscard]] std::optional<double> more(ForecastChange change) const {
    if (change == ForecastChange::largest_request) return std::nullopt;
    if (context_ == 0) {
      if (!allocated_ || change == ForecastChange::next_sequence) return std::nullopt;
      return allocated_;
    }
    const double now = batch_ * llm::kv_bytes_per_sequence(model_, context_);
    return std::max(needed(change) - allocated_.value_or(now), 0.0);
  }

 private:
  static constexpr uint64_t kMost = 1U << 31U;

  [[nodiscard]] double needed(ForecastChange change) const {
    switch (change) {
      case ForecastChange::next_sequence:
        return (batch_ + 1) * llm::kv_bytes_per_sequence(model_, context_);
      case ForecastChange::double_batch:
        return 2 * batch_ * llm::kv_bytes_per_sequence(model_, context_);
      case ForecastChange::double_context:
        return batch_ * llm::kv_bytes_per_sequence(model_, 2 * context_);
      case ForecastChange::largest_request:
        break;
    }
    return 0;
  }

  const llm::ModelSpec& model_;
  std::optional<double> allocated_;
  double batch_ = 0;
  uint64_t context_ = 0;  // 0: unknown, as is the batch
};

}  // namespace

std::optional<profile::MemoryHeadroom> find_headroom(const profile::MemoryLedger& ledger,
                                                     const std::string& device,
                                                     const llm::ModelSpec* model) {
  const auto peak = last_peak(ledger, device);
  if (!peak) return std::nullopt;
  profile::MemoryHeadroom left;
  left.device = device;
  const profile::LedgerMoment& moment = ledger.moments[*peak];
  if (moment.total && moment.used) left.free = Bytes{moment.total->value - moment.used->value};
  const double per_token = model == nullptr ? 0 : llm::kv_bytes_per_token(*model);
  if (per_token <= 0) return left;
  left.bytes_per_token = Bytes{per_token};
  if (const auto cache = cache_bytes(ledger, *peak)) {
    left.cache_tokens = static_cast<uint64_t>(*cache / per_token);
  }
  if (!left.free) return left;
  const auto tokens_with = [&](CacheFormat format) {
    return times_in(llm::kv_bytes_per_token(with_cache(*model, format)), left.free->value);
  };
  left.tokens_left = times_in(per_token, left.free->value);
  left.tokens_left_bf16 = tokens_with(CacheFormat::bf16);
  left.tokens_left_fp8 = tokens_with(CacheFormat::fp8);
  return left;
}

void add_room(const profile::MemoryHeadroom& left, const llm::ModelSpec* model,
              const profile::Workload& workload, profile::MemoryLedger& ledger) {
  if (model == nullptr || !left.free || !left.bytes_per_token) return;
  for (const auto& format : profile::kWords<CacheFormat>) {
    const llm::ModelSpec with = with_cache(*model, format.value);
    for (const uint64_t context : llm::contexts_to_compare(with)) {
      const double bytes = llm::kv_bytes_per_sequence(with, context);
      const auto sequences = times_in(bytes, left.free->value);
      if (!sequences) continue;
      ledger.room.push_back({left.device, format.value, context, {bytes}, *sequences});
    }
  }
  const auto peak = last_peak(ledger, left.device);
  const Forecasts forecasts(*model, workload, peak ? cache_bytes(ledger, *peak) : std::nullopt);
  for (const auto& change : profile::kWords<ForecastChange>) {
    const auto more = forecasts.more(change.value);
    if (!more) continue;
    ledger.forecasts.push_back({left.device,
                                change.value,
                                profile::ForecastBasis::from_sizes,
                                {*more},
                                *left.free,
                                *more <= left.free->value});
  }
}

void forecast_fragmentation(const profile::Memory& memory, profile::MemoryLedger& ledger) {
  for (const profile::MemoryHeadroom& left : ledger.headroom) {
    const profile::MemoryDevice* snapshot = largest_snapshot(memory, left.device);
    if (snapshot == nullptr || !snapshot->largest_request || !left.free) continue;
    const double piece =
        std::max(left.free->value, snapshot->largest_free_block.value_or(Bytes{0}).value);
    ledger.forecasts.push_back({left.device,
                                ForecastChange::largest_request,
                                profile::ForecastBasis::from_blocks,
                                *snapshot->largest_request,
                                {piece},
                                snapshot->largest_request->value <= piece});
  }
}

}  // namespace llmprof::analysis
