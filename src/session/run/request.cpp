#include "session/run/request.h"

#include <cstdlib>

namespace llmprof {
namespace {

constexpr std::string_view kPrimaryConfig = "runner/stage2";

std::optional<std::string> variable(const std::string& name) {
  const char* value = std::getenv(name.c_str());
  return value == nullptr ? std::nullopt : std::optional<std::string>(value);
}

}  // namespace

Result<RunRequest> make_run_request(const RunArguments& arguments, std::string_view version,
                                    const std::atomic<bool>* stop) {
  const auto conf = ConfFiles::open(arguments.config_folder);
  if (!conf) return fail_with(conf.error());
  RunRequest request;
  request.program = find_program_files();
  ComposeContext context;
  context.working_folder = std::filesystem::current_path().string();
  context.home = request.program.home.string();
  context.bin = request.program.bin.string();
  context.environment = variable;
  auto config = compose(*conf, kPrimaryConfig, arguments.overrides, context);
  if (!config) return fail_with(config.error());
  auto options = read_run_options(*config, arguments.program);
  if (!options) return fail_with(options.error());
  request.config = std::move(*config);
  request.options = std::move(*options);
  if (arguments.out) request.options.run_folder = *arguments.out;
  request.config_folder = arguments.config_folder;
  request.force = arguments.force;
  request.version = version;
  request.stop = stop;
  return request;
}

}  // namespace llmprof
