#include "session/run/request.h"

#include "session/options/run_options.h"

namespace llmprof::session {

Result<RunRequest> make_run_request(const RunArguments& arguments, std::string_view version,
                                    const std::atomic<bool>* stop) {
  const auto conf = config::ConfFiles::open(arguments.config_folder);
  if (!conf) return fail_with(conf.error());
  RunRequest request;
  request.program = find_program_files();
  auto config =
      compose_run(*conf, arguments.overrides, arguments.program, config::compose_context_here());
  if (!config) return fail_with(config.error());
  auto options = read_run_options(*config, arguments.program);
  if (!options) return fail_with(options.error());
  request.config = std::move(*config);
  request.options = std::move(*options);
  request.captures =
      choose_captures(request.options, collector_reach(request.options, request.program));
  if (arguments.out) request.options.run_folder = *arguments.out;
  request.config_folder = arguments.config_folder;
  request.force = arguments.force;
  request.exports = arguments.exports;
  request.version = version;
  request.stop = stop;
  return request;
}

}  // namespace llmprof::session
