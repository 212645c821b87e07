#include "capture/process.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <linux/close_range.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <csignal>
#include <filesystem>
#include <sstream>
#include <string_view>
#include <system_error>

#include "base/files.h"
#include "base/machine.h"
#include "base/text.h"

namespace llmprof::capture {
namespace {

// A script's first line names an interpreter and at most one argument for it.
constexpr size_t kInterpreterWords = 2;

bool runs(const std::vector<std::string>& arguments, const std::vector<std::string>& argv) {
  if (arguments.size() < argv.size()) return false;
  const size_t before = arguments.size() - argv.size();
  if (before > kInterpreterWords) return false;
  // The kernel passes a script's interpreter the path that was found on PATH.
  const auto name = [](const std::string& word) { return std::filesystem::path(word).filename(); };
  return name(arguments[before]) == name(argv.front()) &&
         std::equal(argv.begin() + 1, argv.end(),
                    arguments.begin() + static_cast<std::ptrdiff_t>(before) + 1);
}

Error cannot_start(std::string_view what, int error_number) {
  return {ErrorKind::tool, fmt::format("cannot start a program: {}: {}", what,
                                       std::generic_category().message(error_number))};
}

// Descriptors for the child's dup2 onto 0, 1 and 2 must not already be one of these.
FileDescriptor above_stdio(FileDescriptor fd) {
  if (!fd.valid() || fd.get() > STDERR_FILENO) return fd;
  return FileDescriptor(::fcntl(fd.get(), F_DUPFD_CLOEXEC, STDERR_FILENO + 1));
}

struct Pipe {
  FileDescriptor read{-1};
  FileDescriptor write{-1};
};

Result<void> open_pipe(Pipe& pipe) {
  std::array<int, 2> ends{};
  if (::pipe2(ends.data(), O_CLOEXEC) != 0) return fail_with(cannot_start("pipe", errno));
  pipe = {above_stdio(FileDescriptor(ends[0])), above_stdio(FileDescriptor(ends[1]))};
  if (!pipe.read.valid() || !pipe.write.valid()) return fail_with(cannot_start("pipe", errno));
  return {};
}

Result<void> open_file(const std::filesystem::path& path, int flags, FileDescriptor& file) {
  file = above_stdio(FileDescriptor(::open(path.c_str(), flags | O_CLOEXEC, 0644)));
  if (!file.valid()) return fail_with(system_error(ErrorKind::tool, path, errno));
  return {};
}

// Everything the child needs, prepared before the fork: after it only async-signal-safe calls are
// allowed, because other threads may have held locks.
struct Launch {
  const Command& command;
  const std::string& executable;
  int descriptor_of_launcher;
  std::vector<std::string> environment;
  std::vector<char*> argv_pointers;
  std::vector<char*> environment_pointers = {};
  FileDescriptor in{-1};
  FileDescriptor out{-1};
  FileDescriptor err{-1};
  Pipe output = {};
  Pipe exec_error = {};
};

std::vector<std::string> merged_environment(const Command& command) {
  std::vector<std::string> merged;
  for (char** entry = environ; entry != nullptr && *entry != nullptr; ++entry) {
    const std::string_view text(*entry);
    const bool replaced = std::ranges::any_of(command.environment, [&](const auto& variable) {
      return text.substr(0, text.find('=')) == variable.first;
    });
    if (!replaced) merged.emplace_back(text);
  }
  for (const auto& [name, value] : command.environment) {
    merged.push_back(fmt::format("{}={}", name, value));
  }
  return merged;
}

std::vector<char*> pointers_to(const std::vector<std::string>& texts) {
  std::vector<char*> pointers;
  pointers.reserve(texts.size() + 1);
  for (const std::string& text : texts) pointers.push_back(const_cast<char*>(text.c_str()));
  pointers.push_back(nullptr);
  return pointers;
}

Result<void> open_streams(Launch& launch) {
  constexpr int kWrite = O_WRONLY | O_CREAT | O_TRUNC | O_NOFOLLOW;
  const std::filesystem::path& out = launch.command.stdout_file;
  const std::filesystem::path& err = launch.command.stderr_file;
  const bool is_shared = !out.empty() && err == out;
  auto opened = open_file("/dev/null", O_RDONLY, launch.in);
  if (opened && !out.empty()) {
    opened = open_file(out, is_shared ? kWrite | O_APPEND : kWrite, launch.out);
  }
  if (opened && is_shared) {
    launch.err = FileDescriptor(::fcntl(launch.out.get(), F_DUPFD_CLOEXEC, STDERR_FILENO + 1));
    if (!launch.err.valid()) return fail_with(cannot_start("dup", errno));
  } else if (opened && !err.empty()) {
    opened = open_file(err, kWrite, launch.err);
  }
  if (opened && (!launch.out.valid() || !launch.err.valid())) {
    opened = open_pipe(launch.output);
    if (opened) ::fcntl(launch.output.read.get(), F_SETFL, O_NONBLOCK);
  }
  return opened ? open_pipe(launch.exec_error) : opened;
}

// MPICH's launchers, and srun --mpi=pmi2, communicate with a rank's MPI through a descriptor that
// the rank inherits.
int descriptor_of_launcher() {
  const auto number = parse_int(environment_variable("PMI_FD"));
  constexpr int64_t kMost = 1 << 20;
  return number && *number > STDERR_FILENO && *number < kMost ? static_cast<int>(*number) : -1;
}

[[noreturn]] void report_errno_and_exit(const FileDescriptor& to) {
  const int error_number = errno;
  [[maybe_unused]] const ssize_t written = ::write(to.get(), &error_number, sizeof error_number);
  ::_exit(127);
}

[[noreturn]] void become(const Launch& launch, pid_t parent) {
  if (launch.command.detached) {
    ::setsid();
  } else {
    ::setpgid(0, 0);
    ::prctl(PR_SET_PDEATHSIG, SIGTERM);
    if (::getppid() != parent) ::_exit(127);
  }
  sigset_t none;
  ::sigemptyset(&none);
  ::sigprocmask(SIG_SETMASK, &none, nullptr);
  ::signal(SIGPIPE, SIG_DFL);
  const int out = launch.out.valid() ? launch.out.get() : launch.output.write.get();
  const int err = launch.err.valid() ? launch.err.get() : launch.output.write.get();
  if (::dup2(launch.in.get(), STDIN_FILENO) < 0 || ::dup2(out, STDOUT_FILENO) < 0 ||
      ::dup2(err, STDERR_FILENO) < 0) {
    report_errno_and_exit(launch.exec_error.write);
  }
  // For descriptors that a library opened without O_CLOEXEC; old kernels lack the call.
  ::syscall(SYS_close_range, 3U, ~0U, CLOSE_RANGE_CLOEXEC);
  if (launch.descriptor_of_launcher >= 0) ::fcntl(launch.descriptor_of_launcher, F_SETFD, 0);
  const std::filesystem::path& folder = launch.command.working_folder;
  if (folder.empty() || ::chdir(folder.c_str()) == 0) {
    ::execve(launch.executable.c_str(), launch.argv_pointers.data(),
             launch.environment_pointers.data());
  }
  report_errno_and_exit(launch.exec_error.write);
}

// 0 once the program runs: its pipe then closed without data.
int read_exec_error(const FileDescriptor& from) {
  int error_number = 0;
  ssize_t got = 0;
  do {
    got = ::read(from.get(), &error_number, sizeof error_number);
  } while (got < 0 && errno == EINTR);
  return got == static_cast<ssize_t>(sizeof error_number) ? error_number : 0;
}

// Our parent may have left SIGCHLD ignored, and then no exit status could be read.
void make_children_waitable() {
  struct sigaction current{};
  if (::sigaction(SIGCHLD, nullptr, &current) == 0 && current.sa_handler == SIG_IGN) {
    ::signal(SIGCHLD, SIG_DFL);
  }
}

}  // namespace

// proc(5): "pid (name) state parent ..."; the name may hold anything, parentheses too.
std::optional<ProcessRow> read_process(pid_t pid) {
  constexpr int kFieldsBetweenParentAndStartTime = 17;
  const std::string text = file_content("/proc/" + std::to_string(pid) + "/stat").value_or("");
  const size_t name_end = text.rfind(')');
  if (name_end == std::string::npos) return std::nullopt;
  std::istringstream fields(text.substr(name_end + 1));
  ProcessRow row;
  row.pid = pid;
  char state = 0;
  fields >> state >> row.parent;
  std::string skipped;
  for (int i = 0; i < kFieldsBetweenParentAndStartTime; ++i) fields >> skipped;
  fields >> row.start_time;
  if (!fields) return std::nullopt;
  row.is_zombie = state == 'Z' || state == 'X';
  return row;
}

std::vector<ProcessRow> list_processes() {
  std::vector<ProcessRow> rows;
  for (const std::filesystem::path& entry : entries_of("/proc")) {
    const auto pid = parse_int(entry.filename().string());
    if (!pid) continue;
    if (auto row = read_process(static_cast<pid_t>(*pid))) rows.push_back(*row);
  }
  return rows;
}

std::vector<ProcessRow> descendants_of(pid_t root, const std::vector<ProcessRow>& processes) {
  std::vector<ProcessRow> found;
  std::vector<pid_t> parents = {root};
  for (size_t i = 0; i < parents.size(); ++i) {
    for (const ProcessRow& row : processes) {
      if (row.parent != parents[i]) continue;
      found.push_back(row);
      parents.push_back(row.pid);
    }
  }
  return found;
}

std::vector<std::string> process_arguments(pid_t pid) {
  const std::string text = file_content("/proc/" + std::to_string(pid) + "/cmdline").value_or("");
  std::vector<std::string_view> words = split(text, '\0');
  if (words.back().empty()) words.pop_back();  // each word ends with a zero
  return {words.begin(), words.end()};
}

pid_t find_wrapped(pid_t wrapper, const std::vector<std::string>& argv) {
  if (argv.empty()) return 0;
  for (const ProcessRow& row : descendants_of(wrapper, list_processes())) {
    if (!row.is_zombie && runs(process_arguments(row.pid), argv)) return row.pid;
  }
  return 0;
}

Result<StartedProcess> start_process(const Command& command, const std::string& executable) {
  Launch launch{command, executable, descriptor_of_launcher(), merged_environment(command),
                pointers_to(command.argv)};
  launch.environment_pointers = pointers_to(launch.environment);
  if (auto opened = open_streams(launch); !opened) return fail_with(opened.error());

  make_children_waitable();
  const pid_t parent = ::getpid();
  StartedProcess started;
  started.pid = ::fork();
  if (started.pid < 0) return fail_with(cannot_start("fork", errno));
  if (started.pid == 0) become(launch, parent);
  // The child does it too: whichever is first, the group exists before we could signal it.
  if (!command.detached) ::setpgid(started.pid, started.pid);
  launch.exec_error.write = FileDescriptor(-1);
  started.start_error = read_exec_error(launch.exec_error.read);
  started.output = std::move(launch.output.read);
  return started;
}

}  // namespace llmprof::capture
