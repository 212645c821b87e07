#include "analysis/engine/engine.h"

#include <algorithm>
#include <map>

#include "analysis/budget/gpu_timeline.h"
#include "analysis/naming/short_name.h"
#include "base/text.h"

namespace llmprof::analysis {
namespace {

constexpr std::string_view kAten = "ATen";
// A few generated kernels do not make a compiled program: engines have small compiled functions
// among eager layers.
constexpr double kCompiledTime = 0.01;
constexpr double kCompiledCalls = 0.05;
constexpr double kFrameworkWeight = 0.9;

struct UsedKernel {
  trace::StringId name;
  std::string canonical;
  const KernelDescription* description = nullptr;
  Calls use;
};

// Each distinct string of a column, once.
std::vector<trace::StringId> distinct(const trace::Trace& trace,
                                      const std::vector<trace::StringId>& column) {
  std::vector<char> seen(trace.strings.size(), 0);
  std::vector<trace::StringId> result;
  trace::StringId before;
  for (const trace::StringId text : column) {
    if (text == before) continue;
    before = text;
    if (!text.valid() || seen[text.index()] != 0) continue;
    seen[text.index()] = 1;
    result.push_back(text);
  }
  return result;
}

// The kernels in measured stages, or all if no stages were found.
class MeasuredKernels {
 public:
  MeasuredKernels(const trace::Trace& trace, const KernelRanking& ranking, const Stages& stages)
      : has_timeline_(trace.kernels.size() > 0) {
    std::vector<Calls> of_name(trace.strings.size());
    for (const bool in_stages : {true, false}) {
      if (whole_.calls == 0) add_timeline(trace, stages, in_stages, of_name);
    }
    if (whole_.calls == 0) {
      for (const KernelRow& row : ranking.rows)
        add({row.calls, row.total}, of_name[row.name.index()]);
    }
    for (const KernelRow& row : ranking.rows) {
      // There is one row per device; a name's use is the sum over devices.
      Calls& use = of_name[row.name.index()];
      if (use.calls > 0) {
        kernels_.push_back({row.name, std::string(canonical_kernel_name(trace.strings[row.name])),
                            &row.description, use});
      }
      use = {};
    }
  }

  [[nodiscard]] const std::vector<UsedKernel>& all() const { return kernels_; }
  [[nodiscard]] const Calls& whole() const { return whole_; }
  [[nodiscard]] uint64_t in_graphs() const { return in_graphs_; }
  [[nodiscard]] bool has_timeline() const { return has_timeline_; }
  [[nodiscard]] double share(const Calls& use) const {
    return whole_.total > 0 ? static_cast<double>(use.total) / static_cast<double>(whole_.total)
                            : 0;
  }
  // The use of all kernels for which `counts` holds.
  template <class Counts>
  [[nodiscard]] Calls sum(const Counts& counts) const {
    Calls sum;
    for (const UsedKernel& kernel : kernels_) {
      if (counts(kernel)) sum += kernel.use;
    }
    return sum;
  }
  [[nodiscard]] Calls of_aten() const {
    return sum([](const UsedKernel& kernel) { return kernel.description->library == kAten; });
  }
  [[nodiscard]] Calls generated() const {
    return sum(
        [](const UsedKernel& kernel) { return kernel.description->has(KernelTrait::generated); });
  }

 private:
  void add(const Calls& use, Calls& of_name) {
    of_name += use;
    whole_ += use;
  }
  void add_timeline(const trace::Trace& trace, const Stages& stages, bool in_stages,
                    std::vector<Calls>& of_name) {
    const trace::KernelTable& kernels = trace.kernels;
    const std::vector<InstanceId>& owners = stages.owners.kernel_instance;
    for (size_t i = 0; i < kernels.size(); ++i) {
      if (in_stages && (i >= owners.size() || !owners[i].valid() ||
                        stages.instances[owners[i].index()].warmup)) {
        continue;
      }
      add({1, kernels.end[i] - kernels.start[i]}, of_name[kernels.name[i].index()]);
      if (replayed_by_graph(trace, i)) ++in_graphs_;
    }
  }

  std::vector<UsedKernel> kernels_;
  Calls whole_;
  uint64_t in_graphs_ = 0;
  bool has_timeline_;
};

using profile::EngineSign;

struct Vote {
  double confidence = 0;
  profile::EngineEvidence evidence;
};

// The evidence for each engine.
class Votes {
 public:
  void add(std::string_view engine, Vote vote) {
    Vote& strongest = of_engine_[engine][vote.evidence.source];
    // Only the strongest sign of a kind counts: a thousand annotations prove no more than one.
    if (vote.confidence > strongest.confidence) strongest = std::move(vote);
  }
  [[nodiscard]] bool any_but(std::string_view engine) const {
    return std::ranges::any_of(of_engine_,
                               [&](const auto& entry) { return entry.first != engine; });
  }
  [[nodiscard]] bool by_kernels(std::string_view engine) const {
    const auto found = of_engine_.find(engine);
    return found != of_engine_.end() && found->second.contains(EngineSign::kernels);
  }
  void forget_kernels(std::string_view engine) {
    const auto found = of_engine_.find(engine);
    if (found == of_engine_.end()) return;
    found->second.erase(EngineSign::kernels);
    if (found->second.empty()) of_engine_.erase(found);
  }
  // Independent evidence adds up. Evidence for another engine lowers the confidence: the odds of
  // one against the odds of the other. The strongest evidence comes first.
  void decide(profile::Engine& engine) const {
    double best = 0;
    double others = 0;
    for (const auto& [name, votes] : of_engine_) {
      double doubt = 1;
      for (const auto& [kind, vote] : votes) doubt *= 1 - vote.confidence;
      const double sure = 1 - doubt;
      if (sure > best) {
        others = std::max(others, best);
        best = sure;
        engine.name = name;
      } else {
        others = std::max(others, sure);
      }
    }
    if (best == 0) return;
    const double odds = best / (1 - best);
    engine.confidence = profile::Share{others > 0 ? odds / (odds + others / (1 - others)) : best};
    std::vector<const Vote*> votes;
    for (const auto& [kind, vote] : of_engine_.at(engine.name)) votes.push_back(&vote);
    std::ranges::stable_sort(
        votes, [](const Vote* a, const Vote* b) { return a->confidence > b->confidence; });
    for (const Vote* vote : votes) engine.evidence.push_back(vote->evidence);
  }

 private:
  std::map<std::string_view, std::map<EngineSign, Vote>> of_engine_;
};

// The engine's first sign of this kind that matches the text.
const SignRule* sign_in(const EngineRule& rule, EngineSign kind, std::string_view text,
                        bool by_library = false) {
  const auto found = std::ranges::find_if(rule.signs, [&](const SignRule& sign) {
    return sign.kind == kind && sign.by_library == by_library && sign.matches(text);
  });
  return found == rule.signs.end() ? nullptr : &*found;
}

void look_at_names(const EngineRules& rules, const trace::Trace& trace,
                   const trace::Trace& operators_of, std::string_view command, Votes& votes) {
  const auto look_at = [&](EngineSign kind, std::string_view text) {
    for (const EngineRule& rule : rules.all()) {
      if (const SignRule* sign = sign_in(rule, kind, text)) {
        votes.add(rule.name, {sign->confidence, {kind, to_printable(text), std::nullopt}});
      }
    }
  };
  for (const trace::StringId text : distinct(trace, trace.ranges.text)) {
    look_at(EngineSign::annotation, trace.strings[text]);
  }
  for (const trace::Process& process : trace.processes) {
    look_at(EngineSign::process, process.name);
  }
  look_at(EngineSign::command, command);
  for (const std::string& package : operators_of.python_packages) {
    look_at(EngineSign::python_package, package);
  }
  for (const trace::StringId name : distinct(operators_of, operators_of.operators.name)) {
    look_at(EngineSign::operators, operators_of.strings[name]);
  }
}

bool has_torch_operators(const trace::Trace& trace) {
  return std::ranges::any_of(trace.operators.name, [&](trace::StringId name) {
    return name.valid() && trace.strings[name].starts_with("aten::");
  });
}

// Kernels of one engine, by the strongest of their signs.
struct EngineKernels {
  const SignRule* sign = nullptr;
  Calls use;
};

EngineKernels kernels_of(const EngineRule& rule, const MeasuredKernels& kernels) {
  EngineKernels found;
  for (const UsedKernel& kernel : kernels.all()) {
    const SignRule* sign = sign_in(rule, EngineSign::kernels, kernel.canonical);
    if (sign == nullptr)
      sign = sign_in(rule, EngineSign::kernels, kernel.description->library, true);
    if (sign == nullptr) continue;
    if (found.sign == nullptr || sign->confidence > found.sign->confidence) found.sign = sign;
    found.use += kernel.use;
  }
  return found;
}

// Engines ship each other's kernels, so kernels weigh less than an engine's annotations and names.
void look_at_kernels(const EngineRules& rules, const MeasuredKernels& kernels,
                     profile::Engine& engine, Votes& votes) {
  for (const EngineRule& rule : rules.all()) {
    const auto [sign, use] = kernels_of(rule, kernels);
    if (sign == nullptr) continue;
    const double share = kernels.share(use);
    std::string_view subject = rule.name;
    if (!sign->framework.empty()) {
      if (engine.framework == profile::kPyTorch || share < sign->least_share) continue;
      engine.framework = sign->framework;
      subject = sign->framework;
    }
    votes.add(rule.name, {sign->confidence,
                          {EngineSign::kernels, to_printable(subject), profile::Share{share}}});
  }
  for (const EngineRule& rule : rules.all()) {
    const bool lent = std::ranges::any_of(rule.kernels_shipped_by, [&](const std::string& other) {
      return other == kEveryEngine ? votes.any_but(rule.name) : votes.by_kernels(other);
    });
    if (lent) votes.forget_kernels(rule.name);
  }
}

void look_at_framework(const trace::Trace& operators_of, const MeasuredKernels& kernels,
                       profile::Engine& engine) {
  const Calls generated = kernels.generated();
  if (kernels.of_aten().calls == 0 && generated.calls == 0 && !has_torch_operators(operators_of)) {
    return;
  }
  engine.framework = profile::kPyTorch;
  engine.compiled =
      generated.calls > 0 && (kernels.share(generated) >= kCompiledTime ||
                              static_cast<double>(generated.calls) >=
                                  kCompiledCalls * static_cast<double>(kernels.whole().calls));
}

// How the program works, whatever engine it is.
void add_mode(const MeasuredKernels& kernels, const trace::Trace& trace, profile::Engine& engine) {
  const auto add = [&](EngineSign source, std::string_view subject,
                       std::optional<profile::Share> share) {
    engine.evidence.push_back({source, std::string(subject), share});
  };
  const Calls aten = kernels.of_aten();
  if (aten.calls > 0) add(EngineSign::kernels, kAten, profile::Share{kernels.share(aten)});
  if (engine.compiled.value_or(false)) {
    add(EngineSign::generated_kernels, "torch.compile",
        profile::Share{kernels.share(kernels.generated())});
  }
  const bool hidden = trace.graph_replays.size() > 0;
  if (!kernels.has_timeline() && !hidden) return;
  engine.cuda_graphs = kernels.in_graphs() > 0 || hidden;
  if (!hidden) {
    engine.kernels_in_graphs = profile::Share{static_cast<double>(kernels.in_graphs()) /
                                              static_cast<double>(kernels.whole().calls)};
  }
  if (*engine.cuda_graphs) add(EngineSign::graph_replays, "CUDA graphs", engine.kernels_in_graphs);
}

}  // namespace

profile::Engine find_engine(const EngineRules& rules, const trace::Trace& trace,
                            const trace::Trace& operators_of, const KernelRanking& ranking,
                            const Stages& stages, std::string_view command) {
  profile::Engine engine;
  Votes votes;
  const MeasuredKernels kernels(trace, ranking, stages);
  look_at_framework(operators_of, kernels, engine);
  look_at_names(rules, trace, operators_of, command, votes);
  look_at_kernels(rules, kernels, engine, votes);
  votes.decide(engine);
  if (!engine.confidence && engine.framework == profile::kPyTorch) {
    engine.name = profile::kPyTorch;
    engine.confidence = profile::Share{kFrameworkWeight};
  }
  add_mode(kernels, trace, engine);
  return engine;
}

}  // namespace llmprof::analysis
