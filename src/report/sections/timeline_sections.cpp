#include <fmt/format.h>

#include "report/format/figures.h"
#include "report/format/part_names.h"
#include "report/sections/section_words.h"
#include "report/sections/sections.h"

namespace llmprof::report {
namespace {

constexpr size_t kShownCopies = 20;

// Empty if only compute ran.
Table overlap_table(const profile::Profile& profile) {
  Table table = table_of("device | work | #overlapped (ms) | #exposed (ms)");
  for (const profile::DeviceTime& row : profile.device_time) {
    if (row.communication.value > 0) {
      table.rows.push_back({row.device, "communication", ms(row.overlapped_communication),
                            ms(row.exposed_communication)});
    }
    if (row.copies.value > 0) {
      table.rows.push_back(
          {row.device, "copies and fills", ms(row.overlapped_copies), ms(row.exposed_copies)});
    }
  }
  return table;
}

Table idle_cause_table(const profile::Profile& profile) {
  Table table = table_of("device | cause | #idle (ms) | #share of span | #gaps");
  for (const profile::DeviceTime& row : profile.device_time) {
    for (const profile::IdleCause& cause : row.idle_causes) {
      table.rows.push_back({row.device, std::string(shown_name(cause.cause)), ms(cause.time),
                            percent(cause.share_of_span), grouped(cause.gaps)});
    }
    if (row.not_traced) {
      table.rows.push_back({row.device, "not traced (activity unknown)", ms(row.not_traced),
                            std::string(kMissing), std::string(kMissing)});
    }
  }
  return table;
}

std::string memory_words(const profile::Copies& copies) {
  if (!copies.from) return or_missing(copies.to);
  return fmt::format("{} to {}", *copies.from, or_missing(copies.to));
}

Table launch_table(const profile::Profile& profile) {
  return table_of(
      "device | #launches | #call, median (ms) | #latency, median (ms) | #latency, p99 (ms) | "
      "#launch to start, p99 (ms) | #queue depth, median | #queue depth, largest",
      profile.device_time, [](const profile::DeviceTime& row) {
        const auto& own = row.launches;
        if (!own || own->launches == 0) return Row();
        return cells(row.device, grouped(own->launches), exact_ms(own->call.p50),
                     exact_ms(own->to_idle_gpu.p50), exact_ms(own->to_idle_gpu.p99),
                     exact_ms(own->to_start.p99), plain(own->queue_depth.p50),
                     plain(own->queue_depth.max));
      });
}

Table short_kernel_table(const profile::Profile& profile) {
  Table table = table_of(
      "device | #shorter than (ms) | #kernels | #share of kernels | #total (ms) | #share of kernel "
      "time");
  for (const profile::DeviceTime& row : profile.device_time) {
    if (!row.launches) continue;
    for (const profile::ShortKernels& kernels : row.launches->short_kernels) {
      table.rows.push_back({row.device, exact_ms(kernels.below), grouped(kernels.count),
                            percent(kernels.share_of_kernels), ms(kernels.total),
                            percent(kernels.share_of_kernel_time)});
    }
  }
  return table;
}

// For a section without rows.
std::string none_recorded(const profile::Profile& profile, std::string_view what) {
  const std::string why = why_no_device_time(profile);
  return why.empty() ? fmt::format("No {} were recorded.", what) : "Not known: " + why;
}

}  // namespace

void add_section(Topic<"device time"> /*topic*/, const Profile& profile, Document& document) {
  const bool none = profile.device_time.empty();
  if (!document.begin(2, "GPU time", none ? "Not known: " + why_no_device_time(profile) : "")) {
    return;
  }
  document.add(Paragraph{
      "Each GPU from its first work to its last, inside and outside stages. Compute, "
      "communication and copies are times in which at least one such operation ran; overlapped is "
      "communication during compute, and copies during any kernel; the rest is exposed."});
  document.add(table_of(
      "device | #span (ms) | #busy (ms) | #busy share of span | #compute (ms) | #communication "
      "(ms) | #copies and fills (ms) | #idle (ms)",
      profile.device_time, [](const profile::DeviceTime& row) {
        return cells(row.device, ms(row.span), ms(row.busy), percent(row.busy_share_of_span),
                     ms(row.compute), ms(row.communication), ms(row.copies), ms(row.idle));
      }));
  document.add_filled(overlap_table(profile));
  document.add_filled(idle_cause_table(profile), "Idle time by cause:");
}

void add_section(Topic<"copies"> /*topic*/, const Profile& profile, Document& document) {
  const bool none = profile.copies.empty();
  if (!document.begin(2, "Copies and fills",
                      none ? none_recorded(profile, "copies or fills") : "")) {
    return;
  }
  document.add(table_of(
      "device | direction | memory | #operations | #total (ms) | #size | #bandwidth | #largest "
      "size",
      profile.copies,
      [](const profile::Copies& row) {
        return cells(row.device, row.direction, memory_words(row), grouped(row.count),
                     ms(row.total), in_unit(row.bytes), in_unit(row.bytes_per_s),
                     in_unit(row.max_bytes));
      },
      kShownCopies));
  std::string note =
      "Of the whole timeline. Bandwidth is size over the operations' time; overlapping operations "
      "count in full.";
  if (profile.copies.size() > kShownCopies) {
    note += fmt::format(" profile.json has all {} rows.", grouped(profile.copies.size()));
  }
  document.add(Paragraph{std::move(note)});
}

void add_section(Topic<"launches"> /*topic*/, const Profile& profile, Document& document) {
  Table launches = launch_table(profile);
  Table kernels = short_kernel_table(profile);
  const bool none = launches.rows.empty() && kernels.rows.empty();
  if (!document.begin(2, "Launches and short kernels",
                      none ? none_recorded(profile, "kernels") : "")) {
    return;
  }
  if (launches.rows.empty()) {
    document.add(
        Paragraph{"Launch latency and queue depth are unknown: this timeline contains no launching "
                  "calls for its kernels."});
  } else {
    document.add(std::move(launches));
    document.add(
        Paragraph{"A launch is a call that put kernels or a CUDA graph on the GPU. Latency is from "
                  "the call to the start of its first work, for calls made while the GPU was idle; "
                  "launch to start is the same for all calls, including time in the queue. Queue "
                  "depth is the number of earlier launches whose work had not started."});
  }
  document.add_filled(std::move(kernels));
}

std::string device_time_words(const profile::Profile& profile) {
  return joined(profile.device_time, " ", [](const profile::DeviceTime& row) {
    std::string text = fmt::format("{} is busy {} of {} ms: compute {} ms", row.device,
                                   percent(row.busy_share_of_span), ms(row.span), ms(row.compute));
    if (row.communication.value > 0) {
      text += fmt::format(", communication {} ms ({} ms overlapped)", ms(row.communication),
                          ms(row.overlapped_communication));
    }
    if (row.copies.value > 0) {
      text += fmt::format(", copies and fills {} ms ({} ms overlapped)", ms(row.copies),
                          ms(row.overlapped_copies));
    }
    text += fmt::format("; idle {}", percent(row.idle_share_of_span));
    if (!row.idle_causes.empty() && row.idle.value > 0) {
      const profile::IdleCause& largest = row.idle_causes.front();
      text += fmt::format(", the largest cause being {} ({} of the span)",
                          plain_part_name(largest.cause), percent(largest.share_of_span));
    }
    return text + ".";
  });
}

}  // namespace llmprof::report
