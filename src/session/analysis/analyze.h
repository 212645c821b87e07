#pragma once

#include <cstdint>
#include <filesystem>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "analysis/analyze.h"
#include "base/error.h"

namespace llmprof::session {

struct AnalyzeOptions {
  std::vector<std::filesystem::path> inputs;
  std::optional<std::filesystem::path> out;  // default: tmp/analyze/<run id>
  bool force = false;                        // write into a folder that is not empty
  bool in_place = false;  // into the one input, a run folder: reports are replaced, captures stay
  std::optional<size_t> top;                           // rows of kernels.md; all of them by default
  std::optional<std::filesystem::path> config_folder;  // overlays the shipped conf/

  // What ran.
  // config.json, a folder with one, or a preset; that of a run folder's inputs.yaml otherwise
  std::optional<std::string> model;
  std::optional<llm::ModelSpec> model_spec;  // one that is loaded already, instead
  std::optional<std::string> gpu;            // instead of the capture's own name
  std::optional<uint64_t> prompt_tokens;
  std::optional<uint64_t> new_tokens;
  std::optional<uint64_t> batch;
  uint32_t tp = 1;
  uint32_t pp = 1;
  uint32_t ep = 1;

  // What part of it the analysis is about.
  std::optional<std::string> stage;
  std::optional<std::string> steps;  // "4:12", as parse_step_range reads it
  std::optional<uint32_t> device;    // CUDA's number
  bool use_annotations = true;       // false: stages from the kernel sequence alone
};

struct Analysis {
  std::unique_ptr<const trace::Trace> trace;
  analysis::Results results;
  profile::Profile profile;
  std::vector<analysis::PassTiming> timings;
  std::filesystem::path folder;     // of the bundle
  std::vector<std::string> files;   // written into it
  std::string json;                 // what profile.json holds
  std::optional<Error> incomplete;  // an input that could not be read, where others could
};

// Told what is being done, for people who wait.
using Progress = std::function<void(std::string_view)>;

// Reads all inputs into one trace, ranks its kernels, writes the bundle. An error means that no
// bundle was written.
Result<Analysis> analyze(const AnalyzeOptions& options, std::string_view version,
                         const Progress& progress);

}  // namespace llmprof::session
