#include <fmt/format.h>

#include "report/findings/themes.h"

namespace llmprof::report {
namespace {

std::string kernel_evidence(const Evidence& evidence) {
  if (!evidence.has("kernels_per_pass")) {
    return fmt::format("{}; {}", evidence.saving(), evidence.longest_kernels());
  }
  return fmt::format("{}: {}; {}", evidence.saving(), evidence.kernel_counts(),
                     evidence.longest_kernels());
}

}  // namespace

FindingWords small_kernels_words(const Evidence& evidence) {
  return {"Small kernels that can be fused", kernel_evidence(evidence), {}};
}

FindingWords fusible_norm_words(const Evidence& evidence) {
  return {"Normalization that can be fused", kernel_evidence(evidence),
          "Fuse it into the loop that reads the same row for the next matrix product."};
}

FindingWords fusible_rope_words(const Evidence& evidence) {
  return {"Position embedding that can be fused", kernel_evidence(evidence),
          "Rotate keys and queries where they are written."};
}

FindingWords fusible_elementwise_words(const Evidence& evidence) {
  return {"Element-wise operators that can be fused", kernel_evidence(evidence),
          "Fuse them into the preceding GEMM's epilogue."};
}

FindingWords copies_and_casts_words(const Evidence& evidence) {
  std::string advice = "Keep one data type and one layout from end to end";
  if (evidence.flag("concatenates")) {
    advice =
        "Remove the concatenations first: write K and V into a preallocated cache, and rotate in "
        "place. Then keep one data type and one layout from end to end";
  } else if (!evidence.on_cpu()) {
    advice +=
        ": fuse casts around norms into the norm kernel, and layout changes into the GEMM that "
        "reads or writes them";
  }
  return {"Copies and casts", kernel_evidence(evidence), advice + "."};
}

FindingWords token_selection_words(const Evidence& evidence) {
  return {"Token selection", kernel_evidence(evidence),
          evidence.on_cpu() ? "Select from the last position's logits only, on all cores."
                            : "Select the token in one fused kernel (top-k, top-p and sampling "
                              "together), from the last position's logits only."};
}

FindingWords expert_routing_words(const Evidence& evidence) {
  return {"Expert routing", kernel_evidence(evidence),
          "Use a fused routing kernel (gate, top-k and token order together), and grouped GEMMs "
          "for the experts instead of one GEMM per expert."};
}

}  // namespace llmprof::report
