#include "analysis/engine/engine.h"

#include <algorithm>
#include <array>
#include <map>

#include "analysis/engine/engine_signs.h"
#include "analysis/naming/short_name_canonical.h"
#include "profile/engine.h"

namespace llmprof::analysis {
namespace {

constexpr std::string_view kAten = "ATen";
constexpr std::string_view kGgml = "ggml";
// A few generated kernels do not make a compiled program: engines have small compiled functions
// beside eager layers.
constexpr double kCompiledTime = 0.01;
constexpr double kCompiledCalls = 0.05;
constexpr double kOfGgml = 0.3;  // of the kernel time, beside cuBLAS
constexpr double kGgmlWeight = 0.9;
constexpr double kFrameworkWeight = 0.9;

struct Use {
  uint64_t calls = 0;
  Nanoseconds time = 0;

  Use& operator+=(const Use& more) {
    calls += more.calls;
    time += more.time;
    return *this;
  }
};

struct UsedKernel {
  trace::StringId name;
  std::string_view library;
  Use use;
};

// Each distinct string of a column once.
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

// The kernels that the stages measure, or all where no stages were found.
class MeasuredKernels {
 public:
  MeasuredKernels(const trace::Trace& trace, const KernelRanking& ranking, const Stages& stages)
      : has_timeline_(trace.kernels.size() > 0) {
    std::vector<Use> of_name(trace.strings.size());
    for (const bool in_stages : {true, false}) {
      if (whole_.calls == 0) add_timeline(trace, stages, in_stages, of_name);
    }
    if (whole_.calls == 0) {
      for (const KernelRow& row : ranking.rows)
        add({row.calls, row.total}, of_name[row.name.index()]);
    }
    for (const KernelRow& row : ranking.rows) {
      // A row for each device; the name's use is over all of them.
      Use& use = of_name[row.name.index()];
      if (use.calls > 0) kernels_.push_back({row.name, row.description.library, use});
      use = {};
    }
  }

  [[nodiscard]] const std::vector<UsedKernel>& all() const { return kernels_; }
  [[nodiscard]] const Use& whole() const { return whole_; }
  [[nodiscard]] uint64_t in_graphs() const { return in_graphs_; }
  [[nodiscard]] bool has_timeline() const { return has_timeline_; }
  [[nodiscard]] double share(const Use& use) const {
    return whole_.time > 0 ? static_cast<double>(use.time) / static_cast<double>(whole_.time) : 0;
  }
  [[nodiscard]] Use of_library(std::string_view library) const {
    Use sum;
    for (const UsedKernel& kernel : kernels_) {
      if (kernel.library == library) sum += kernel.use;
    }
    return sum;
  }
  [[nodiscard]] Use generated(const trace::Trace& trace) const {
    Use sum;
    for (const UsedKernel& kernel : kernels_) {
      if (is_generated(trace.strings[kernel.name])) sum += kernel.use;
    }
    return sum;
  }

 private:
  void add(const Use& use, Use& of_name) {
    of_name += use;
    whole_ += use;
  }
  void add_timeline(const trace::Trace& trace, const Stages& stages, bool in_stages,
                    std::vector<Use>& of_name) {
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
  Use whole_;
  uint64_t in_graphs_ = 0;
  bool has_timeline_;
};

// What points to each engine, the strongest first.
class Votes {
 public:
  void add(const std::optional<Betrayed>& betrayed, EngineSign sign, std::string_view subject,
           std::optional<double> share = std::nullopt) {
    if (!betrayed) return;
    EngineEvidence& strongest = of_engine_[betrayed->engine][sign];
    // One name of a kind is enough: a thousand annotations say no more than one.
    if (betrayed->weight <= strongest.weight) return;
    strongest = {sign, std::string(subject), share, betrayed->weight};
  }
  void forget(std::string_view engine, EngineSign sign) {
    const auto found = of_engine_.find(engine);
    if (found == of_engine_.end()) return;
    found->second.erase(sign);
    if (found->second.empty()) of_engine_.erase(found);
  }
  [[nodiscard]] bool any_but(std::string_view engine) const {
    return std::any_of(of_engine_.begin(), of_engine_.end(),
                       [&](const auto& entry) { return entry.first != engine; });
  }
  // Independent evidence adds up; evidence for another engine leaves a doubt: the odds of the one
  // against those of the other.
  void decide(EngineFound& found) const {
    double best = 0;
    double others = 0;
    for (const auto& [engine, evidence] : of_engine_) {
      const double sure = confidence(evidence);
      if (sure > best) {
        others = std::max(others, best);
        best = sure;
        found.name = engine;
      } else {
        others = std::max(others, sure);
      }
    }
    if (found.name.empty()) return;
    const double odds = best / (1 - best);
    found.confidence = others > 0 ? odds / (odds + others / (1 - others)) : best;
    for (const auto& [sign, evidence] : of_engine_.at(found.name)) {
      found.evidence.push_back(evidence);
    }
  }

 private:
  using Evidence = std::map<EngineSign, EngineEvidence>;
  static double confidence(const Evidence& evidence) {
    double doubt = 1;
    for (const auto& [sign, each] : evidence) doubt *= 1 - each.weight;
    return 1 - doubt;
  }
  std::map<std::string_view, Evidence> of_engine_;
};

void look_at_names(const trace::Trace& trace, const trace::Trace& operators_of,
                   std::string_view command, Votes& votes) {
  for (const trace::StringId text : distinct(trace, trace.ranges.text)) {
    votes.add(engine_of_annotation(trace.strings[text]), EngineSign::annotation,
              trace.strings[text]);
  }
  for (const trace::Process& process : trace.processes) {
    votes.add(engine_of_process(process.name), EngineSign::process, process.name);
  }
  votes.add(engine_of_command(command), EngineSign::command, command);
  for (const std::string& package : operators_of.python_packages) {
    votes.add(engine_of_python_package(package), EngineSign::python_package, package);
  }
  for (const trace::StringId name : distinct(operators_of, operators_of.operators.name)) {
    votes.add(engine_of_operator(operators_of.strings[name]), EngineSign::operators,
              operators_of.strings[name]);
  }
}

bool has_torch_operators(const trace::Trace& trace) {
  return std::any_of(trace.operators.name.begin(), trace.operators.name.end(),
                     [&](trace::StringId name) {
                       return name.valid() && trace.strings[name].starts_with("aten::");
                     });
}

void look_at_kernels(const trace::Trace& trace, const MeasuredKernels& kernels, Votes& votes) {
  std::map<std::string_view, std::pair<Betrayed, Use>> of_engine;
  for (const UsedKernel& kernel : kernels.all()) {
    const auto betrayed = engine_of_kernel(canonical_kernel_name(trace.strings[kernel.name]));
    if (!betrayed) continue;
    auto& [strongest, sum] =
        of_engine.try_emplace(betrayed->engine, *betrayed, Use{}).first->second;
    if (betrayed->weight > strongest.weight) strongest = *betrayed;
    sum += kernel.use;
  }
  for (const auto& [engine, found] : of_engine) {
    votes.add(found.first, EngineSign::kernels, engine, kernels.share(found.second));
  }
  // FlashInfer brings TensorRT-LLM's kernels to other engines, SGLang vLLM's.
  if (votes.any_but(profile::kTensorRtLlm))
    votes.forget(profile::kTensorRtLlm, EngineSign::kernels);
  if (of_engine.contains(profile::kSglang)) votes.forget(profile::kVllm, EngineSign::kernels);
}

void look_at_framework(const trace::Trace& trace, const trace::Trace& operators_of,
                       const MeasuredKernels& kernels, EngineFound& found, Votes& votes) {
  const Use generated = kernels.generated(trace);
  const double time = kernels.share(generated);
  const auto calls = static_cast<double>(kernels.whole().calls);
  found.compiled =
      generated.calls > 0 &&
      (time >= kCompiledTime || static_cast<double>(generated.calls) >= kCompiledCalls * calls);
  const Use aten = kernels.of_library(kAten);
  const Use ggml = kernels.of_library(kGgml);
  found.pytorch = aten.calls > 0 || generated.calls > 0 || has_torch_operators(operators_of);
  found.ggml = !found.pytorch && kernels.share(ggml) >= kOfGgml;
  if (found.ggml) {
    votes.add(Betrayed{profile::kLlamaCpp, kGgmlWeight}, EngineSign::kernels, kGgml,
              kernels.share(ggml));
  }
}

// How the program works, whatever it is.
void add_mode(const MeasuredKernels& kernels, const trace::Trace& trace, EngineFound& found) {
  const Use aten = kernels.of_library(kAten);
  if (found.pytorch && aten.calls > 0) {
    found.evidence.push_back(
        {EngineSign::kernels, std::string(kAten), kernels.share(aten), kFrameworkWeight});
  }
  if (found.compiled) {
    found.evidence.push_back({EngineSign::generated_kernels, "torch.compile",
                              kernels.share(kernels.generated(trace)), kFrameworkWeight});
  }
  if (!kernels.has_timeline() && trace.graph_replays.size() == 0) return;
  found.graphs = kernels.in_graphs() > 0 || trace.graph_replays.size() > 0;
  if (trace.graph_replays.size() == 0) {
    found.share_in_graphs =
        static_cast<double>(kernels.in_graphs()) / static_cast<double>(kernels.whole().calls);
  }
  if (*found.graphs) {
    found.evidence.push_back({EngineSign::graph_replays, "CUDA graphs", found.share_in_graphs, 0});
  }
}

}  // namespace

bool is_generated(std::string_view kernel_name) {
  constexpr std::array<std::string_view, 4> kPrefixes = {"triton_poi_", "triton_red_",
                                                         "triton_per_", "triton_tem_"};
  return std::any_of(kPrefixes.begin(), kPrefixes.end(),
                     [&](std::string_view prefix) { return kernel_name.starts_with(prefix); });
}

// Captures tell it in different columns, or only by the launch.
bool replayed_by_graph(const trace::Trace& trace, size_t row) {
  const trace::KernelTable& kernels = trace.kernels;
  if (!kernels.graph.empty() && kernels.graph[row] != 0) return true;
  if (!kernels.graph_node.empty() && kernels.graph_node[row] != 0) return true;
  if (kernels.launch.empty() || !kernels.launch[row].valid()) return false;
  const trace::StringId api = trace.launches.api[kernels.launch[row].index()];
  return trace.api_kind(api) == trace::ApiKind::graph_launch;
}

EngineFound find_engine(const trace::Trace& trace, const trace::Trace& operators_of,
                        const KernelRanking& ranking, const Stages& stages,
                        std::string_view command) {
  EngineFound found;
  Votes votes;
  const MeasuredKernels kernels(trace, ranking, stages);
  look_at_names(trace, operators_of, command, votes);
  look_at_kernels(trace, kernels, votes);
  look_at_framework(trace, operators_of, kernels, found, votes);
  votes.decide(found);
  if (found.name.empty() && found.pytorch) {
    found.name = profile::kPyTorch;
    found.confidence = kFrameworkWeight;
  }
  std::stable_sort(found.evidence.begin(), found.evidence.end(),
                   [](const auto& a, const auto& b) { return a.weight > b.weight; });
  add_mode(kernels, trace, found);
  return found;
}

}  // namespace llmprof::analysis
