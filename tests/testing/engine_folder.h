#pragma once

#include <string_view>

#include "analysis/engine/engine_rules.h"
#include "config/conf_files.h"
#include "testing/temporary_folder.h"

namespace llmprof::testing {

// A folder for --config-dir with an engine of the user's.
class EngineFolder {
 public:
  explicit EngineFolder(std::string_view lists =
                            "rank_titles: ['acme::']\n"
                            "rank_variables: [ACME_RANK]\n"
                            "recorded_variables: [ACME_BACKEND]\n") {
    std::filesystem::create_directory(folder_.path() / "engines");
    folder_.write("engines/acme.yaml", "name: ACME Serve\n" + std::string(lists));
  }

  [[nodiscard]] Result<analysis::EngineRules> load() const {
    return analysis::EngineRules::load(config::ConfFiles::open(folder_.path()).value());
  }
  [[nodiscard]] analysis::EngineRules engines() const { return load().value(); }

 private:
  TemporaryFolder folder_;
};

}  // namespace llmprof::testing
