#include <fmt/format.h>

#include <algorithm>
#include <string>

#include "report/format/figures.h"
#include "report/format/memory_words.h"
#include "report/sections/sections.h"

namespace llmprof::report {
namespace {

constexpr size_t kShownPools = 20;
constexpr size_t kShownStacks = 20;
constexpr size_t kShownFailures = 5;

// The GPU that holds most.
const MemoryDevice* largest_device(const Memory& memory) {
  const auto found = std::ranges::max_element(memory.devices, {}, &MemoryDevice::reserved);
  return found == memory.devices.end() ? nullptr : &*found;
}

bool several_sources(const Memory& memory) { return memory.snapshots.size() > 1; }

bool any_of_source(const Memory& memory, MemorySource source) {
  return std::ranges::any_of(memory.snapshots,
                             [&](const MemorySnapshot& each) { return each.source == source; });
}

Table device_table(const Memory& memory) {
  return table_of(
      "source | device | at | #reserved | #allocated | #active | #requested | #rounding | #free in "
      "the "
      "allocator | #of reserved | #largest free block | #largest request",
      memory.devices, [](const MemoryDevice& row) {
        return cells(
            grouped(row.snapshot), row.device,
            std::string(row.source == MemorySource::trace ? "end of the trace" : "the snapshot"),
            in_unit(row.reserved), in_unit(row.allocated), in_unit(row.active),
            in_unit(row.requested), in_unit(row.rounding), in_unit(row.inactive),
            percent(row.inactive_share), in_unit(row.largest_free_block),
            in_unit(row.largest_request));
      });
}

Table peak_table(const Memory& memory) {
  Table table = table_of(
      "source | device | highest | #after (ms) | #active | #allocated | #reserved | "
      "#allocations");
  const auto add = [&](const MemoryDevice& row, std::string_view what,
                       const std::optional<MemoryMoment>& moment) {
    if (!moment) return;
    table.add(grouped(row.snapshot), row.device, what, ms(moment->time), in_unit(moment->active),
              in_unit(moment->allocated), in_unit(moment->reserved), grouped(moment->allocations));
  };
  for (const MemoryDevice& row : memory.devices) {
    add(row, row.source == MemorySource::trace ? "allocated" : "active", row.peak);
    add(row, "reserved", row.reserved_peak);
  }
  return table;
}

Table pool_table(const Memory& memory) {
  return table_of(
      "source | device | pool | stream | #reserved | #active | #requested | #free | #largest "
      "free "
      "block | #segments",
      memory.pools,
      [](const MemoryPool& row) {
        return cells(grouped(row.snapshot), row.device,
                     row.is_private ? "private " + row.pool : std::string("default"), row.stream,
                     in_unit(row.reserved), in_unit(row.active), in_unit(row.requested),
                     in_unit(row.inactive), in_unit(row.largest_free_block), grouped(row.segments));
      },
      kShownPools);
}

std::string maker_words(const MemoryStack& row) {
  if (!row.place.empty())
    return row.frames.size() > 1 && row.made == MemoryMaker::operators
               ? fmt::format("{} in {}", row.place, row.frames.back())
               : row.place;
  switch (row.made) {
    case MemoryMaker::before_trace:
      return "(before the trace's first event)";
    case MemoryMaker::no_operator:
      return "(outside of operators)";
    default:
      return "(stack not recorded)";
  }
}

Table stack_table(const Memory& memory) {
  return table_of(
      "source | device | #at the peak | #allocations | #now | #blocks | `allocated by",
      memory.stacks,
      [](const MemoryStack& row) {
        return cells(grouped(row.snapshot), row.device, in_unit(row.at_peak),
                     plain(row.allocations_at_peak), in_unit(row.now), plain(row.blocks_now),
                     maker_words(row));
      },
      kShownStacks);
}

std::string remedy_words(const OutOfMemory& row) {
  const std::string more =
      row.missing ? fmt::format("{} more in one piece would make it fit", in_unit(row.missing))
                  : std::string();
  switch (row.cause) {
    case OutOfMemoryCause::size:
      return more + ": use less memory (batch, context, weights), or a larger GPU.";
    case OutOfMemoryCause::fragmentation:
      return row.expandable ? more + "; expandable segments are in use already."
                            : more +
                                  ". Expandable segments join free parts: "
                                  "PYTORCH_CUDA_ALLOC_CONF=expandable_segments:True.";
    case OutOfMemoryCause::other_pools:
      return more + fmt::format(
                        ". {} are free in other pools, streams or size classes: release what "
                        "keeps their segments (CUDA graphs, tensors of other streams).",
                        in_unit(row.free_other));
    default:
      return "Check torch.cuda.set_per_process_memory_fraction and limits of the container.";
  }
}

void add_failures(const Memory& memory, Document& document) {
  if (memory.out_of_memory.empty()) return;
  document.heading(3, "Out of memory");
  BulletList list;
  for (const OutOfMemory& row : memory.out_of_memory) {
    if (list.items.size() == kShownFailures) break;
    list.items.push_back(failure_sentence(row));
  }
  document.add(std::move(list));
  const size_t more =
      memory.out_of_memory.size() - std::min(kShownFailures, memory.out_of_memory.size());
  if (more > 0) {
    document.paragraph("Further failed allocations, in profile.json: {}.", grouped(more));
  }
}

void add_sources(const Memory& memory, Document& document) {
  BulletList list;
  for (const MemorySnapshot& each : memory.snapshots) {
    std::string settings;
    for (const MemorySetting& setting : each.settings) {
      settings +=
          fmt::format("{}{}={}", settings.empty() ? "; " : ", ", setting.name, setting.value);
    }
    const bool of_trace = each.source == MemorySource::trace;
    list.items.push_back(
        fmt::format("{}{}: {}{}{}", of_trace ? "PyTorch trace " : "", each.file,
                    counted(each.events, of_trace ? "memory event" : "event"),
                    each.events_lost.value_or(false) ? ", the first ones are lost" : "", settings));
  }
  document.add(std::move(list));
}

void show_source_column(const Memory& memory, Table table, Document& document,
                        std::string before = {}) {
  table.show_if(several_sources(memory), "source");
  document.add_filled(std::move(table), std::move(before));
}

}  // namespace

std::string failure_sentence(const OutOfMemory& row) {
  return fmt::format(
             "An allocation of {} failed on {}{}: {}. The device had {} free. Of the {} that "
             "PyTorch "
             "held, "
             "{} were free for this request, the largest block {}; {} were free elsewhere. {}",
             in_unit(row.requested), row.device,
             row.time ? fmt::format(" after {} ms", ms(row.time)) : std::string(),
             cause_words(row.cause), in_unit(row.device_free), in_unit(row.reserved),
             in_unit(row.free_same), in_unit(row.largest_free_same), in_unit(row.free_other),
             remedy_words(row)) +
         (row.place.empty() ? "" : " It was asked by " + row.place + ".");
}

bool has_only_memory(const Profile& profile) {
  const auto& captures = profile.context.captures;
  return !captures.empty() && std::ranges::all_of(captures, [](const Capture& capture) {
    return capture.format == CaptureFormat::torch_memory;
  });
}

std::string memory_sentence(const Profile& profile) {
  if (!profile.memory) return {};
  const MemoryDevice* device = largest_device(*profile.memory);
  if (device == nullptr) return {};
  const bool of_trace = device->source == MemorySource::trace;
  std::string text =
      of_trace ? fmt::format("At the end of its trace, PyTorch holds {} on {}: {} allocated",
                             in_unit(device->reserved), device->device, in_unit(device->allocated))
               : fmt::format("PyTorch holds {} on {}: {} active, {} ({}) free in its allocator",
                             in_unit(device->reserved), device->device, in_unit(device->active),
                             in_unit(device->inactive), percent(device->inactive_share));
  if (device->peak && of_trace) {
    text += fmt::format("; at the peak, {} were allocated", in_unit(device->peak->allocated));
  } else if (device->peak) {
    text += fmt::format("; at the peak, {} were {}", in_unit(device->peak->active),
                        device->event_size == MemoryEventSize::rounded ? "active" : "requested");
  }
  text += ".";
  if (!profile.memory->out_of_memory.empty()) {
    const OutOfMemory& last = profile.memory->out_of_memory.back();
    text += fmt::format(" An allocation of {} failed: {}.", in_unit(last.requested),
                        cause_words(last.cause));
  }
  return text;
}

void add_section(Topic<"memory"> /*topic*/, const Profile& profile, Document& document) {
  if (!profile.memory) return;
  const Memory& memory = *profile.memory;
  document.heading(2, "GPU memory");
  document.paragraph(memory_sentence(profile));
  add_sources(memory, document);
  add_failures(memory, document);
  add_memory_contents(memory, document);
  const bool of_snapshots = any_of_source(memory, MemorySource::snapshot);
  const bool of_traces = any_of_source(memory, MemorySource::trace);
  document.heading(3, of_snapshots ? "At the snapshot" : "At the end of the trace");
  Table devices = device_table(memory);
  devices.show_if(of_snapshots && of_traces, "at");
  for (const std::string_view column : {"active", "requested", "rounding", "free in the allocator",
                                        "of reserved", "largest free block"}) {
    devices.show_if(of_snapshots, column);
  }
  show_source_column(memory, std::move(devices), document);
  show_source_column(memory, pool_table(memory), document,
                     "By pool and stream; only CUDA graphs, or one torch.cuda.MemPool, allocate "
                     "in a private pool:");
  document.heading(3, "At the peak");
  document.paragraph(
      "{}{}Memory that PyTorch did not allocate (CUDA context, NCCL, other processes) is not "
      "included.",
      of_snapshots ? "PyTorch's events state what the program requested, so rounding is known only "
                     "at the snapshot. "
                   : "",
      of_traces ? "A trace states what is allocated, rounded up, and neither segments nor blocks. "
                : "");
  Table peaks = peak_table(memory);
  peaks.show_if(of_snapshots, "active");
  show_source_column(memory, std::move(peaks), document);
  show_source_column(memory, stack_table(memory), document, "What allocates most:");
}

}  // namespace llmprof::report
