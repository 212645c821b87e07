// Writes the reports on the profiles made by hand into folders of their own, for tests that read
// Markdown: sample_reports FOLDER.
#include <fmt/format.h>

#include <array>
#include <filesystem>
#include <string_view>
#include <utility>

#include "report/bundle_reports.h"
#include "report/sample_profile_test.h"

int main(int argc, char** argv) {
  using Sample = std::pair<std::string_view, llmprof::report::SampleProfile (*)()>;
  const std::array<Sample, 4> samples = {Sample{"full", llmprof::report::full_sample},
                                         Sample{"duty cycle", llmprof::report::duty_sample},
                                         Sample{"profiler", llmprof::report::profiler_sample},
                                         Sample{"serving", llmprof::report::serving_sample}};
  if (argc != 2) return 2;
  for (const auto& [name, make] : samples) {
    const std::filesystem::path folder = std::filesystem::path(argv[1]) / name;
    std::filesystem::create_directories(folder);
    const llmprof::report::SampleProfile sample = make();
    if (auto done = llmprof::report::write_reports(sample.profile, folder, "0.0.0"); !done) {
      fmt::print(stderr, "{}\n", done.error().message);
      return 1;
    }
  }
  return 0;
}
