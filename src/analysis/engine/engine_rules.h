#pragma once

#include <re2/re2.h>

#include <map>
#include <memory>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "base/error.h"
#include "config/conf_files.h"
#include "profile/engine.h"
#include "profile/memory_statements.h"

namespace llmprof::analysis {

// A text by which an engine is recognized.
struct SignRule {
  profile::EngineSign kind{};  // kernels: by their canonical name
  bool by_library = false;     // kernels: by their library, as conf/kernels.yaml names it
  std::shared_ptr<const RE2> expression;
  double confidence = 0;  // how likely the engine is by this sign alone, 0 to 1
  // For kernels and libraries outside PyTorch: the framework to report if they take at least this
  // share of the kernel time and PyTorch was not found.
  std::string framework;
  double least_share = 0;

  [[nodiscard]] bool matches(std::string_view text) const {
    return RE2::PartialMatch({text.data(), text.size()}, *expression);
  }
};

// A text that applies under conditions on a finding; "{name}" stands for a phrase or a value.
struct Advice {
  struct Condition {
    std::string name;
    std::shared_ptr<const RE2> expression;  // null: a flag
    bool flag = false;
  };
  std::vector<Condition> when;  // all must hold
  std::string text;
};
using AdviceByName = std::map<std::string, std::vector<Advice>, std::less<>>;

// What allocates memory of PyTorch, or runs a pass.
enum class AllocatingCode : uint8_t { weights, kv_cache, workspace, forward_pass };

// Recognizes a line of a call stack, or a block of memory by its size.
struct AllocationRule {
  AllocatingCode means{};
  std::shared_ptr<const RE2> frame;  // of "function (file)"; null: by size
  uint64_t bytes = 0;
};

// A line of a program's output that states memory. Groups of the expression: `device` (a number),
// `bytes`, `more_bytes` (added), `tokens`.
struct MemoryLineRule {
  std::shared_ptr<const RE2> expression;
  profile::StatedPart part{};
  double unit = 1;  // bytes of one
};

struct EngineRule {
  std::string name;
  std::vector<SignRule> signs;
  std::vector<std::string> kernels_shipped_by;
  std::vector<std::string> rank_titles;         // what the titles of worker processes begin with
  std::vector<std::string> rank_variables;      // of numbers, for the collector's logs
  std::vector<std::string> recorded_variables;  // that affect a run, for env.json
  std::vector<AllocationRule> allocated_by;
  std::vector<MemoryLineRule> memory_lines;
  std::string advice_like;
  AdviceByName phrases;
  AdviceByName advice;  // by kind of finding
};

// In `kernels_shipped_by`: kernels prove nothing if anything points to another engine.
inline constexpr std::string_view kEveryEngine = "everyone";
// The rule whose advice and phrases apply if no other's do.
inline constexpr std::string_view kAnyEngine = "any";

// conf/engines/*.yaml, the user's first. Several files may describe one engine.
class EngineRules {
 public:
  static Result<EngineRules> load(const config::ConfFiles& conf);

  [[nodiscard]] const std::vector<EngineRule>& all() const { return rules_; }
  // One list of all engines: &EngineRule::rank_titles. Sorted, without duplicates.
  [[nodiscard]] std::set<std::string> all(std::vector<std::string> EngineRule::* list) const;
  // The rules for a program of this engine, in the order in which their advice is tried: its own,
  // those it refers to, then the general ones.
  [[nodiscard]] std::vector<const EngineRule*> that_advise(std::string_view engine) const;

 private:
  std::vector<EngineRule> rules_;
};

}  // namespace llmprof::analysis
