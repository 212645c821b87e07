#include <fmt/format.h>

#include "report/format/figures.h"
#include "report/reasons/themes.h"

namespace llmprof::report {
namespace {

using profile::ReasonKind;

double bound_percent(const Given& given) {
  constexpr double kPercent = 100;
  return given.quantity<profile::Share>("bound_share_of_peak").value * kPercent;
}

std::string of_kernels(const Given& given, std::string_view what) {
  return fmt::format("{} of {}: {}", given.count("kernels_without"),
                     given.counted("kernels", "kernel"), what);
}

std::string bound_by_ncu(const Given& given) {
  return fmt::format(
      "a kernel is bound by memory if its memory throughput is at least {0:g} % of the peak and "
      "not below its compute share; by compute if its compute (SM) throughput is at least {0:g} % "
      "of the peak and above its memory share; by latency if both are below {0:g} %; unknown if "
      "one of them was not measured. Percentages are ncu's (SpeedOfLight), of the peak at the "
      "clocks of its run, mean over the launches measured",
      bound_percent(given));
}

double sample_percent(const Given& given) {
  constexpr double kPercent = 100;
  return given.quantity<profile::Share>("share_of_sample").value * kPercent;
}

std::string bound_by_counters(const Given& given) {
  return fmt::format(
      "of kernels by the GPU's counters, a sample counts as a kernel's where it ran alone for at "
      "least {0:g} % of the sample's time; FLOP/s are the tensor cores' activity times the dense "
      "peak of the number format, told by the kernel's name, else by the model: an upper bound of "
      "their work, which takes each active cycle for a full one at the clock of the data sheet; "
      "work outside of the tensor cores is left out. Such a kernel is bound by memory or by "
      "compute from {1:g} % of "
      "the peak on, whichever is higher, and unknown below",
      sample_percent(given), bound_percent(given));
}

std::string shorter_than_samples(const Given& given) {
  return fmt::format(
      "{} of {} without ncu's metrics: too short for the counters' sampling interval of {} "
      "ms, of which no launches of one kernel alone fill {:g} % (`collector.counter_hz=10000` "
      "samples every 0.1 ms)",
      given.count("kernels_without"), given.counted("kernels", "kernel"),
      ms(given.quantity<profile::Milliseconds>("interval")), sample_percent(given));
}

std::string bound_by_recorded_work(const Given& given) {
  return fmt::format(
      "a kernel is bound by memory if its bytes over time are at least {0:g} % of the measured "
      "memory bandwidth and not below its compute share; by compute if its FLOPs over time are at "
      "least {0:g} % of the measured peak and above its memory share; by latency if both are below "
      "{0:g} %. FLOPs and bytes are those that the program recorded with its operators; above 100 "
      "% of the memory bandwidth the bytes came from a cache",
      bound_percent(given));
}

}  // namespace

std::string roofline_words(ReasonKind kind, const Given& given) {
  switch (kind) {
    case ReasonKind::bound_by_ncu:
      return bound_by_ncu(given);
    case ReasonKind::bound_by_counters:
      return bound_by_counters(given);
    case ReasonKind::bound_by_recorded_work:
      return bound_by_recorded_work(given);
    case ReasonKind::no_kernel_metrics:
      return "these captures contain no kernel metrics; record them with `ncu --set roofline "
             "--section SpeedOfLight --section MemoryWorkloadAnalysis --csv --page raw --log-file "
             "ncu.csv PROGRAM` and analyze both files together";
    case ReasonKind::flops_not_counted:
      return of_kernels(given,
                        "no FLOP/s, because their floating-point instructions or their tensor "
                        "operations were not all counted (`--set roofline` does, on the raw page)");
    case ReasonKind::bytes_not_counted:
      return of_kernels(given,
                        "no DRAM bytes (`--section MemoryWorkloadAnalysis`, or `--metrics "
                        "dram__bytes.sum`)");
    case ReasonKind::throughput_not_measured:
      return of_kernels(given, "no bound class (`--section SpeedOfLight`)");
    case ReasonKind::shorter_than_samples:
      return shorter_than_samples(given);
    case ReasonKind::operators_without_work:
      return "no operator was recorded with FLOPs or bytes (llmprof_operator takes both)";
    case ReasonKind::bound_needs_cpu_peaks:
      return "no bound class: the CPU's peaks are not known (the workload's metrics.json, device)";
    default:
      return {};
  }
}

}  // namespace llmprof::report
