#include <fmt/format.h>
#include <unistd.h>

#include <csignal>

#include "agents/tools.h"
#include "base/needed.h"
#include "base/text.h"
#include "cli/commands.h"
#include "cli/output.h"
#include "cli/stop_signals.h"
#include "mcp/http_server.h"
#include "mcp/stdio_server.h"

namespace llmprof::cli {
namespace {

// The port of "127.0.0.1:8000". Others could read the answers on any other address.
uint16_t port_of(std::string_view address) {
  constexpr int64_t kLastPort = 65535;
  const size_t colon = address.rfind(':');
  const std::string_view host = address.substr(0, colon);
  const auto port =
      colon == std::string_view::npos ? std::nullopt : parse_int(address.substr(colon + 1));
  if ((host != "127.0.0.1" && host != "localhost") || !port || *port < 0 || *port > kLastPort) {
    give_up(ErrorKind::usage,
            fmt::format("--http: '{}' is not 127.0.0.1:PORT; clients on other machines need a "
                        "tunnel, such as ssh -L",
                        to_printable(address)));
  }
  return static_cast<uint16_t>(*port);
}

}  // namespace

int mcp_command(const Arguments& arguments) {
  const std::vector<std::string> paths = arguments.all("RUN");
  const auto address = arguments.text("--http");
  const std::optional<uint16_t> port = address ? std::optional(port_of(*address)) : std::nullopt;
  agents::ServeOptions options;
  options.paths = {paths.begin(), paths.end()};
  options.config_folder = arguments.text("--config-dir");
  options.show_paths = arguments.flag("--show-paths");
  agents::ServedRuns served(std::move(options));
  const mcp::Protocol protocol(agents::server_info(), agents::all_tools(served));
  if (!port) {
    if (::isatty(STDIN_FILENO) != 0) {
      print_message(
          "waits for an agent's messages on standard input, one per line; docs/mcp.md has "
          "the setup");
    }
    needed(mcp::serve_stdio(protocol, STDIN_FILENO, STDOUT_FILENO));
    return 0;
  }
  stop_on_signals();
  const auto listening = [](uint16_t chosen) {
    print_message(fmt::format("listening on http://127.0.0.1:{}{}", chosen, mcp::kHttpPath));
  };
  needed(mcp::serve_http(protocol, *port, listening, stop_wanted));
  return 0;
}

}  // namespace llmprof::cli
