#include "analysis/operators/nvtx_operator_name.h"

#include <algorithm>
#include <array>

namespace llmprof::analysis {
namespace {

constexpr std::array<std::string_view, 4> kFacts = {", seq = ", ", op_id = ", ", sizes = [",
                                                    ", input_op_ids = ["};
constexpr std::array<std::string_view, 6> kNamespaces = {
    "aten::", "torch::", "prims::", "autograd::", "c10d::", "quantized::"};

}  // namespace

std::string_view nvtx_operator_name(std::string_view range_text) {
  for (size_t comma = range_text.find(','); comma != std::string_view::npos;
       comma = range_text.find(',', comma + 1)) {
    const std::string_view rest = range_text.substr(comma);
    const bool fact = std::any_of(kFacts.begin(), kFacts.end(),
                                  [&](std::string_view begin) { return rest.starts_with(begin); });
    if (fact) return range_text.substr(0, comma);
  }
  const bool known =
      std::any_of(kNamespaces.begin(), kNamespaces.end(), [&](std::string_view name) {
        return range_text.starts_with(name) && range_text.size() > name.size();
      });
  return known ? range_text : std::string_view();
}

}  // namespace llmprof::analysis
