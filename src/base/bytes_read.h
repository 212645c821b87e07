#pragma once

#include <cstdint>

namespace llmprof {

// How many bytes of files this process has read so far, for a progress line that asks ten times a
// second. Whoever reads files in bulk counts, once for each block: the count costs nothing, and
// readers need not know that somebody watches. Bytes are those of the file, compressed or not.
void count_bytes_read(uint64_t bytes);
uint64_t bytes_read();

}  // namespace llmprof
