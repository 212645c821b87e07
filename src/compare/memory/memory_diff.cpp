#include "compare/memory/memory_diff.h"

#include <algorithm>
#include <cmath>
#include <functional>
#include <set>
#include <span>
#include <string>
#include <utility>

#include "compare/quantities/judging.h"
#include "compare/statistics/estimate.h"

namespace llmprof::compare {
namespace {

using profile::LedgerMoment;
using profile::LedgerMomentKind;
using profile::LedgerPart;
using profile::LedgerRow;
using profile::MemoryDevice;
using profile::MemoryLedger;

// One value per run; none where the run does not have it.
using Values = std::vector<std::optional<double>>;

std::vector<double> known_values(const Values& values) {
  std::vector<double> known;
  for (const auto& value : values) {
    if (value) known.push_back(*value);
  }
  return known;
}

// Rows that a run does not have are 0 there: the rows of a ledger are complete.
std::vector<double> with_zeros(const Values& values) {
  std::vector<double> all;
  all.reserve(values.size());
  for (const auto& value : values) all.push_back(value.value_or(0));
  return all;
}

// Without a verdict. Equal values are identical; one run per side is exact.
Comparison bytes_between(const std::vector<double>& base, const std::vector<double>& now) {
  Comparison found = independent_difference(base, now);
  found.unit = ComparedUnit::bytes;
  found.base_runs = base.size();
  found.now_runs = now.size();
  if (base == now) {
    found.method = Method::identical;
    found.difference = found.low = found.high = 0;
  } else if (base.size() == 1 && now.size() == 1) {
    found.method = Method::counted;
    found.low = found.high = found.difference;
  }
  return found;
}

Fate fate_of(const Comparison& compared, bool in_base, bool in_now) {
  if (!in_base || !in_now) return in_base ? Fate::gone : Fate::fresh;
  const double difference = *compared.difference;
  if (std::abs(difference) < kLeastBytes) return Fate::same;
  if (compared.low && *compared.low <= 0 && *compared.high >= 0) return Fate::same;
  return difference < 0 ? Fate::smaller : Fate::larger;
}

void set_change(const Values& base, const Values& now, BytesChange& into) {
  const Comparison compared = bytes_between(with_zeros(base), with_zeros(now));
  const bool in_base = !known_values(base).empty();
  const bool in_now = !known_values(now).empty();
  if (in_base) into.base = Bytes{*compared.base};
  if (in_now) into.now = Bytes{*compared.now};
  into.difference = {*compared.difference};
  if (compared.low && std::max(base.size(), now.size()) > 1) {
    into.low = Bytes{*compared.low};
    into.high = Bytes{*compared.high};
  }
  if (in_base && *compared.base != 0) {
    into.relative = Share{*compared.difference / std::abs(*compared.base)};
  }
  into.change = fate_of(compared, in_base, in_now);
}

BytesChange change_between(const Values& base, const Values& now) {
  BytesChange change;
  set_change(base, now, change);
  return change;
}

// ---- the ledger

// What allocations alone say is not compared with readings of NVML.
struct MomentKey {
  std::string device;
  LedgerMomentKind kind{};
  std::optional<std::string> stage;
  bool is_read = false;

  bool operator==(const MomentKey&) const = default;
};

MomentKey key_of(const LedgerMoment& moment) {
  return {moment.device, moment.kind, moment.stage, moment.used.has_value()};
}

// A moment with its rows.
struct MomentOfRun {
  const LedgerMoment* moment = nullptr;
  std::vector<const LedgerRow*> rows;
};

std::optional<MomentOfRun> find_moment(const Run& run, const MomentKey& key) {
  const auto& ledger = run.profile.memory_ledger;
  if (!ledger) return std::nullopt;
  const auto at = std::ranges::find(ledger->moments, key, key_of);
  if (at == ledger->moments.end()) return std::nullopt;
  MomentOfRun found{&*at, {}};
  const auto index = static_cast<uint64_t>(at - ledger->moments.begin());
  for (const LedgerRow& row : ledger->rows) {
    if (row.moment == index) found.rows.push_back(&row);
  }
  return found;
}

// Empty unless all runs have the moment.
std::vector<MomentOfRun> moments_of(std::span<const Run> runs, const MomentKey& key) {
  std::vector<MomentOfRun> found;
  for (const Run& run : runs) {
    auto of_run = find_moment(run, key);
    if (!of_run) return {};
    found.push_back(std::move(*of_run));
  }
  return found;
}

// Those of all runs, in the order of the first.
std::vector<MomentKey> keys_of(std::span<const Run> runs) {
  std::vector<MomentKey> keys;
  const auto& first = runs.front().profile.memory_ledger;
  if (!first) return keys;
  for (const LedgerMoment& moment : first->moments) {
    if (!moments_of(runs, key_of(moment)).empty()) keys.push_back(key_of(moment));
  }
  return keys;
}

template <class Test>
std::optional<double> sum_of_rows(const MomentOfRun& moment, const Test& test) {
  std::optional<double> sum;
  for (const LedgerRow* row : moment.rows) {
    if (test(*row)) sum = sum.value_or(0) + row->bytes.value;
  }
  return sum;
}

// The sum of the moment's rows.
double all_rows(const MomentOfRun& moment) {
  return moment.moment->used.value_or(moment.moment->recorded).value;
}

double without_others(const MomentOfRun& moment) {
  const auto others = sum_of_rows(
      moment, [](const LedgerRow& row) { return row.part == LedgerPart::other_processes; });
  return all_rows(moment) - others.value_or(0);
}

template <class Value>
Values values_of(const std::vector<MomentOfRun>& runs, const Value& value) {
  Values values;
  for (const MomentOfRun& run : runs) values.push_back(value(run));
  return values;
}

MemoryMomentChange diff_moment(const MomentKey& key, const std::vector<MomentOfRun>& base,
                               const std::vector<MomentOfRun>& now) {
  MemoryMomentChange found;
  found.device = key.device;
  found.kind = key.kind;
  found.stage = key.stage;
  const auto between = [&](const auto& value) {
    return change_between(values_of(base, value), values_of(now, value));
  };
  const auto used = [](const MomentOfRun& run) { return std::optional(all_rows(run)); };
  const auto own = [](const MomentOfRun& run) { return std::optional(without_others(run)); };
  found.used = between(used);
  found.own = between(own);
  std::set<std::pair<LedgerPart, std::string>> rows;
  for (const auto* side : {&base, &now}) {
    for (const MomentOfRun& run : *side) {
      for (const LedgerRow* row : run.rows) rows.emplace(row->part, row->owner);
    }
  }
  for (const auto& [part, owner] : rows) {
    const auto bytes = [&](const MomentOfRun& run) {
      return sum_of_rows(
          run, [&](const LedgerRow& row) { return row.part == part && row.owner == owner; });
    };
    MemoryRowChange& row = found.rows.emplace_back();
    row.part = part;
    row.owner = owner;
    set_change(values_of(base, bytes), values_of(now, bytes), row);
  }
  std::ranges::stable_sort(found.rows, std::ranges::greater(), [](const MemoryRowChange& row) {
    return std::abs(row.difference.value);
  });
  return found;
}

void add_moments(const Sides& sides, MemoryDiff& diff) {
  const std::vector<MomentKey> base = keys_of(sides.base);
  const std::vector<MomentKey> now = keys_of(sides.now);
  for (const MomentKey& key : base) {
    if (std::ranges::find(now, key) == now.end()) {
      diff.left_out.push_back({SideName::base, key.device, key.kind, key.stage});
    } else {
      diff.moments.push_back(
          diff_moment(key, moments_of(sides.base, key), moments_of(sides.now, key)));
    }
  }
  for (const MomentKey& key : now) {
    if (std::ranges::find(base, key) != base.end()) continue;
    diff.left_out.push_back({SideName::now, key.device, key.kind, key.stage});
  }
}

// ---- PyTorch's snapshots

// A trace states other figures, of another part of the run: it is not compared.
bool is_of_snapshot(const MemoryDevice& device) {
  return device.source == profile::MemorySource::snapshot;
}

double figure_of(const MemoryDevice& device, PytorchMemory figure) {
  const auto value_of = [](const std::optional<Bytes>& bytes) { return bytes ? bytes->value : 0; };
  switch (figure) {
    case PytorchMemory::peak_active:
      return value_of(device.peak ? device.peak->active : device.active);
    case PytorchMemory::peak_reserved:
      return device.reserved_peak ? device.reserved_peak->reserved.value : device.reserved.value;
    case PytorchMemory::reserved:
      return device.reserved.value;
    case PytorchMemory::allocated:
      return device.allocated.value;
    case PytorchMemory::inactive:
      return value_of(device.inactive);
    case PytorchMemory::private_pools:
      return value_of(device.private_pools);
  }
  return 0;
}

// The largest of a run's snapshots; none if it has no such GPU.
std::optional<double> pytorch_value(const Run& run, const std::string& device,
                                    PytorchMemory figure) {
  std::optional<double> largest;
  if (!run.profile.memory) return largest;
  for (const MemoryDevice& each : run.profile.memory->devices) {
    if (each.device != device || !is_of_snapshot(each)) continue;
    const double value = figure_of(each, figure);
    largest = std::max(largest.value_or(value), value);
  }
  return largest;
}

Values pytorch_values(std::span<const Run> runs, const std::string& device, PytorchMemory figure) {
  Values values;
  for (const Run& run : runs) values.push_back(pytorch_value(run, device, figure));
  return values;
}

// GPUs that all snapshots of both sides have.
std::vector<std::string> pytorch_devices(const Sides& sides) {
  std::vector<std::string> devices;
  const auto& first = sides.base.front().profile.memory;
  if (!first) return devices;
  for (const MemoryDevice& device : first->devices) {
    const auto has = [&](const Run& run) {
      return pytorch_value(run, device.device, PytorchMemory::reserved).has_value();
    };
    const bool in_all = std::ranges::all_of(sides.base, has) && std::ranges::all_of(sides.now, has);
    if (in_all && std::ranges::find(devices, device.device) == devices.end()) {
      devices.push_back(device.device);
    }
  }
  return devices;
}

void add_pytorch(const Sides& sides, MemoryDiff& diff) {
  for (const std::string& device : pytorch_devices(sides)) {
    for (const auto& word : profile::kWords<PytorchMemory>) {
      PytorchMemoryChange& row = diff.pytorch.emplace_back();
      row.device = device;
      row.figure = word.value;
      set_change(pytorch_values(sides.base, device, word.value),
                 pytorch_values(sides.now, device, word.value), row);
    }
  }
}

template <class Test>
uint64_t runs_with(std::span<const Run> runs, const Test& test) {
  return static_cast<uint64_t>(std::ranges::count_if(runs, test));
}

// ---- quantities of gate rules

constexpr LedgerMomentKind moment_of(MemoryFigure figure) {
  switch (figure) {
    case MemoryFigure::after_load:
      return LedgerMomentKind::after_load;
    case MemoryFigure::steady_decode:
      return LedgerMomentKind::steady_decode;
    case MemoryFigure::end:
      return LedgerMomentKind::end;
    case MemoryFigure::peak:
    case MemoryFigure::pytorch_peak:
    case MemoryFigure::pytorch_reserved:
      break;
  }
  return LedgerMomentKind::peak;
}

// Parts are compared at the peak.
LedgerMomentKind moment_of(ComparedQuantity quantity) {
  return quantity.memory ? moment_of(*quantity.memory) : LedgerMomentKind::peak;
}

std::optional<PytorchMemory> pytorch_figure(ComparedQuantity quantity) {
  if (quantity.memory == MemoryFigure::pytorch_peak) return PytorchMemory::peak_active;
  if (quantity.memory == MemoryFigure::pytorch_reserved) return PytorchMemory::peak_reserved;
  return std::nullopt;
}

struct SidesOfDevice {
  std::string device;
  Values base;
  Values now;
};

std::vector<SidesOfDevice> pytorch_sides(const Sides& sides, PytorchMemory figure) {
  std::vector<SidesOfDevice> found;
  for (const std::string& device : pytorch_devices(sides)) {
    found.push_back({device, pytorch_values(sides.base, device, figure),
                     pytorch_values(sides.now, device, figure)});
  }
  return found;
}

std::vector<SidesOfDevice> ledger_sides(const Sides& sides, ComparedQuantity quantity) {
  const LedgerMomentKind kind = moment_of(quantity);
  const auto bytes = [&](const MomentOfRun& run) -> std::optional<double> {
    if (!quantity.ledger_part) return without_others(run);
    const auto sum =
        sum_of_rows(run, [&](const LedgerRow& row) { return row.part == *quantity.ledger_part; });
    return sum.value_or(0);
  };
  std::vector<SidesOfDevice> found;
  for (const MomentKey& key : keys_of(sides.base)) {
    if (key.kind != kind) continue;
    const std::vector<MomentOfRun> now = moments_of(sides.now, key);
    if (now.empty()) continue;
    found.push_back(
        {key.device, values_of(moments_of(sides.base, key), bytes), values_of(now, bytes)});
  }
  return found;
}

// GPUs of any run that are not compared.
std::vector<std::string> missing_gpus(const Sides& sides, ComparedQuantity quantity,
                                      const std::vector<Comparison>& compared) {
  std::set<std::string> all;
  const bool of_pytorch = pytorch_figure(quantity).has_value();
  for (const auto* side : {&sides.base, &sides.now}) {
    for (const Run& run : *side) {
      if (of_pytorch && run.profile.memory) {
        for (const MemoryDevice& device : run.profile.memory->devices) {
          if (is_of_snapshot(device)) all.insert(device.device);
        }
      }
      if (!of_pytorch && run.profile.memory_ledger) {
        for (const LedgerMoment& moment : run.profile.memory_ledger->moments) {
          if (moment.kind == moment_of(quantity)) all.insert(moment.device);
        }
      }
    }
  }
  for (const Comparison& each : compared) all.erase(each.stage);
  return {all.begin(), all.end()};
}

}  // namespace

std::optional<MemoryDiff> diff_memory(const Sides& sides) {
  const auto has_ledger = [](const Run& run) { return run.profile.memory_ledger.has_value(); };
  const auto has_snapshot = [](const Run& run) {
    return run.profile.memory && std::ranges::any_of(run.profile.memory->devices, is_of_snapshot);
  };
  MemoryDiff diff;
  diff.base_ledgers = runs_with(sides.base, has_ledger);
  diff.now_ledgers = runs_with(sides.now, has_ledger);
  diff.base_snapshots = runs_with(sides.base, has_snapshot);
  diff.now_snapshots = runs_with(sides.now, has_snapshot);
  if (diff.base_ledgers + diff.now_ledgers + diff.base_snapshots + diff.now_snapshots == 0) {
    return std::nullopt;
  }
  add_moments(sides, diff);
  add_pytorch(sides, diff);
  return diff;
}

MemoryByGpu compare_memory(const Sides& sides, ComparedQuantity quantity, double threshold) {
  const auto pytorch = pytorch_figure(quantity);
  MemoryByGpu found;
  for (const SidesOfDevice& each :
       pytorch ? pytorch_sides(sides, *pytorch) : ledger_sides(sides, quantity)) {
    Comparison& compared =
        found.compared.emplace_back(bytes_between(with_zeros(each.base), with_zeros(each.now)));
    compared.stage = each.device;
    compared.quantity = quantity;
    judge(threshold, compared);
  }
  found.missing = missing_gpus(sides, quantity, found.compared);
  return found;
}

}  // namespace llmprof::compare
