#pragma once

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/types.h>
#include <unistd.h>

#include <cerrno>
#include <climits>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>

#include "collector/chunk.h"
#include "collector/environment.h"
#include "collector/ranks.h"
#include "wire/log_format.h"

namespace llmprof::collector {

inline constexpr uint64_t kMinChunks = 4;

template <size_t Size>
void copy_text(char (&to)[Size], const char* from) {
  const size_t length = strnlen(from, Size - 1);
  std::memcpy(to, from, length);
  to[length] = '\0';
}

inline void write_executable_name(wire::FileHeader& header) {
  char path[PATH_MAX] = {};
  if (readlink("/proc/self/exe", path, sizeof path - 1) <= 0) return;
  const char* slash = strrchr(path, '/');
  copy_text(header.executable, slash == nullptr ? path : slash + 1);
}

inline void write_file_header(unsigned char* to) {
  wire::FileHeader header{};
  header.process_id = static_cast<uint64_t>(getpid());
  header.parent_process_id = static_cast<uint64_t>(getppid());
  header.monotonic_ns = now_ns();
  header.wall_ns = read_clock(CLOCK_REALTIME);
  write_executable_name(header);
  char host[HOST_NAME_MAX + 1] = {};
  if (gethostname(host, HOST_NAME_MAX) == 0) copy_text(header.host, host);
  copy_text(header.collector_version, LLMPROF_VERSION);
  read_boot_id(header.boot_id);
  header.time_namespace = time_namespace();
  header.checksum = wire::header_checksum(header);
  std::memcpy(to, &header, sizeof header);
}

inline void write_chunk_header(unsigned char* to, wire::ChunkKind kind, uint32_t thread,
                               uint64_t sequence) {
  const wire::ChunkHeader header = wire::chunk_header(kind, sequence, thread);
  std::memcpy(to, &header, sizeof header);
}

// A program may have closed its standard streams: their numbers must stay free.
inline int above_standard_streams(int descriptor) {
  if (descriptor > STDERR_FILENO || descriptor < 0) return descriptor;
  const int higher = fcntl(descriptor, F_DUPFD_CLOEXEC, STDERR_FILENO + 1);
  close(descriptor);
  return higher;
}

// Growing beyond the limit would raise SIGXFSZ, which terminates the program.
inline bool beyond_size_limit(uint64_t bytes) {
  rlimit limit{};
  return getrlimit(RLIMIT_FSIZE, &limit) == 0 && limit.rlim_cur != RLIM_INFINITY &&
         bytes > limit.rlim_cur;
}

inline int take_space(int descriptor, uint64_t offset) {
  int error = EINTR;
  while (error == EINTR) {
    error = posix_fallocate(descriptor, static_cast<off_t>(offset), wire::kChunkBytes);
  }
  return error;
}

// Saves threads that fill the chunk from page faults. MAP_POPULATE would prepare shared pages only
// for reading: the first write to each would still take 2 us.
inline void touch_pages(void* chunk) {
  constexpr size_t kSmallestPage = 4096;
  auto* bytes = static_cast<volatile unsigned char*>(chunk);
  for (size_t at = 0; at < wire::kChunkBytes; at += kSmallestPage) bytes[at] = 0;
}

// The absolute path of a folder that need not exist. False if its parent does not exist.
inline bool absolute_in_parent(const char* folder, char (&absolute)[PATH_MAX]) {
  char parent[PATH_MAX] = {};
  copy_text(parent, folder);
  size_t length = std::strlen(parent);
  while (length > 1 && parent[length - 1] == '/') parent[--length] = '\0';
  char* slash = strrchr(parent, '/');
  const char* name = slash == nullptr ? parent : slash + 1;
  char whole[PATH_MAX] = {};
  if (slash != nullptr) *slash = '\0';
  const char* above = slash == nullptr ? "." : parent;
  if (realpath(*above == '\0' ? "/" : above, whole) == nullptr) return false;
  const int written = snprintf(absolute, sizeof absolute, "%s/%s", whole, name);
  return written > 0 && static_cast<size_t>(written) < sizeof absolute;
}

// The log of one process: its chunks are mapped one after another, so that written data is in the
// page cache at once and survives the process. The caller holds the recorder's lock.
class LogFile {
 public:
  // Sets the log folder (made absolute, so that it survives chdir) and the maximum size; without a
  // folder nothing is ever opened.
  void configure(const char* folder, const char* max_megabytes) {
    if (folder == nullptr || *folder == '\0') return;
    // If even its parent does not exist, the path is kept unchanged, for the message.
    if (realpath(folder, folder_) == nullptr && !absolute_in_parent(folder, folder_)) {
      copy_text(folder_, folder);
    }
    if (max_megabytes == nullptr) return;
    constexpr uint64_t kChunksPerMegabyte = (1U << 20U) / wire::kChunkBytes;
    const uint64_t megabytes = strtoull(max_megabytes, nullptr, 10);
    if (megabytes == 0 || megabytes > UINT32_MAX) return;
    const uint64_t chunks = megabytes * kChunksPerMegabyte;
    max_chunks_ = chunks < kMinChunks ? kMinChunks : chunks;
  }

  [[nodiscard]] bool wanted() const { return folder_[0] != '\0'; }

  // Creates the folder if its parent exists, and <folder>/<pid>.llmtrace (rank3-<pid> in a
  // distributed job), or <pid>-2 and so on if that process ID was used before; sets `control` to
  // its chunk 0, after the file header. 0, or an errno.
  int create(Chunk& control) {
    name_rank();
    if (const int error = open_new_in_folder(); error != 0) return error;
    struct stat info{};
    if (fstat(descriptor_, &info) != 0) return errno;
    device_ = info.st_dev;
    inode_ = info.st_ino;
    MappedChunk first;
    if (const int error = map_next(first); error != 0) {
      unlink(path_);
      return error;
    }
    unsigned char* begin = first.begin;
    write_chunk_header(begin + sizeof(wire::FileHeader), wire::ChunkKind::control, 0, 0);
    write_file_header(begin);
    control = {begin + sizeof(wire::FileHeader) + sizeof(wire::ChunkHeader),
               begin + wire::kChunkBytes, 0};
    return 0;
  }

  // Disk space is allocated before the chunk is mapped: a page that cannot be backed would kill the
  // process by SIGBUS. 0, or an errno.
  int map_next(MappedChunk& chunk) {
    if (const int error = ensure_open(); error != 0) return error;
    const uint64_t offset = chunks_ * wire::kChunkBytes;
    if (chunks_ >= max_chunks_ || beyond_size_limit(offset + wire::kChunkBytes)) return EFBIG;
    if (const int error = take_space(descriptor_, offset); error != 0) return error;
    void* mapped = mmap(nullptr, wire::kChunkBytes, PROT_READ | PROT_WRITE, MAP_SHARED, descriptor_,
                        static_cast<off_t>(offset));
    if (mapped == MAP_FAILED) return errno;
    touch_pages(mapped);
    chunk = {static_cast<unsigned char*>(mapped), chunks_++};
    return 0;
  }

  static Chunk begin_chunk(MappedChunk chunk, wire::ChunkKind kind, uint32_t thread) {
    write_chunk_header(chunk.begin, kind, thread, chunk.sequence);
    return {chunk.begin + sizeof(wire::ChunkHeader), chunk.begin + wire::kChunkBytes,
            chunk.sequence};
  }
  static void unmap(Chunk& chunk) {
    if (chunk.mapped()) munmap(chunk.end - wire::kChunkBytes, wire::kChunkBytes);
    chunk = {};
  }
  static void unmap(MappedChunk chunk) { munmap(chunk.begin, wire::kChunkBytes); }
  // Keeps the first `chunks` of the file; the others must not be mapped. If it fails, the file is
  // unchanged.
  void truncate_to(uint64_t chunks) {
    if (ensure_open() != 0) return;
    const auto bytes = static_cast<off_t>(chunks * wire::kChunkBytes);
    if (ftruncate(descriptor_, bytes) == 0) chunks_ = chunks;
  }

  // For a forked child: the file is the parent's.
  void forget() {
    if (descriptor_ >= 0 && is_ours(descriptor_)) close(descriptor_);
    descriptor_ = -1;
    chunks_ = 0;
    path_[0] = '\0';
  }

  [[nodiscard]] uint64_t chunks() const { return chunks_; }
  [[nodiscard]] const char* path() const { return path_[0] != '\0' ? path_ : folder_; }

 private:
  // "rank3-" if a launcher of distributed programs, or an engine in the process that it forked, set
  // a rank.
  void name_rank() {
    rank_[0] = '\0';
    const char* rank = global_rank();
    if (rank != nullptr) snprintf(rank_, sizeof rank_, "rank%s-", rank);
  }
  int open_new() {
    constexpr unsigned kMaxAttempts = 1000;
    constexpr mode_t kMode = 0644;
    for (unsigned attempt = 1; attempt <= kMaxAttempts; ++attempt) {
      const long pid = getpid();
      const int length = snprintf(path_, sizeof path_, "%s/%s%ld", folder_, rank_, pid);
      char* end = path_ + length;
      const size_t room = sizeof path_ - static_cast<size_t>(length);
      if (attempt == 1) {
        snprintf(end, room, ".llmtrace");
      } else {
        snprintf(end, room, "-%u.llmtrace", attempt);
      }
      const int descriptor = open(path_, O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, kMode);
      if (descriptor < 0 && errno == EEXIST) continue;
      descriptor_ = above_standard_streams(descriptor);
      return descriptor_ < 0 ? errno : 0;
    }
    return EEXIST;
  }

  // The folder is created with the first log, its parents never: a wrong path is reported, not
  // created.
  int open_new_in_folder() {
    constexpr mode_t kMode = 0755;
    const int error = open_new();
    if (error != ENOENT) return error;
    if (mkdir(folder_, kMode) != 0 && errno != EEXIST) return errno;
    return open_new();
  }

  // Programs that become daemons close all descriptors; ours may refer to another file by now.
  int open_again() {
    const int descriptor = above_standard_streams(open(path_, O_RDWR | O_CLOEXEC));
    if (descriptor < 0) return errno;
    if (!is_ours(descriptor)) {
      close(descriptor);
      return ENOENT;
    }
    descriptor_ = descriptor;
    return 0;
  }

  int ensure_open() { return is_ours(descriptor_) ? 0 : open_again(); }
  [[nodiscard]] bool is_ours(int descriptor) const {
    struct stat info{};
    return fstat(descriptor, &info) == 0 && info.st_dev == device_ && info.st_ino == inode_;
  }

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
