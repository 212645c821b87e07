#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "llm/model_spec.h"

namespace llmprof::session {

// Files for other viewers, beside the reports.
struct Exports {
  bool perfetto = false;
  bool speedscope = false;

  [[nodiscard]] bool any() const { return perfetto || speedscope; }
};

struct AnalyzeOptions {
  std::vector<std::filesystem::path> inputs;
  std::optional<std::filesystem::path> out;  // default: tmp/analyze/<run id>
  bool force = false;                        // write into a folder that is not empty
  bool in_place = false;      // into the one input, a run folder: replaces reports, keeps captures
  std::optional<size_t> top;  // rows of kernels.md; all of them by default
  Exports exports;
  std::optional<std::filesystem::path> config_folder;  // overlays the shipped conf/

  // What ran.
  // config.json, a folder with one, or a preset; default: that of a run folder's inputs.yaml
  std::optional<std::string> model;
  std::optional<llm::ModelSpec> model_spec;  // one that is loaded already, instead of `model`
  std::optional<std::string> gpu;            // instead of the name in the capture
  std::optional<uint64_t> prompt_tokens;
  std::optional<uint64_t> new_tokens;
  std::optional<uint64_t> batch;
  uint32_t tp = 1;
  uint32_t pp = 1;
  uint32_t ep = 1;

  // Which part of it to analyze.
  std::optional<std::string> stage;
  std::optional<std::string> steps;  // "4:12", as parse_step_range reads it
  std::optional<uint32_t> device;    // CUDA ordinal
  bool use_annotations = true;       // false: stages from the kernel sequence alone
};

}  // namespace llmprof::session
