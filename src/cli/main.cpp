#include <fcntl.h>
#include <malloc.h>
#include <unistd.h>

#include <csignal>
#include <cstdio>
#include <exception>
#include <new>
#include <string>
#include <system_error>
#include <vector>

#include "base/needed.h"
#include "base/text.h"
#include "cli/arguments.h"
#include "cli/command_table.h"
#include "cli/output.h"
#include "session/version.h"

namespace llmprof::cli {
namespace {

// If a reader closes our output, writing fails instead of ending the process. A closed standard
// stream must not become the first file that is opened, because output would be written to it: its
// descriptor gets a file that can be neither read nor written.
void prepare_standard_streams() {
  std::signal(SIGPIPE, SIG_IGN);
  for (const int descriptor : {STDIN_FILENO, STDOUT_FILENO, STDERR_FILENO}) {
    if (::fcntl(descriptor, F_GETFD) >= 0) continue;
    const int held = ::open("/", O_PATH);
    if (held < 0 || held == descriptor) continue;
    ::dup2(held, descriptor);
    ::close(held);
  }
}

int run_line(const std::vector<std::string>& words) {
  const TerminalVariables variables = terminal_variables_here();
  set_message_style(style_for(terminal_of(STDERR_FILENO), ColorWhen::automatic, variables));
  ParsedLine line = parse_line(words);
  set_message_style(style_for(terminal_of(STDERR_FILENO), line.color, variables));
  const report::TerminalStyle style = style_for(terminal_of(STDOUT_FILENO), line.color, variables);
  if (line.help) {
    return print(line.command == nullptr ? program_help(style)
                                         : command_help(*line.command, style));
  }
  if (line.version) return print(std::string(session::kVersion) + '\n');
  const CommandSpec& command = *line.command;
  return command.run({std::move(line), style});
}

}  // namespace
}  // namespace llmprof::cli

int main(int argc, char** argv) {
  llmprof::cli::prepare_standard_streams();
#ifdef M_MMAP_THRESHOLD
  // Larger blocks are returned to the system when they are freed. By default, glibc raises this
  // threshold and keeps blocks of many megabytes: a peak of 191 instead of 179 MB for a capture of
  // a million kernels.
  mallopt(M_MMAP_THRESHOLD, 4 << 20);
#endif
  try {
#ifdef __x86_64__
    if (!__builtin_cpu_supports("avx2")) {
      return llmprof::cli::complain(
          {llmprof::ErrorKind::tool, "this processor is too old: AVX2 (2013 or newer) is needed"});
    }
#endif
    return llmprof::cli::run_line({argv + 1, argv + argc});
  } catch (const llmprof::Failure& failure) {
    return llmprof::cli::complain(failure.error());
  } catch (const std::bad_alloc&) {
    std::fputs("llmprof: out of memory; close other programs, or analyze fewer files at once\n",
               stderr);
    return static_cast<int>(llmprof::ErrorKind::tool);
  } catch (const std::system_error& error) {
    // For example, no more threads or an unreadable disk: limits and faults of the machine.
    return llmprof::cli::complain(
        {llmprof::ErrorKind::tool, std::string("the system refused: ") + error.what()});
  } catch (const std::exception& error) {
    std::fprintf(stderr, "llmprof: internal error: %s\n",
                 llmprof::to_printable(error.what()).c_str());
  }
  return static_cast<int>(llmprof::ErrorKind::internal);
}
