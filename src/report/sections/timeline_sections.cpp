#include <fmt/format.h>

#include <algorithm>

#include "report/format/figures.h"
#include "report/format/part_names.h"
#include "report/sections/reasons.h"
#include "report/sections/sections.h"

namespace llmprof::report {
namespace {

constexpr size_t kShownCopies = 20;

Table device_time_table(const profile::Profile& profile) {
  Table table{columns(
      "device | #span (ms) | #busy (ms) | #busy share of span | #compute (ms) | #communication "
      "(ms) | #copies and fills (ms) | #idle (ms)")};
  for (const profile::DeviceTime& row : profile.device_time) {
    table.rows.push_back({row.device, ms(row.span), ms(row.busy), percent(row.busy_share_of_span),
                          ms(row.compute), ms(row.communication), ms(row.copies), ms(row.idle)});
  }
  return table;
}

// Empty where nothing but compute ran.
Table overlap_table(const profile::Profile& profile) {
  Table table{columns("device | work | #overlapped (ms) | #exposed (ms)")};
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
  Table table{columns("device | cause | #idle (ms) | #share of span | #gaps")};
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
  if (!copies.from) return copies.to.value_or(std::string(kMissing));
  return fmt::format("{} to {}", *copies.from, copies.to.value_or(std::string(kMissing)));
}

Table copies_table(const profile::Profile& profile) {
  Table table{columns(
      "device | direction | memory | #operations | #total (ms) | #size | #bandwidth | #largest "
      "size")};
  for (size_t i = 0; i < std::min(kShownCopies, profile.copies.size()); ++i) {
    const profile::Copies& row = profile.copies[i];
    table.rows.push_back({row.device, row.direction, memory_words(row), grouped(row.count),
                          ms(row.total), scaled(row.bytes), scaled(row.bytes_per_s),
                          scaled(row.max_bytes)});
  }
  return table;
}

Table launch_table(const profile::Profile& profile) {
  Table table{columns(
      "device | #launches | #call, median (ms) | #latency, median (ms) | #latency, p99 (ms) | "
      "#launch to start, p99 (ms) | #queue depth, median | #queue depth, largest")};
  for (const profile::DeviceTime& row : profile.device_time) {
    if (!row.launches || row.launches->launches == 0) continue;
    const profile::Launches& launches = *row.launches;
    table.rows.push_back({row.device, grouped(launches.launches), exact_ms(launches.call.p50),
                          exact_ms(launches.to_idle_gpu.p50), exact_ms(launches.to_idle_gpu.p99),
                          exact_ms(launches.to_start.p99), plain(launches.queue_depth.p50),
                          plain(launches.queue_depth.max)});
  }
  return table;
}

Table short_kernel_table(const profile::Profile& profile) {
  Table table{columns(
      "device | #shorter than (ms) | #kernels | #share of kernels | #total (ms) | #share of kernel "
      "time")};
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

}  // namespace

void add_section(Topic<"device time"> /*topic*/, const Profile& profile, Document& document) {
  document.add(Heading{2, "GPU time"});
  if (profile.device_time.empty()) {
    document.add(Paragraph{"Not known: " + why_no_device_time(profile)});
    return;
  }
  document.add(Paragraph{
      "What each GPU did from its first work to its last, inside and outside of stages. Compute, "
      "communication and copies are times in which at least one such operation ran; overlapped is "
      "communication during compute, and copies during any kernel; the rest is exposed."});
  document.add(device_time_table(profile));
  if (Table overlap = overlap_table(profile); !overlap.rows.empty()) {
    document.add(std::move(overlap));
  }
  if (Table causes = idle_cause_table(profile); !causes.rows.empty()) {
    document.add(Paragraph{"Idle time by cause:"});
    document.add(std::move(causes));
  }
}

void add_section(Topic<"copies"> /*topic*/, const Profile& profile, Document& document) {
  document.add(Heading{2, "Copies and fills"});
  if (profile.copies.empty()) {
    const std::string why = why_no_device_time(profile);
    document.add(
        Paragraph{why.empty() ? "No copies or fills were recorded." : "Not known: " + why});
    return;
  }
  document.add(copies_table(profile));
  std::string note =
      "Of the whole timeline. Bandwidth is size over the operations' time; overlapping operations "
      "count in full.";
  if (profile.copies.size() > kShownCopies) {
    note += fmt::format(" profile.json has all {} rows.", grouped(profile.copies.size()));
  }
  document.add(Paragraph{std::move(note)});
}

void add_section(Topic<"launches"> /*topic*/, const Profile& profile, Document& document) {
  document.add(Heading{2, "Launches and short kernels"});
  Table launches = launch_table(profile);
  Table kernels = short_kernel_table(profile);
  if (launches.rows.empty() && kernels.rows.empty()) {
    const std::string why = why_no_device_time(profile);
    document.add(Paragraph{why.empty() ? "No kernels were recorded." : "Not known: " + why});
    return;
  }
  if (launches.rows.empty()) {
    document.add(
        Paragraph{"Launch latency and queue depth are not known: this timeline holds no "
                  "launching calls for its kernels."});
  } else {
    document.add(std::move(launches));
    document.add(Paragraph{
        "A launch is a call that put kernels or a CUDA graph on the GPU. Latency is from the call "
        "to the start of its first work, of calls made while the GPU had nothing to do; launch to "
        "start is that of all calls, waiting in the queue included. Queue depth is the number of "
        "earlier launches whose work had not begun."});
  }
  if (!kernels.rows.empty()) document.add(std::move(kernels));
}

std::string device_time_words(const profile::Profile& profile) {
  std::string text;
  for (const profile::DeviceTime& row : profile.device_time) {
    text += fmt::format("{}{} is busy {} of {} ms", text.empty() ? "" : " ", row.device,
                        percent(row.busy_share_of_span), ms(row.span));
    text += fmt::format(": compute {} ms", ms(row.compute));
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
    text += ".";
  }
  return text;
}

}  // namespace llmprof::report
