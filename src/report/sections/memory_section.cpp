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

bool several_snapshots(const Memory& memory) { return memory.snapshots.size() > 1; }

Table device_table(const Memory& memory) {
  return table_of(
      "snapshot | device | #reserved | #allocated | #active | #requested | #rounding | #free in "
      "the "
      "allocator | #of reserved | #largest free block | #largest request",
      memory.devices, [](const MemoryDevice& row) {
        return cells(grouped(row.snapshot), row.device, in_unit(row.reserved),
                     in_unit(row.allocated), in_unit(row.active), in_unit(row.requested),
                     in_unit(row.rounding), in_unit(row.inactive), percent(row.inactive_share),
                     in_unit(row.largest_free_block), in_unit(row.largest_request));
      });
}

Table peak_table(const Memory& memory) {
  Table table = table_of(
      "snapshot | device | highest | #after (ms) | #active | #allocated | #reserved | "
      "#allocations");
  const auto add = [&](const MemoryDevice& row, std::string_view what,
                       const std::optional<MemoryMoment>& moment) {
    if (!moment) return;
    table.add(grouped(row.snapshot), row.device, what, ms(moment->time), in_unit(moment->active),
              in_unit(moment->allocated), in_unit(moment->reserved), grouped(moment->allocations));
  };
  for (const MemoryDevice& row : memory.devices) {
    add(row, "active", row.peak);
    add(row, "reserved", row.reserved_peak);
  }
  return table;
}

Table pool_table(const Memory& memory) {
  return table_of(
      "snapshot | device | pool | stream | #reserved | #active | #requested | #free | #largest "
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

Table stack_table(const Memory& memory) {
  return table_of(
      "snapshot | device | #at the peak | #allocations | #now | #blocks | `allocated by",
      memory.stacks,
      [](const MemoryStack& row) {
        return cells(grouped(row.snapshot), row.device, in_unit(row.at_peak),
                     plain(row.allocations_at_peak), in_unit(row.now), grouped(row.blocks_now),
                     row.place.empty() ? std::string("(stack not recorded)") : row.place);
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

void add_snapshots(const Memory& memory, Document& document) {
  BulletList list;
  for (const MemorySnapshot& each : memory.snapshots) {
    std::string settings;
    for (const MemorySetting& setting : each.settings) {
      settings +=
          fmt::format("{}{}={}", settings.empty() ? "; " : ", ", setting.name, setting.value);
    }
    list.items.push_back(
        fmt::format("{}: {}{}{}", each.file, counted(each.events, "event"),
                    each.events_lost.value_or(false) ? ", the first ones are lost" : "", settings));
  }
  document.add(std::move(list));
}

void show_snapshot_column(const Memory& memory, Table table, Document& document,
                          std::string before = {}) {
  table.show_if(several_snapshots(memory), "snapshot");
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
  std::string text = fmt::format("PyTorch holds {} on {}: {} active, {} ({}) free in its allocator",
                                 in_unit(device->reserved), device->device, in_unit(device->active),
                                 in_unit(device->inactive), percent(device->inactive_share));
  if (device->peak) {
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
  add_snapshots(memory, document);
  add_failures(memory, document);
  add_memory_contents(memory, document);
  document.heading(3, "At the snapshot");
  show_snapshot_column(memory, device_table(memory), document);
  show_snapshot_column(memory, pool_table(memory), document,
                       "By pool and stream; only CUDA graphs, or one torch.cuda.MemPool, allocate "
                       "in a private pool:");
  document.heading(3, "At the peak");
  document.paragraph(
      "PyTorch's events state what the program requested, so rounding is known only at the "
      "snapshot. Memory that PyTorch did not allocate (CUDA context, NCCL, other processes) is not "
      "included.");
  show_snapshot_column(memory, peak_table(memory), document);
  show_snapshot_column(memory, stack_table(memory), document, "What allocates most:");
}

}  // namespace llmprof::report
