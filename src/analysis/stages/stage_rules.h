#pragma once

#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "analysis/stages/stages.h"
#include "analysis/stages/step_batch.h"
#include "base/error.h"
#include "config/conf_files.h"

namespace llmprof::analysis {

// What conf/stages.yaml says of a range's label.
struct RangeMeaning {
  enum class Kind : uint8_t {
    none,
    ignored,      // a library's own domain
    stage,        // `name`
    step,         // a step inside a stage
    engine_step,  // one step of a serving engine, `step_kind` known
    layer,        // `name` is the layer's
    layer_part,   // attention, feed-forward, ... inside a layer
    vision,       // a note under prefill
    warm_up,      // stages inside it are kept apart
    pass_part,    // of a forward pass: `name`; kernels tell its kind
  };
  Kind kind = Kind::none;
  std::string name;
  std::optional<StepKind> step_kind;
  std::optional<uint64_t> batch;
  std::optional<uint64_t> tokens;
  StepBatch phases;  // of an engine's step
};

// The rules of conf/stages.yaml, the user's tried first. Cheap to copy, safe for threads.
class StageRules {
 public:
  static Result<StageRules> load(const config::ConfFiles& conf);

  // `domain` is empty for the default domain. About a microsecond a rule: the caller keeps what it
  // gets for each distinct label.
  [[nodiscard]] RangeMeaning meaning(std::string_view domain, std::string_view text) const;

 private:
  class Compiled;
  std::shared_ptr<const Compiled> compiled_;
};

}  // namespace llmprof::analysis
