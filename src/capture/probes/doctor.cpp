#include "capture/probes/doctor.h"

#include <algorithm>
#include <array>
#include <future>
#include <system_error>

#include "base/files.h"
#include "capture/probes/probe_families.h"
#include "capture/process.h"

namespace llmprof::capture {
namespace {

constexpr std::array kFamilies = {
    probe_nvidia_tools,  probe_cupti,    probe_gpus,   probe_counters,
    probe_running_tools, probe_sampling, probe_python, probe_own_files,
};

constexpr size_t kAnswerBytes = 64UL << 10U;

}  // namespace

std::optional<std::string> answer(const DoctorOptions& options, std::vector<std::string> argv) {
  Command command;
  command.argv = std::move(argv);
  command.environment = {{"LC_ALL", "C"}};
  command.timeout = options.timeout;
  command.grace = std::chrono::milliseconds(0);
  command.output_tail_bytes = kAnswerBytes;
  auto ended = run_process(command);
  if (!ended || !ended->succeeded()) return std::nullopt;
  return std::move(ended->output_tail);
}

std::optional<std::string> system_file(const DoctorOptions& options, const std::string& name) {
  return file_content(options.search.root / name);
}

std::vector<Probe> probe_machine(const DoctorOptions& given) {
  DoctorOptions options = given;
  if (options.program_folder.empty()) {
    std::error_code status;
    options.program_folder = std::filesystem::read_symlink("/proc/self/exe", status).parent_path();
  }
  std::vector<std::future<std::vector<Probe>>> asked;
  asked.reserve(kFamilies.size());
  for (const auto family : kFamilies) {
    asked.push_back(std::async(std::launch::async, family, std::cref(options)));
  }
  std::vector<Probe> probes;
  for (auto& answers : asked) {
    for (Probe& probe : answers.get()) probes.push_back(std::move(probe));
  }
  return probes;
}

bool can_run_on_cpu(const std::vector<Probe>& probes) {
  return std::all_of(probes.begin(), probes.end(), [](const Probe& probe) {
    return !probe.needed || probe.state == Probe::State::found;
  });
}

}  // namespace llmprof::capture
