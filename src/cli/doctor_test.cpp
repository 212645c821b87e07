#include "cli/commands.h"

#include <gtest/gtest.h>

#include <sstream>

#include "report/terminal/text_layout.h"

namespace llmprof::cli {
namespace {

capture::Probe found(std::string name) {
  return {std::move(name), capture::Probe::State::found, "here", "", false};
}

// A machine that has these, and a CPU workload that needs nothing else.
std::vector<capture::Probe> machine(const std::vector<std::string>& names,
                                    bool runs_on_cpu = true) {
  std::vector<capture::Probe> probes;
  for (const std::string& name : names) probes.push_back(found(name));
  capture::Probe workload = found("CPU workload");
  workload.needed = true;
  if (!runs_on_cpu) {
    workload.state = capture::Probe::State::missing;
    workload.detail = "a workload that was not built, which takes more than one line to say";
    workload.fix = "make build";
  }
  probes.push_back(workload);
  return probes;
}

TEST(FirstCommand, FitsWhatIsInstalled) {
  const auto command = [](const std::vector<std::string>& names) {
    return first_command(machine(names)).command;
  };
  EXPECT_EQ(command({"GPUs", "collector for CUDA", "torch", "transformers"}),
            "llmprof run model=llm/llama_1b");
  EXPECT_EQ(command({"GPUs", "nsys", "torch", "transformers"}), "llmprof run model=llm/llama_1b");
  EXPECT_EQ(command({"GPUs", "collector for CUDA", "torch"}), "llmprof run -- PROGRAM ARGUMENT...");
  EXPECT_EQ(command({"GPUs", "torch", "transformers"}), "llmprof run");  // nothing records the GPU
  EXPECT_EQ(command({"collector for CUDA", "torch", "transformers"}), "llmprof run");
  EXPECT_EQ(first_command(machine({}, false)).command, "");
}

TEST(FirstCommand, IsReportedByBoth) {
  const auto gpu = machine({"GPUs", "collector for CUDA", "torch", "transformers"});
  EXPECT_NE(doctor_text(gpu).find("\nTry first: `llmprof run model=llm/llama_1b` profiles a model "
                                  "with random weights on the GPU.\n"),
            std::string::npos);
  EXPECT_NE(doctor_json(gpu).find(R"("first_command": "llmprof run model=llm/llama_1b")"),
            std::string::npos);
  EXPECT_NE(doctor_json(machine({}, false)).find(R"("first_command": null)"), std::string::npos);
  EXPECT_NE(doctor_text(machine({}, false)).find("cannot profile the default workload"),
            std::string::npos);
}

TEST(DoctorText, KeepsToTheWidth) {
  for (const size_t width : {50U, 79U, 80U, 120U}) {
    std::istringstream lines(doctor_text(machine({"nsys"}, false), {width, false}));
    for (std::string line; std::getline(lines, line);)
      EXPECT_LE(report::display_width(line), width);
  }
}

}  // namespace
}  // namespace llmprof::cli
