#pragma once

#include <sys/types.h>

#include <climits>
#include <cstdint>

#include "collector/chunk.h"
#include "wire/log_format.h"

namespace llmprof::collector {

// The log of one process: its chunks are mapped one after another, so that written data is in the
// page cache at once and survives the process. The caller holds the recorder's lock.
class LogFile {
 public:
  // Sets the log folder (made absolute, so that it survives chdir) and the maximum size; without a
  // folder nothing is ever opened.
  void configure(const char* folder, const char* max_megabytes);
  [[nodiscard]] bool wanted() const { return folder_[0] != '\0'; }

  // Creates the folder if its parent exists, and <folder>/<pid>.llmtrace (rank3-<pid> in a
  // distributed job), or <pid>-2 and so on if that process ID was used before; sets `control` to
  // its chunk 0, after the file header. 0, or an errno.
  int create(Chunk& control);
  // Disk space is allocated before the chunk is mapped: a page that cannot be backed would kill the
  // process by SIGBUS. 0, or an errno.
  int map_next(MappedChunk& chunk);
  static Chunk begin_chunk(MappedChunk chunk, wire::ChunkKind kind, uint32_t thread);
  static void unmap(Chunk& chunk);
  static void unmap(MappedChunk chunk);
  // Keeps the first `chunks` of the file; the others must not be mapped. If it fails, the file is
  // unchanged.
  void truncate_to(uint64_t chunks);

  // For a forked child: the file is the parent's.
  void forget();

  [[nodiscard]] uint64_t chunks() const { return chunks_; }
  [[nodiscard]] const char* path() const { return path_[0] != '\0' ? path_ : folder_; }

 private:
  void name_rank();
  int open_new();
  int open_new_in_folder();
  int open_again();
  int ensure_open();
  [[nodiscard]] bool is_ours(int descriptor) const;

  char folder_[PATH_MAX] = {};
  char rank_[32] = {};
  char path_[PATH_MAX + 80] = {};
  uint64_t max_chunks_ = UINT64_MAX;
  uint64_t chunks_ = 0;
  int descriptor_ = -1;
  dev_t device_ = 0;
  ino_t inode_ = 0;
};

}  // namespace llmprof::collector
