#include "report/reasons/themes.h"

namespace llmprof::report {

using profile::ReasonKind;

std::string operator_words(ReasonKind kind, const Given& /*given*/) {
  switch (kind) {
    case ReasonKind::trace_without_operators:
      return "the PyTorch trace contains no operators; record it with ProfilerActivity.CPU among "
             "the activities of torch.profiler.profile";
    case ReasonKind::no_framework_operators:
      return "these captures contain no framework operators; if the program uses PyTorch, record a "
             "PyTorch trace of it (torch.profiler.profile, then export_chrome_trace)";
    default:
      return {};
  }
}

}  // namespace llmprof::report
