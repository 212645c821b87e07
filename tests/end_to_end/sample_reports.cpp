// Writes the reports of each hand-made profile into its own folder, for tests that read Markdown:
// sample_reports FOLDER.
#include <fmt/format.h>

#include <array>
#include <cstdio>
#include <filesystem>
#include <string_view>
#include <utility>

#include "report/documents/documents.h"
#include "testing/sample_profile.h"
#include "testing/shown.h"

int main(int argc, char** argv) {
  using Sample = std::pair<std::string_view, llmprof::profile::Profile (*)()>;
  const std::array<Sample, 5> samples = {Sample{"full", llmprof::testing::full_sample},
                                         Sample{"duty cycle", llmprof::testing::duty_sample},
                                         Sample{"profiler", llmprof::testing::profiler_sample},
                                         Sample{"serving", llmprof::testing::serving_sample},
                                         Sample{"requests", llmprof::testing::requests_sample}};
  if (argc != 2) return 2;
  for (const auto& [name, make] : samples) {
    const std::filesystem::path folder = std::filesystem::path(argv[1]) / name;
    std::filesystem::create_directories(folder);
    if (auto done = llmprof::report::write_reports(llmprof::testing::shown(make()), folder);
        !done) {
      fmt::print(stderr, "{}\n", done.error().message);
      return 1;
    }
  }
  return 0;
}
