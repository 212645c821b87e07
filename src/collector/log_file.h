#pragma once

#include <sys/types.h>

#include <climits>
#include <cstdint>

#include "collector/chunk.h"
#include "wire/log_format.h"

namespace llmprof::collector {

// The log of one process: chunks are given out one after another and mapped, so that what is
// written into them is the kernel's at once and survives the process. The caller holds the
// recorder's lock.
class LogFile {
 public:
  // Notes where logs go (an absolute path, so that it survives chdir) and how large one may grow;
  // without a folder nothing is ever opened.
  void configure(const char* folder, const char* max_megabytes);
  [[nodiscard]] bool wanted() const { return folder_[0] != '\0'; }

  // Creates the folder where its parent exists, <folder>/<pid>.llmtrace (rank3-<pid> in a
  // distributed job), or <pid>-2 and so on where a process of that id was before, and gives its
  // chunk 0, behind the file's header. 0, or an errno.
  int create(Chunk& control);
  // The disk's space is taken before the chunk is given out: a page that cannot be backed would
  // kill the process by SIGBUS. 0, or an errno.
  int map_next(MappedChunk& chunk);
  static Chunk begin_chunk(MappedChunk chunk, wire::ChunkKind kind, uint32_t thread);
  static void give_back(Chunk& chunk);
  static void give_back(MappedChunk chunk);
  // The file ends behind its first so many chunks; those that follow are mapped nowhere. Where it
  // fails the file stays as it is.
  void cut_to(uint64_t chunks);

  // In a forked child: the file is the parent's.
  void forget();

  [[nodiscard]] uint64_t chunks() const { return chunks_; }
  [[nodiscard]] const char* path() const { return path_[0] != '\0' ? path_ : folder_; }

 private:
  void name_rank();
  int open_new();
  int open_new_in_folder();
  int open_again();
  int have_it_open();
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
