#include "analysis/memory_ledger/ledger_contents.h"

#include <algorithm>
#include <optional>
#include <string>

namespace llmprof::analysis {
namespace {

using profile::Bytes;
using profile::LedgerMoment;
using profile::LedgerMomentKind;
using profile::LedgerPart;
using profile::Memory;
using profile::MemoryContent;
using profile::MemoryContents;
using profile::MemoryDevice;
using profile::MemoryLedger;

using BytesAt = std::optional<Bytes> MemoryContents::*;

// The time of the snapshot that a moment stands for: the peak of the passes, because the ledger's
// peak of a program that serves is not the one while it loads. A stage's peak that is the run's
// peak is it, too.
BytesAt bytes_at(const MemoryLedger& ledger, const LedgerMoment& moment) {
  const bool is_peak = std::ranges::any_of(ledger.moments, [&](const LedgerMoment& other) {
    return other.kind == LedgerMomentKind::peak && other.gpu == moment.gpu &&
           other.time == moment.time;
  });
  if (is_peak) return &MemoryContents::in_passes;
  return moment.kind == LedgerMomentKind::after_load ? &MemoryContents::after_load : nullptr;
}

// What PyTorch holds by the rows of a moment. NCCL uses virtual memory too, so that counts only
// with expandable segments.
double held_by_pytorch(const MemoryLedger& ledger, size_t moment, bool expandable) {
  double held = 0;
  for (const profile::LedgerRow& row : ledger.rows) {
    if (row.moment != moment) continue;
    const bool segments = row.part == LedgerPart::framework && row.owner == "PyTorch";
    if (segments || (expandable && row.part == LedgerPart::vmm)) held += row.bytes.value;
  }
  return held;
}

void add_moment(const Memory& memory, const MemoryDevice& device, size_t index, BytesAt bytes,
                MemoryLedger& ledger) {
  const double held =
      held_by_pytorch(ledger, index, device.expandable && device.expandable->value > 0);
  if (held <= 0) return;
  const auto add = [&](MemoryContent content, profile::ContentBasis basis, double amount) {
    if (amount == 0) return;
    ledger.contents.push_back(
        {index, device.snapshot, content, basis, Bytes{amount}, profile::Share{amount / held}});
  };
  double known = 0;
  bool any = false;
  for (const MemoryContents& row : memory.contents) {
    if (row.snapshot != device.snapshot || row.device != device.device || !(row.*bytes)) continue;
    any = true;
    known += (row.*bytes)->value;
    add(row.content, row.basis, (row.*bytes)->value);
  }
  if (any) add(MemoryContent::difference, profile::ContentBasis::remainder, held - known);
}

}  // namespace

const MemoryDevice* largest_snapshot(const Memory& memory, const std::string& device) {
  const MemoryDevice* best = nullptr;
  for (const MemoryDevice& each : memory.devices) {
    const bool is_snapshot = each.source == profile::MemorySource::snapshot;
    if (!is_snapshot || each.device != device || !each.peak) continue;
    if (best == nullptr || each.peak->reserved > best->peak->reserved) best = &each;
  }
  return best;
}

void add_ledger_contents(const Memory& memory, MemoryLedger& ledger) {
  for (size_t i = 0; i < ledger.moments.size(); ++i) {
    const LedgerMoment& moment = ledger.moments[i];
    const auto processes =
        std::ranges::count(ledger.gpus, moment.device, &profile::LedgerGpu::device);
    const MemoryDevice* device = largest_snapshot(memory, moment.device);
    const BytesAt bytes = bytes_at(ledger, moment);
    if (processes != 1 || device == nullptr || bytes == nullptr) continue;
    add_moment(memory, *device, i, bytes, ledger);
  }
}

}  // namespace llmprof::analysis
