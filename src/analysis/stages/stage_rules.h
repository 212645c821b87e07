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

// The meaning of a range's label in conf/stages.yaml.
struct RangeMeaning {
  enum class Kind : uint8_t {
    none,
    ignored,      // a library's own domain
    stage,        // `name`
    step,         // a step inside a stage
    engine_step,  // one step of a serving engine, `step_kind` known
    layer,        // `name` is the layer's name
    layer_part,   // attention, feed-forward, ... inside a layer
    vision,       // a note under prefill
    warm_up,      // stages inside it are excluded from statistics
    pass_part,    // of a forward pass: `name`, `part`; its kernels determine the kind
  };
  enum class PassPart : uint8_t { other, start, model };
  Kind kind = Kind::none;
  std::string name;
  PassPart part = PassPart::other;
  std::optional<StepKind> step_kind;
  std::optional<uint64_t> batch;
  std::optional<uint64_t> tokens;
  StepBatch phases;  // of an engine's step
};

// The rules of conf/stages.yaml; the user's come first. Cheap to copy, thread-safe.
class StageRules {
 public:
  static Result<StageRules> load(const config::ConfFiles& conf);

  // `domain` is empty for the default domain. Takes about a microsecond per rule: callers cache the
  // result for each distinct label.
  [[nodiscard]] RangeMeaning meaning(std::string_view domain, std::string_view text) const;

 private:
  class Compiled;
  std::shared_ptr<const Compiled> compiled_;
};

}  // namespace llmprof::analysis
