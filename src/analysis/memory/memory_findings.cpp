#include "analysis/memory/memory_findings.h"

#include <algorithm>
#include <map>
#include <string>
#include <tuple>
#include <utility>

namespace llmprof::analysis {
namespace {

using profile::Bytes;
using profile::Finding;
using profile::FindingKind;
using profile::FindingValues;
using profile::LedgerMoment;
using profile::LedgerMomentKind;
using profile::LedgerPart;
using profile::LedgerRow;
using profile::Memory;
using profile::MemoryDevice;
using profile::MemoryLedger;
using profile::MemoryPool;
using profile::OutOfMemory;
using profile::OutOfMemoryCause;

// Less is not worth a change of the program: 256 MiB, and a tenth of what the allocator holds.
constexpr double kLeastUnused = 256.0 * 1024 * 1024;
constexpr double kLeastShare = 0.1;

bool is_much(double unused, double held) {
  return unused >= kLeastUnused && unused >= kLeastShare * held;
}

class MemoryFindings {
 public:
  explicit MemoryFindings(const std::optional<MemoryLedger>& ledger) {
    if (!ledger) return;
    for (const LedgerMoment& moment : ledger->moments) {
      if (moment.total) totals_[moment.device] = moment.total->value;
    }
  }

  void add_failures(const Memory& memory) {
    using Key = std::tuple<std::string, OutOfMemoryCause>;
    struct Failures {
      const OutOfMemory* largest = nullptr;
      uint64_t count = 0;
    };
    std::map<Key, Failures> failures;
    for (const OutOfMemory& each : memory.out_of_memory) {
      if (each.cause != OutOfMemoryCause::fragmentation &&
          each.cause != OutOfMemoryCause::other_pools) {
        continue;
      }
      Failures& known = failures[{each.device, each.cause}];
      ++known.count;
      if (known.largest == nullptr || each.requested > known.largest->requested) {
        known.largest = &each;
      }
    }
    for (const auto& [key, known] : failures) {
      const OutOfMemory& largest = *known.largest;
      FindingValues values;
      values.add("cause", to_string(largest.cause))
          .add("failures", known.count)
          .add("requested", largest.requested)
          .add("device_free", largest.device_free)
          .add("free_same", largest.free_same)
          .add("largest_free_same", largest.largest_free_same)
          .add("free_other", largest.free_other)
          .add("expandable", largest.expandable);
      if (!largest.place.empty()) values.add("place", largest.place);
      add(FindingKind::memory_allocation_failed, largest.device, largest.requested.value,
          std::move(values));
    }
  }

  // When active bytes were highest: later, unused memory is what the peak needed.
  void add_unused_at_peak(const Memory& memory) {
    for (const auto& [name, device] : by_device(
             memory, [](const MemoryDevice& each) { return unused_at_peak(each).value_or(0); })) {
      const auto known = unused_at_peak(*device);
      if (!known) continue;
      const double held = device->peak->reserved.value;
      const double unused = *known;
      if (!is_much(unused, held)) continue;
      FindingValues values;
      values.add("unused", Bytes{unused})
          .add("reserved", device->peak->reserved)
          .add("share_of_reserved", profile::Share{unused / held})
          .add("expandable", device->expandable && device->expandable->value > 0);
      add(FindingKind::memory_reserved_unused, name, unused, std::move(values));
    }
  }

  void add_private_pools(const Memory& memory) {
    struct Pools {
      std::map<std::string, double> reserved;
      double unused = 0;
    };
    std::map<std::pair<std::string, uint64_t>, Pools> found;
    for (const MemoryPool& pool : memory.pools) {
      if (!pool.is_private) continue;
      Pools& here = found[{pool.device, pool.snapshot}];
      here.reserved[pool.pool] += pool.reserved.value;
      here.unused += pool.inactive.value;
    }
    std::map<std::string, std::pair<const MemoryDevice*, const Pools*>> largest;
    for (const MemoryDevice& device : memory.devices) {
      const auto pools = found.find({device.device, device.snapshot});
      if (pools == found.end()) continue;
      auto& known = largest[device.device];
      if (known.second == nullptr || pools->second.unused > known.second->unused) {
        known = {&device, &pools->second};
      }
    }
    for (const auto& [name, known] : largest) {
      const auto& [device, pools] = known;
      if (!is_much(pools->unused, device->reserved.value)) continue;
      const Bytes held = device->private_pools.value_or(Bytes{});
      FindingValues values;
      values.add("pools", pools->reserved.size())
          .add("reserved", held)
          .add("unused", Bytes{pools->unused})
          .add("share_of_reserved", profile::Share{held.value / device->reserved.value});
      add(FindingKind::memory_graph_pools, name, pools->unused, std::move(values));
    }
  }

  void add_cuda_pools(const MemoryLedger& ledger) {
    for (size_t i = 0; i < ledger.moments.size(); ++i) {
      const LedgerMoment& moment = ledger.moments[i];
      if (moment.kind != LedgerMomentKind::peak) continue;
      double unused = 0;
      double in_use = 0;
      for (const LedgerRow& row : ledger.rows) {
        if (row.moment != i) continue;
        if (row.part == LedgerPart::pool_unused) unused += row.bytes.value;
        if (row.part == LedgerPart::pool) in_use += row.bytes.value;
      }
      if (!is_much(unused, unused + in_use)) continue;
      FindingValues values;
      values.add("unused", Bytes{unused}).add("in_use", Bytes{in_use});
      add(FindingKind::memory_pool_unused, moment.device, unused, std::move(values));
    }
  }

  // Each way of counting sees other allocations: the driver's, or PyTorch's.
  void add_duplicated_weights(const std::optional<Memory>& memory,
                              const std::optional<MemoryLedger>& ledger) {
    std::map<std::string, std::pair<uint64_t, double>> found;  // sets, bytes of one
    const auto take = [&](const std::string& device, uint64_t sets, double bytes) {
      if (sets < 2 || bytes <= 0) return;
      auto& known = found[device];
      if (sets > known.first) known = {sets, bytes};
    };
    if (memory) {
      for (const profile::ModelMemory& model : memory->models) {
        take(model.device, model.weight_sets, model.weights.value);
      }
    }
    if (ledger) {
      for (const profile::MemoryHeadroom& left : ledger->headroom) {
        const auto sets = static_cast<double>(left.weight_sets.value_or(0));
        const double all = at_peak(*ledger, left.device, LedgerPart::weights);
        take(left.device, left.weight_sets.value_or(0), sets > 0 ? all / sets : 0);
      }
    }
    for (const auto& [device, known] : found) {
      const double extra = static_cast<double>(known.first - 1) * known.second;
      FindingValues values;
      values.add("sets", known.first)
          .add("weights", Bytes{known.second})
          .add("extra", Bytes{extra});
      if (const auto tokens = tokens_in(memory, ledger, device, extra)) {
        values.add("extra_tokens", *tokens);
      }
      add(FindingKind::memory_duplicated_weights, device, extra, std::move(values));
    }
  }

  void add_unused_cache(const MemoryLedger& ledger) {
    for (const profile::MemoryHeadroom& left : ledger.headroom) {
      if (!left.cache_tokens || !left.cache_used_tokens || !left.bytes_per_token) continue;
      const double reserved = static_cast<double>(*left.cache_tokens) * left.bytes_per_token->value;
      const double used =
          static_cast<double>(*left.cache_used_tokens) * left.bytes_per_token->value;
      constexpr double kHalf = 0.5;
      if (reserved - used < kLeastUnused || used > kHalf * reserved) continue;
      FindingValues values;
      values.add("reserved", Bytes{reserved})
          .add("unused", Bytes{reserved - used})
          .add("tokens", *left.cache_tokens)
          .add("used_tokens", *left.cache_used_tokens)
          .add("share_used", *left.cache_used_share);
      add(FindingKind::memory_cache_unused, left.device, reserved - used, std::move(values));
    }
  }

  void add_leaks(const MemoryLedger& ledger) {
    for (const profile::MemoryGrowth& growth : ledger.growth) {
      if (!growth.leak) continue;
      uint64_t requests = 0;
      for (const profile::MemoryHeadroom& left : ledger.headroom) {
        if (left.device == growth.device) requests = left.requests;
      }
      FindingValues values;
      values.add("owner", growth.owner.empty() ? "a library that is not known" : growth.owner)
          .add("per_request", growth.per_request)
          .add("lower", growth.per_request_lower)
          .add("upper", growth.per_request_upper)
          .add("grown", growth.grown)
          .add("requests", requests);
      if (growth.requests_left) values.add("requests_left", *growth.requests_left);
      add(FindingKind::memory_leak, growth.device, growth.grown.value, std::move(values));
    }
  }

  std::vector<Finding> take() && { return std::move(findings_); }

 private:
  // Unknown in a trace: memory that waits for another stream is not free.
  static std::optional<double> unused_at_peak(const MemoryDevice& device) {
    if (!device.peak || !device.peak->active) return std::nullopt;
    return device.peak->reserved.value - device.peak->active->value;
  }

  static double at_peak(const MemoryLedger& ledger, const std::string& device, LedgerPart part) {
    double bytes = 0;
    for (const LedgerRow& row : ledger.rows) {
      const LedgerMoment& moment = ledger.moments[row.moment];
      const bool here = moment.device == device && moment.kind == LedgerMomentKind::peak;
      if (here && row.part == part) bytes += row.bytes.value;
    }
    return bytes;
  }

  // Tokens of KV cache that fit into so many bytes.
  static std::optional<uint64_t> tokens_in(const std::optional<Memory>& memory,
                                           const std::optional<MemoryLedger>& ledger,
                                           const std::string& device, double bytes) {
    std::optional<Bytes> per_token;
    if (ledger) {
      for (const profile::MemoryHeadroom& left : ledger->headroom) {
        if (left.device == device) per_token = left.bytes_per_token;
      }
    }
    if (memory && !memory->models.empty()) per_token = memory->models.front().bytes_per_token;
    if (!per_token || per_token->value <= 0) return std::nullopt;
    return static_cast<uint64_t>(bytes / per_token->value);
  }

  // The snapshot of each GPU with the largest value.
  template <class Value>
  static std::map<std::string, const MemoryDevice*> by_device(const Memory& memory,
                                                              const Value& value) {
    std::map<std::string, const MemoryDevice*> found;
    for (const MemoryDevice& device : memory.devices) {
      const MemoryDevice*& known = found[device.device];
      if (known == nullptr || value(device) > value(*known)) known = &device;
    }
    return found;
  }

  void add(FindingKind kind, const std::string& device, double bytes, FindingValues values) {
    const auto total = totals_.find(device);
    if (total != totals_.end() && total->second > 0) {
      values.add("share_of_gpu", profile::Share{bytes / total->second});
    }
    Finding& finding = findings_.emplace_back();
    finding.kind = kind;
    finding.subject = device;
    finding.values = std::move(values).take();
  }

  std::map<std::string, double> totals_;  // bytes of each GPU
  std::vector<Finding> findings_;
};

}  // namespace

std::vector<Finding> find_memory_findings(const std::optional<Memory>& memory,
                                          const std::optional<MemoryLedger>& ledger) {
  MemoryFindings found(ledger);
  if (memory) {
    found.add_failures(*memory);
    found.add_unused_at_peak(*memory);
    found.add_private_pools(*memory);
  }
  if (ledger) found.add_cuda_pools(*ledger);
  found.add_duplicated_weights(memory, ledger);
  if (ledger) {
    found.add_unused_cache(*ledger);
    found.add_leaks(*ledger);
  }
  return std::move(found).take();
}

}  // namespace llmprof::analysis
