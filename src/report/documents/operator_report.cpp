#include "report/documents/documents.h"

#include <string_view>

#include "base/files.h"
#include "report/markdown/markdown.h"
#include "report/sections/reasons.h"
#include "report/sections/section_words.h"
#include "report/sections/sections.h"

namespace llmprof::report {
namespace {

constexpr std::string_view kCpuColumns =
    "cpu_total_ms includes operators called inside, cpu_self_ms excludes them; mean_ms is "
    "cpu_total_ms over calls. FLOPs are of all calls, as the program recorded them; the rates are "
    "over cpu_total_ms.";
constexpr std::string_view kGpuColumns =
    "CPU: cpu_total_ms includes operators called inside; cpu_self_ms excludes them and includes "
    "the CUDA API calls made inside; mean_ms is cpu_total_ms over calls. GPU: cuda_total_ms is the "
    "time of all kernels, copies and fills launched inside, cuda_self_ms of those that no inner "
    "operator launched.";

}  // namespace

Document operator_document(const profile::Profile& profile) {
  Document document;
  document.add(Heading{1, "Operators"});
  add_damage(profile, document);
  add_selection(profile, document);
  if (profile.operators.empty()) {
    document.add(Paragraph{"Not available because " + why_no_operators(profile)});
    return document;
  }
  document.add(Paragraph{operator_coverage_words(profile)});
  document.add(operator_table(profile, profile.operators.size()));
  document.add(Paragraph{std::string(on_cpu(profile) ? kCpuColumns : kGpuColumns)});
  return document;
}

Result<void> write_operator_markdown(const profile::Profile& profile,
                                     const std::filesystem::path& path) {
  return write_file_atomically(path, to_markdown(operator_document(profile)));
}

}  // namespace llmprof::report
