#include "session/analysis/write_bundle.h"

#include <utility>

#include "report/documents/bundle_reports.h"

namespace llmprof::session {
namespace {

Result<void> write_filled_page(const std::optional<page::Bundle>& bundle,
                               const page::Content& content, Analysis& analysis) {
  auto outcome = write_run_page(bundle, content, analysis.folder);
  if (!outcome) return fail_with(outcome.error());
  analysis.page = std::move(*outcome);
  return {};
}

}  // namespace

Result<void> write_bundle(const AnalyzeOptions& options, OutputFolder& out, Analysis& analysis) {
  const auto artifacts = out.open();
  if (!artifacts) return fail_with(artifacts.error());
  analysis.folder = artifacts->root();
  auto written = report::write_reports(analysis.profile, analysis.folder,
                                       options.top.value_or(report::kAllKernels));
  if (!written) return fail_with(written.error());
  analysis.files = std::move(written->files);
  analysis.json = std::move(written->json);
  return {};
}

PageTimeline begin_page_timeline(const exports::ExportSource& source) {
  return page::embedded_bundle() ? begin_timeline(source) : PageTimeline();
}

Result<void> write_page(PageTimeline timeline, Analysis& analysis) {
  page::Content content{analysis.profile, analysis.json, {}, std::nullopt};
  const auto bundle = page::embedded_bundle();
  if (timeline.valid()) add_timeline(std::move(timeline), content);
  return write_filled_page(bundle, content, analysis);
}

Result<void> write_page_of_job(const Result<std::vector<exports::RankSource>>& ranks,
                               Analysis& analysis) {
  page::Content content{analysis.profile, analysis.json, {}, std::nullopt};
  const auto bundle = page::embedded_bundle();
  if (bundle) add_timeline(ranks, content);
  return write_filled_page(bundle, content, analysis);
}

}  // namespace llmprof::session
