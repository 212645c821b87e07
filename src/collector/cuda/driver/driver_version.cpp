#include "collector/cuda/driver/driver_version.h"

#include <fcntl.h>
#include <unistd.h>

#include <cstdlib>

#include "collector/cuda/driver/nvml.h"

namespace llmprof::collector {
namespace {

bool find_in_file(const char* path, char (&version)[kDriverVersionBytes]) {
  constexpr size_t kRoom = 512;
  char text[kRoom] = {};
  const int descriptor = open(path, O_RDONLY | O_CLOEXEC);
  if (descriptor < 0) return false;
  const ssize_t length = read(descriptor, text, sizeof text - 1);
  close(descriptor);
  return length > 0 && find_version(text, version);
}

bool ask_nvml(char (&version)[kDriverVersionBytes]) {
  Nvml nvml;
  return load_nvml(secure_getenv("LLMPROF_NVML"), nvml) && nvml.driver_version != nullptr &&
         nvml.driver_version(version, sizeof version) == Nvml::kSuccess && version[0] != '\0';
}

}  // namespace

bool read_driver_version(bool may_ask_nvml, char (&version)[kDriverVersionBytes]) {
  return find_in_file("/sys/module/nvidia/version", version) ||
         find_in_file("/proc/driver/nvidia/version", version) ||
         (may_ask_nvml && ask_nvml(version));
}

}  // namespace llmprof::collector
