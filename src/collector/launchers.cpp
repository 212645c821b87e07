#include "collector/launchers.h"

#include <climits>
#include <cstring>

#include "collector/small_file.h"

namespace llmprof::collector {
namespace {

constexpr const char* kLaunchers[] = {"torchrun",
                                      "torch.distributed.run",
                                      "torch.distributed.launch",
                                      "mpirun",
                                      "mpiexec",
                                      "mpiexec.hydra",
                                      "mpiexec.openmpi",
                                      "mpirun.openmpi",
                                      "orterun",
                                      "orted",
                                      "prterun",
                                      "prted",
                                      "hydra_pmi_proxy",
                                      "srun",
                                      "slurmstepd"};
// "/venv/bin/python -u -m torch.distributed.run": what follows may be the program's own.
constexpr int kArguments = 4;

bool names_launcher(const char* argument) {
  const char* slash = std::strrchr(argument, '/');
  const char* name = slash == nullptr ? argument : slash + 1;
  for (const char* launcher : kLaunchers) {
    if (std::strcmp(name, launcher) == 0) return true;
  }
  return false;
}

}  // namespace

bool is_launcher() {
  char arguments[2 * PATH_MAX];
  const size_t length = read_front("/proc/self/cmdline", arguments, sizeof arguments);
  const char* argument = arguments;
  for (int i = 0; i < kArguments && argument < arguments + length; ++i) {
    // An interpreter's options, then its script or module: arguments of that are not looked at.
    if (i > 0 && *argument != '-') return names_launcher(argument);
    if (names_launcher(argument)) return true;
    argument += std::strlen(argument) + 1;
  }
  return false;
}

}  // namespace llmprof::collector
