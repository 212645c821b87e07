#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <iterator>
#include <string>
#include <vector>

#include "compare/gate/gate.h"
#include "report/diff/diff_report.h"
#include "report/format/figures.h"
#include "report/format/words.h"

namespace llmprof::report {
namespace {

using compare::BytesChange;
using compare::Diff;
using compare::Fate;
using compare::MemoryDiff;
using compare::MemoryFigure;
using compare::MemoryMomentChange;
using compare::MemoryRowChange;
using compare::PytorchMemory;

constexpr auto kFigureWords = [] {
  using enum MemoryFigure;
  return profile::texts<MemoryFigure>({
      {peak, "GPU memory at the peak"},
      {after_load, "GPU memory after loading"},
      {steady_decode, "GPU memory in steady decode"},
      {end, "GPU memory at the end"},
      {pytorch_peak, "highest active bytes of PyTorch"},
      {pytorch_reserved, "highest reserved bytes of PyTorch"},
  });
}();

constexpr auto kPytorchWords = [] {
  using enum PytorchMemory;
  return profile::texts<PytorchMemory>({
      {peak_active, "active, highest"},
      {peak_reserved, "reserved, highest"},
      {reserved, "reserved at the snapshot"},
      {allocated, "allocated at the snapshot"},
      {inactive, "reserved but unused at the snapshot"},
      {private_pools, "private pools at the snapshot"},
  });
}();

std::string row_name(const MemoryRowChange& row) {
  const std::string part(in_words(row.part));
  return row.owner.empty() ? part : fmt::format("{} ({})", part, row.owner);
}

bool is_changed(const BytesChange& change) { return change.change != Fate::same; }

std::string fate_words(const BytesChange& change) {
  return std::string(is_changed(change) ? to_string(change.change) : "unchanged");
}

std::string interval_cell(const BytesChange& change) {
  if (!change.low || !change.high) return std::string(kMissing);
  return fmt::format("{} to {}", bytes_change(change.low), bytes_change(change.high));
}

bool has_intervals(const MemoryDiff& memory) {
  return std::ranges::any_of(memory.moments,
                             [](const auto& each) { return each.used.low.has_value(); }) ||
         std::ranges::any_of(memory.pytorch, [](const auto& each) { return each.low.has_value(); });
}

void add_totals(const MemoryDiff& memory, Document& document) {
  document.add_filled(
      table_of("device | moment@4 | #base@2 | #new@4 | #difference@4 | #95 % interval@1 | change@3",
               memory.moments, [](const MemoryMomentChange& moment) {
                 return cells(moment.device, moment_words(moment.kind, moment.stage),
                              in_unit(moment.own.base), in_unit(moment.own.now),
                              bytes_change(moment.own.difference), interval_cell(moment.own),
                              change(moment.own.relative));
               }));
}

std::vector<MemoryRowChange> changed_rows(const MemoryMomentChange& moment) {
  std::vector<MemoryRowChange> rows;
  std::ranges::copy_if(moment.rows, std::back_inserter(rows), is_changed);
  return rows;
}

// Most moments differ in the same rows.
bool is_shown_before(const MemoryDiff& memory, size_t index) {
  const MemoryMomentChange& moment = memory.moments[index];
  return std::any_of(
      memory.moments.begin(), memory.moments.begin() + static_cast<std::ptrdiff_t>(index),
      [&](const MemoryMomentChange& other) {
        return other.device == moment.device && changed_rows(other) == changed_rows(moment);
      });
}

void add_rows(const MemoryMomentChange& moment, size_t rows, Document& document) {
  Table table = table_of(
      "used for@5 | by@1 | #base@2 | #new@4 | #difference@4 | #95 % interval@1 | change@3",
      moment.rows,
      [](const MemoryRowChange& row) {
        if (!is_changed(row)) return Row();
        return cells(in_words(row.part), row.owner, in_unit(row.base), in_unit(row.now),
                     bytes_change(row.difference), interval_cell(row), fate_words(row));
      },
      rows);
  if (table.rows.empty()) return;
  table.rows.push_back(cells("all rows", "", in_unit(moment.used.base), in_unit(moment.used.now),
                             bytes_change(moment.used.difference), interval_cell(moment.used),
                             fate_words(moment.used)));
  document.add_filled(std::move(table), fmt::format("{}, {}:", moment.device,
                                                    moment_words(moment.kind, moment.stage)));
}

void add_pytorch(const MemoryDiff& memory, Document& document) {
  document.add_filled(
      table_of(
          "device | PyTorch's memory@5 | #base@2 | #new@4 | #difference@4 | #95 % interval@1 | "
          "change@3",
          memory.pytorch,
          [](const compare::PytorchMemoryChange& row) {
            return cells(row.device, kPytorchWords[row.figure], in_unit(row.base), in_unit(row.now),
                         bytes_change(row.difference), interval_cell(row), fate_words(row));
          }),
      "Inside PyTorch, by its memory snapshots (the largest figure of each run's snapshots):");
}

// "+104.86 MB KV cache (libggml-cuda.so), new"; of the run's own memory.
std::string causes_of(const MemoryMomentChange& moment) {
  constexpr size_t kMostRows = 4;
  std::vector<std::string> parts;
  for (const MemoryRowChange& row : moment.rows) {
    if (parts.size() == kMostRows) break;
    if (!is_changed(row) || row.part == profile::LedgerPart::other_processes) continue;
    const bool on_one_side = row.change == Fate::gone || row.change == Fate::fresh;
    parts.push_back(fmt::format("{} {}{}", bytes_change(row.difference), row_name(row),
                                on_one_side ? fmt::format(", {}", to_string(row.change)) : ""));
  }
  return joined(parts, "; ");
}

std::string ledger_gap(uint64_t base, uint64_t now, const Diff& diff, std::string_view what) {
  const auto lacks = [](uint64_t known, size_t runs) { return known < runs; };
  const bool of_base = lacks(base, diff.base.size());
  const bool of_now = lacks(now, diff.now.size());
  if (of_base && of_now) return fmt::format("neither side has {} in all its runs", what);
  if (of_base || of_now) {
    return fmt::format("the {} side does not have {} in all its runs", of_base ? "base" : "new",
                       what);
  }
  return fmt::format("both sides have {}, but not of this moment on this GPU", what);
}

}  // namespace

std::string memory_words(compare::ComparedQuantity quantity) {
  if (quantity.memory) return std::string(kFigureWords[*quantity.memory]);
  if (!quantity.ledger_part) return {};
  return fmt::format("{} at the peak", in_words(*quantity.ledger_part));
}

std::string no_memory_words(const compare::GateResult& gate, const Diff& diff) {
  const MemoryDiff memory = diff.memory.value_or(MemoryDiff());
  const auto rule = compare::parse_rule(gate.rule, gate.from);
  const auto figure = rule ? rule->quantity.memory : std::nullopt;
  const bool of_pytorch =
      figure == MemoryFigure::pytorch_peak || figure == MemoryFigure::pytorch_reserved;
  const std::string gap = of_pytorch
                              ? ledger_gap(memory.base_snapshots, memory.now_snapshots, diff,
                                           "a memory snapshot of PyTorch")
                              : ledger_gap(memory.base_ledgers, memory.now_ledgers, diff,
                                           "a recorded use of GPU memory (llmprof's collector)");
  return gate.stage.empty() ? gap : fmt::format("{}: {}", gate.stage, gap);
}

std::string_view pytorch_words(PytorchMemory figure) { return kPytorchWords[figure]; }

// Both sides have the moment, but only one of them by readings.
bool is_of_both(const compare::MemoryMomentOfSide& moment,
                const std::vector<compare::MemoryMomentOfSide>& left_out) {
  return std::ranges::any_of(left_out, [&](const compare::MemoryMomentOfSide& other) {
    return other.side != moment.side && other.device == moment.device &&
           other.kind == moment.kind && other.stage == moment.stage;
  });
}

std::vector<std::string> missing_memory(const Diff& diff) {
  std::vector<std::string> found;
  if (!diff.memory) return found;
  const MemoryDiff& memory = *diff.memory;
  const auto add = [&](std::string_view side, uint64_t known, size_t runs, std::string_view what) {
    if (known >= runs) return;
    found.push_back(fmt::format("{} of {} of the {} side {} no {}, so it cannot be compared.",
                                runs - known, counted(runs, "run"), side,
                                runs - known == 1 ? "has" : "have", what));
  };
  if (memory.base_ledgers + memory.now_ledgers > 0) {
    constexpr std::string_view kLedger = "recorded use of GPU memory (llmprof's collector)";
    add("base", memory.base_ledgers, diff.base.size(), kLedger);
    add("new", memory.now_ledgers, diff.now.size(), kLedger);
  }
  if (memory.base_snapshots + memory.now_snapshots > 0) {
    constexpr std::string_view kSnapshot = "memory snapshot of PyTorch";
    add("base", memory.base_snapshots, diff.base.size(), kSnapshot);
    add("new", memory.now_snapshots, diff.now.size(), kSnapshot);
  }
  if (memory.base_ledgers == 0 || memory.now_ledgers == 0) return found;
  for (const compare::MemoryMomentOfSide& each : memory.left_out) {
    if (is_of_both(each, memory.left_out)) {
      if (each.side != compare::SideName::base) continue;
      found.push_back(fmt::format(
          "The moment \"{}\" of {} is not compared: only one side has readings of NVML.",
          moment_words(each.kind, each.stage), each.device));
      continue;
    }
    found.push_back(fmt::format("Only the {} side has the moment \"{}\" of {}.",
                                to_string(each.side), moment_words(each.kind, each.stage),
                                each.device));
  }
  return found;
}

std::vector<std::string> grown_words(const MemoryDiff& memory) {
  std::vector<std::string> found;
  for (const MemoryMomentChange& moment : memory.moments) {
    if (moment.kind != profile::LedgerMomentKind::peak) continue;
    const std::string causes = causes_of(moment);
    found.push_back(fmt::format(
        "GPU memory of {} at the peak, without other processes: {} to {} ({}{}){}.", moment.device,
        in_unit(moment.own.base), in_unit(moment.own.now), bytes_change(moment.own.difference),
        moment.own.relative ? fmt::format(", {}", change(moment.own.relative)) : "",
        causes.empty() ? "; no row changed by 2 MiB or more" : ": " + causes));
  }
  for (const compare::PytorchMemoryChange& each : memory.pytorch) {
    if (each.figure != PytorchMemory::peak_active && each.figure != PytorchMemory::peak_reserved) {
      continue;
    }
    found.push_back(fmt::format("PyTorch's memory on {}, {}: {} to {} ({}{}).", each.device,
                                kPytorchWords[each.figure], in_unit(each.base), in_unit(each.now),
                                bytes_change(each.difference),
                                each.relative ? fmt::format(", {}", change(each.relative)) : ""));
  }
  return found;
}

std::string memory_sentence(const MemoryDiff& memory) {
  std::vector<std::string> parts;
  for (const MemoryMomentChange& moment : memory.moments) {
    const BytesChange& own = moment.own;
    if (moment.kind != profile::LedgerMomentKind::peak || !is_changed(own)) continue;
    parts.push_back(fmt::format("{} on {}{}", bytes_change(own.difference), moment.device,
                                own.relative ? fmt::format(" ({})", change(own.relative)) : ""));
  }
  if (parts.empty()) return {};
  return fmt::format("GPU memory at the peak changed: {}.", enumeration(parts));
}

void add_memory(const Diff& diff, size_t rows, Document& document) {
  if (!diff.memory) return;
  const MemoryDiff& memory = *diff.memory;
  document.heading(2, "GPU memory");
  for (const std::string& missing : missing_memory(diff)) document.warning(missing);
  if (memory.moments.empty() && memory.pytorch.empty()) return;
  document.paragraph(
      "Rows that changed by less than 2 MiB are left out; diff.json has all of them. {}",
      has_intervals(memory) ? "Bytes are means over runs."
                            : "Bytes of single runs are compared as they are.");
  if (!memory.moments.empty()) {
    document.paragraph("Used at each moment, without other processes:");
    add_totals(memory, document);
  }
  for (size_t i = 0; i < memory.moments.size(); ++i) {
    if (!is_shown_before(memory, i)) add_rows(memory.moments[i], rows, document);
  }
  add_pytorch(memory, document);
}

}  // namespace llmprof::report
