#pragma once

#include <gtest/gtest.h>

#include <string>
#include <utility>
#include <vector>

#include "base/needed.h"
#include "session/options/run_options.h"

// The options of a run, as composed from the shipped configuration and overrides.
namespace llmprof::testing {

using Words = std::vector<std::string>;

inline config::ComposeContext context(const std::string& working_folder = "/nonexistent") {
  config::ComposeContext made;
  made.working_folder = working_folder;
  made.now = "2026-11-15T07:33:09";
  made.home = "/opt/llmprof";
  made.bin = "/opt/llmprof/bin";
  return made;
}

inline const config::ConfFiles& shipped() {
  static const config::ConfFiles files = *config::ConfFiles::open(std::nullopt);
  return files;
}

inline Result<session::RunOptions> read(const Words& overrides, const Words& program = {},
                                        const config::ConfFiles& conf = shipped(),
                                        const config::ComposeContext& here = context()) {
  return attempt([&] {
    return session::read_run_options(session::compose_run(conf, overrides, program, here), program);
  });
}

inline session::RunOptions options(const Words& overrides = {}, const Words& program = {}) {
  auto made = read(overrides, program);
  EXPECT_TRUE(made) << made.error().message;
  return made ? std::move(*made) : session::RunOptions();
}

inline std::string error(const Words& overrides, const Words& program = {}) {
  const auto made = read(overrides, program);
  EXPECT_FALSE(made);
  if (made) return {};
  EXPECT_EQ(made.error().kind, ErrorKind::usage);
  return made.error().message;
}

}  // namespace llmprof::testing
