#include <fmt/format.h>

#include "base/units.h"
#include "report/format/figures.h"
#include "report/reasons/themes.h"

namespace llmprof::report {
namespace {

using profile::BytesPerSecond;
using profile::FlopsPerSecond;
using profile::ReasonKind;

std::string_view bytes_are(std::string_view what) {
  if (what == "weights") return "weights, read once per pass,";
  return what == "kv_cache" ? "KV cache" : "recorded bytes";
}

std::string at_peak(std::string words, const Given& given) {
  if (given.flag("divided_by_time")) words += ", divided by time among all matrix products";
  if (given.has("traced_share")) {
    words += fmt::format(", of which {} was traced",
                         percent(given.quantity<profile::Share>("traced_share")));
  }
  return words;
}

std::string flops_at_peak(const Given& given) {
  return at_peak(
      fmt::format("{} at {} ({})", scaled(given.quantity<profile::Flops>("flops")),
                  scaled(given.quantity<FlopsPerSecond>("peak_flops")), given.text("peak")),
      given);
}

std::string bytes_at_peak(const Given& given) {
  return at_peak(fmt::format("{} of {} at {}", scaled(given.quantity<profile::Bytes>("bytes")),
                             bytes_are(given.text("bytes_are")),
                             scaled(given.quantity<BytesPerSecond>("peak_bandwidth"))),
                 given);
}

}  // namespace

std::string floor_rule_words(ReasonKind kind, const Given& given) {
  switch (kind) {
    case ReasonKind::flops_at_peak:
      return flops_at_peak(given);
    case ReasonKind::bytes_at_peak:
      return bytes_at_peak(given);
    case ReasonKind::own_flops_at_peak:
      return fmt::format("its own FLOPs at {:.4g} TFLOP/s ({})",
                         given.quantity<FlopsPerSecond>("peak_flops").value / kTera,
                         given.text("format"));
    case ReasonKind::own_bytes_at_peak:
      return fmt::format("its own DRAM bytes at {:.3g} TB/s",
                         given.quantity<BytesPerSecond>("peak_bandwidth").value / kTera);
    case ReasonKind::zero_overlaps_computation:
      return "0, as a lower bound: it can overlap with computation";
    case ReasonKind::zero_copy_avoidable:
      return "0, as a lower bound: a fill or copy inside a step can be avoided or overlapped";
    case ReasonKind::zero_small_beside_output_head:
      return "0, as a lower bound: small compared with the output head before it";
    case ReasonKind::zero_fusible_into_experts:
      return "0, as a lower bound: it can be fused into the experts' GEMMs";
    case ReasonKind::zero_fusible_into_products:
      return "0, as a lower bound: it can be fused into the neighboring GEMMs";
    case ReasonKind::zero_copies_overlap_kernels:
      return "0, as a lower bound: copies and fills can overlap with kernels or be avoided";
    case ReasonKind::zero_fewer_kernels:
      return "0, as a lower bound: fewer kernels leave fewer gaps between them";
    case ReasonKind::zero_idle_gpu:
      return "0: an idle GPU does no useful work";
    case ReasonKind::zero_outside_operators:
      return "0: no operator of the model was recorded in that time";
    case ReasonKind::own_time_unknown_kernels:
      return "its own time: what these kernels do is not known";
    case ReasonKind::own_time_hidden_graphs:
      return "its own time: the capture does not show the graphs' kernels";
    case ReasonKind::own_time_unknown_cause:
      return "its own time: the capture does not show its cause";
    case ReasonKind::own_time_without_floor:
      return "its own time; no floor";
    default:
      return {};
  }
}

}  // namespace llmprof::report
