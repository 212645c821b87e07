#include "collector/small_file.h"

#include <fcntl.h>
#include <unistd.h>

namespace llmprof::collector {

size_t read_front(const char* path, char* to, size_t room) {
  to[0] = '\0';
  const int descriptor = open(path, O_RDONLY | O_CLOEXEC);
  if (descriptor < 0) return 0;
  const ssize_t got = read(descriptor, to, room - 1);
  close(descriptor);
  const size_t length = got > 0 ? static_cast<size_t>(got) : 0;
  to[length] = '\0';
  return length;
}

}  // namespace llmprof::collector
