#pragma once

#include <cstddef>

namespace llmprof::collector {

// Reads the front of a file of /proc; ends it with a zero byte. Returns how many bytes it read.
size_t read_front(const char* path, char* to, size_t room);

}  // namespace llmprof::collector
