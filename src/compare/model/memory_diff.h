#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "compare/model/words.h"
#include "profile/memory_ledger.h"
#include "profile/quantity.h"

namespace llmprof::compare {

using profile::Bytes;
using profile::Milliseconds;
using profile::Share;
using profile::WholeNanoseconds;

// Smaller differences are not called larger or smaller: the driver gives out memory in this unit.
inline constexpr double kLeastBytes = 2 * 1024 * 1024;

// A number of bytes on both sides: with several runs, means over them.
struct BytesChange {
  std::optional<Bytes> base;
  std::optional<Bytes> now;
  Bytes difference;
  std::optional<Bytes> low;
  std::optional<Bytes> high;
  std::optional<Share> relative;
  Fate change = Fate::same;

  bool operator==(const BytesChange&) const = default;

  void fields(auto& field) const {
    field("base_bytes", base, "mean over runs; null if the base side has none");
    field("new_bytes", now, "mean over runs; null if the new side has none");
    field("difference_bytes", difference, "new minus base");
    field("low_bytes", low,
          "lower end of the difference's 95 % interval; null unless a side has several runs");
    field("high_bytes", high, "upper end of the interval");
    field("relative", relative, "difference over base; null without a base");
    field("change", change,
          "gone, new: only one side has it; smaller, larger: by at least 2 MiB, and beyond the "
          "interval of several runs");
  }
};

struct MemoryRowChange : BytesChange {
  profile::LedgerPart part = profile::LedgerPart::rest;
  std::string owner;

  bool operator==(const MemoryRowChange&) const = default;

  void fields(auto& field) const {
    field("part", part, "what the memory is used for, as in memory_ledger of profile.json");
    field("owner", owner, "the library that allocated it; empty if unknown, or if none did");
    BytesChange::fields(field);
  }
};

// What a GPU's memory is used for at one moment, on both sides.
struct MemoryMomentChange {
  std::string device;
  profile::LedgerMomentKind kind = profile::LedgerMomentKind::peak;
  std::optional<std::string> stage;
  BytesChange used;
  BytesChange own;
  std::vector<MemoryRowChange> rows;

  void fields(auto& field) const {
    field("device", device, "the GPU");
    field("kind", kind, "which moment");
    field("stage", stage, "the stage of a stage_peak or steady_decode; null otherwise");
    field("used", used,
          "the sum of the rows: what is used or reserved, according to NVML, or what recorded "
          "allocations hold if neither side has readings");
    field("own", own, "used, without the rows of other processes");
    field("rows", rows,
          "what the memory is used for, largest difference first; the differences sum to that of "
          "used, exactly with one run per side");
  }
};

// A moment that some run does not have.
struct MemoryMomentOfSide {
  SideName side{};
  std::string device;
  profile::LedgerMomentKind kind = profile::LedgerMomentKind::peak;
  std::optional<std::string> stage;

  void fields(auto& field) const {
    field("side", side, "the side that has it in all its runs");
    field("device", device, "the GPU");
    field("kind", kind, "which moment");
    field("stage", stage, "the stage of a stage_peak or steady_decode; null otherwise");
  }
};

struct PytorchMemoryChange : BytesChange {
  std::string device;
  PytorchMemory figure{};

  void fields(auto& field) const {
    field("device", device, "the GPU, as PyTorch numbers it");
    field("figure", figure, "which figure; the largest of a run's snapshots");
    BytesChange::fields(field);
  }
};

struct MemoryDiff {
  uint64_t base_ledgers = 0;
  uint64_t now_ledgers = 0;
  uint64_t base_snapshots = 0;
  uint64_t now_snapshots = 0;
  std::vector<MemoryMomentChange> moments;
  std::vector<MemoryMomentOfSide> left_out;
  std::vector<PytorchMemoryChange> pytorch;
  std::vector<std::string> why;

  void fields(auto& field) const {
    field("base_ledgers", base_ledgers, "runs in which the use of GPU memory was recorded");
    field("new_ledgers", now_ledgers, "base_ledgers for the new side");
    field("base_snapshots", base_snapshots, "runs with a memory snapshot of PyTorch");
    field("new_snapshots", now_snapshots, "base_snapshots for the new side");
    field("moments", moments, "moments that all runs of both sides have, by GPU");
    field("left_out", left_out, "moments that only one side has");
    field("pytorch", pytorch,
          "figures of PyTorch's memory snapshots, by GPU; empty unless all runs have one");
    field("why", why, "what grew, in words");
  }
};

}  // namespace llmprof::compare
