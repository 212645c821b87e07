#include <fmt/format.h>

#include "report/format/figures.h"
#include "report/reasons/themes.h"

namespace llmprof::report {

using profile::ReasonKind;

std::string counter_words(ReasonKind kind, const Given& given) {
  switch (kind) {
    case ReasonKind::few_counter_samples:
      return fmt::format("counter samples cover only {} of the stage's wall time, too little",
                         percent(given.quantity<profile::Share>("share_of_wall")));
    case ReasonKind::no_counter_samples:
      return "no counter sample lies in the stage: counters were not set up yet, or were paused "
             "(collector.counter_rounds=false samples continuously)";
    case ReasonKind::impossible_bandwidth:
      return fmt::format(
          "the measured bytes would be {} of the memory bandwidth, which is impossible: check the "
          "GPU (--gpu), and whether kernels are missing in the capture",
          given.whole_percent("share"));
    case ReasonKind::sensors_read_rarely:
      return fmt::format(
          "no energy figure, because the sensors were read only every {:.1f} ms, too rarely to "
          "separate this stage from the others",
          given.quantity<profile::Milliseconds>("time_between_readings").value);
    default:
      return {};
  }
}

}  // namespace llmprof::report
