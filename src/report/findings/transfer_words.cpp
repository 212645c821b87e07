#include <fmt/format.h>

#include "report/findings/themes.h"
#include "report/format/figures.h"

namespace llmprof::report {
namespace {

// "2 Host-to-Device copies (1.20 MB)", "3 fills (0 B)".
std::string copies_of(const Evidence& evidence, const profile::FindingValue& copies) {
  const std::string what = copies.text.value_or("copy");
  const double number = copies.value.value_or(0);
  const bool one = number == 1;
  std::string counted;
  if (what == "fill") {
    counted = counted_mean(number, "fill");
  } else {
    counted = fmt::format("{}{} {}", text_of(plain(number)), what == "copy" ? "" : " " + what,
                          one ? "copy" : "copies");
  }
  return fmt::format("{} ({})", counted,
                     text_of(scaled(profile::find_quantity<profile::Unit::bytes>(
                         evidence.finding().values, "bytes_per_instance", what))));
}

}  // namespace

FindingWords exposed_communication_words(const Evidence& evidence) {
  return {"Communication that no computation overlaps",
          fmt::format("{}, of {} in communication kernels: {}; {}", evidence.saving(),
                      evidence.single_time("communication_time"), evidence.kernel_counts(),
                      evidence.longest_kernels()),
          "Check first whether ranks wait for each other (compare their start times). Then use a "
          "low-latency all-reduce for small messages, overlap it with the next GEMM, or spread the "
          "model over fewer GPUs."};
}

FindingWords exposed_copies_words(const Evidence& evidence) {
  std::string each;
  for (const profile::FindingValue* copies : evidence.all("copies_per_instance")) {
    if (!each.empty()) each += ", ";
    each += copies_of(evidence, *copies);
  }
  return {"Copies and fills while no kernel runs",
          fmt::format("{}: {} {}", evidence.saving(), each, evidence.per_unit()),
          "Keep what the next step needs on the GPU. Send the rest through pinned memory on a "
          "stream of its own, so that it overlaps with kernels."};
}

}  // namespace llmprof::report
