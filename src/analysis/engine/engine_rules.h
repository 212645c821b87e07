#pragma once

#include <re2/re2.h>

#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "base/error.h"
#include "config/conf_files.h"
#include "profile/engine.h"

namespace llmprof::analysis {

// One thing that an engine is recognized by.
struct EngineSign {
  enum class Kind : uint8_t {
    annotation,      // the text of a range
    process,         // the name of an executable, or of a process as it calls itself
    command,         // the command line of a run
    python_package,  // whose functions call stacks show
    operators,       // the name of an operator
    kernel,          // the canonical name of a kernel
    library,         // of kernels, as conf/kernels.yaml names it
  };
  Kind kind{};
  std::shared_ptr<const RE2> expression;
  double confidence = 0;  // how likely the engine is by this alone, 0 to 1
  // Of kernels and libraries that are no PyTorch: named where they take this share of the kernel
  // time, and PyTorch is not seen.
  std::string framework;
  double least_share = 0;

  [[nodiscard]] bool matches(std::string_view text) const {
    return RE2::PartialMatch({text.data(), text.size()}, *expression);
  }
};

// A text that holds under conditions on a finding: "{name}" in it stands for a phrase or a value.
struct Advice {
  struct Condition {
    std::string name;
    std::shared_ptr<const RE2> expression;  // null: a flag
    bool flag = false;
  };
  std::vector<Condition> when;  // all of them
  std::string text;
};
using AdviceByName = std::map<std::string, std::vector<Advice>, std::less<>>;

struct EngineRule {
  std::string name;
  std::vector<EngineSign> signs;
  std::vector<std::string> kernels_shipped_by;
  std::vector<std::string> rank_titles;
  std::string advice_like;
  AdviceByName phrases;
  AdviceByName advice;  // by kind of finding
};

// Of `kernels_shipped_by`: kernels say nothing where anything points to another engine.
inline constexpr std::string_view kEveryEngine = "everyone";
// The rule whose advice and phrases serve where no other's fit.
inline constexpr std::string_view kAnyEngine = "any";

// conf/engines/*.yaml, the user's first. Several files may be about one engine.
class EngineRules {
 public:
  static Result<EngineRules> load(const config::ConfFiles& conf);

  [[nodiscard]] const std::vector<EngineRule>& all() const { return rules_; }
  // The rules for a program of this engine, in the order in which their advice is tried: its own,
  // what it refers to, the general ones.
  [[nodiscard]] std::vector<const EngineRule*> that_advise(std::string_view engine) const;

 private:
  std::vector<EngineRule> rules_;
};

}  // namespace llmprof::analysis
