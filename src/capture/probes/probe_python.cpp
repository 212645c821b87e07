#include <fmt/format.h>

#include <future>

#include "base/text.h"
#include "capture/probes/probe_families.h"
#include "capture/shell.h"

namespace llmprof::capture {
namespace {

// Prints the facts in one line; a package that is installed but broken is reported by its
// exception.
constexpr const char* kAskTorch = R"(
try:
    import torch
    print("torch", torch.__version__, "cuda" if torch.cuda.is_available() else "cpu", torch.version.cuda)
except ModuleNotFoundError:
    print("none")
except Exception as error:
    print("broken", type(error).__name__, error)
)";
// Its metadata: importing it takes as long as torch again.
constexpr const char* kAskTransformers = R"(
import importlib.metadata
try:
    print(importlib.metadata.version("transformers"))
except importlib.metadata.PackageNotFoundError:
    print("none")
)";

std::string last_line(std::string_view text) {
  text = trim(text);
  const size_t line = text.rfind('\n');
  return std::string(line == std::string_view::npos ? text : text.substr(line + 1));
}

Probe torch(const std::optional<std::string>& answered, const std::string& python) {
  const std::string install = fmt::format("{} -m pip install torch", python);
  if (!answered) return trouble("torch", "importing it did not finish in time", install);
  const std::string line = last_line(*answered);
  if (line == "none") {
    return missing("torch", "not installed; needed for the Hugging Face workload", install);
  }
  if (!line.starts_with("torch ")) {
    return trouble("torch",
                   fmt::format("cannot be imported: {}", shortened(to_printable(line), 200)),
                   install);
  }
  std::string_view facts = std::string_view(line).substr(6);
  const std::string version(facts.substr(0, facts.find(' ')));
  if (contains(facts, " cuda ")) {
    return found("torch", fmt::format("{}, sees a GPU through CUDA {}", version,
                                      facts.substr(facts.rfind(' ') + 1)));
  }
  return found("torch", fmt::format("{}, sees no GPU: it runs on the CPU", version));
}

Probe transformers(const std::optional<std::string>& answered, const std::string& python) {
  const std::string line = answered ? last_line(*answered) : "none";
  if (line != "none" && !line.empty()) return found("transformers", line);
  return missing("transformers", "not installed; needed for the Hugging Face workload",
                 fmt::format("{} -m pip install transformers", python));
}

}  // namespace

std::vector<Probe> probe_python(const DoctorOptions& options) {
  const auto program = find_executable(options.python, options.search.path_list);
  if (!program) {
    const std::string fix = "install Python 3.9 or later (Debian: apt install python3)";
    return {missing("Python", fmt::format("{} is not on PATH", options.python), fix),
            missing("torch", "no Python to import it", "see Python"),
            missing("transformers", "no Python to import it", "see Python")};
  }
  const std::string python = program->string();
  const auto ask = [&](const char* what) { return answer(options, {python, "-c", what}); };
  auto torch_answer = std::async(std::launch::async, ask, kAskTorch);
  auto transformers_answer = std::async(std::launch::async, ask, kAskTransformers);
  const auto version = answer(options, {python, "--version"});
  const Probe interpreter =
      version ? found("Python", fmt::format("{} ({})", python, to_printable(trim(*version))))
              : trouble("Python", fmt::format("{} --version failed", python),
                        "reinstall Python, or choose another one");
  return {interpreter, torch(torch_answer.get(), python),
          transformers(transformers_answer.get(), python)};
}

}  // namespace llmprof::capture
