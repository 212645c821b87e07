#include "collector/recorder.h"

#include <pthread.h>
#include <sched.h>
#include <sys/prctl.h>
#include <unistd.h>

#include <atomic>
#include <cstdio>
#include <cstdlib>
#include <cstring>

#include "collector/chunk.h"
#include "collector/environment.h"
#include "collector/log_file.h"
#include "collector/names.h"
#include "collector/ranks.h"
#include "wire/cuda_records.h"

namespace llmprof::collector {
namespace {

enum class Status : uint32_t {
  fresh,      // nothing recorded yet
  recording,  //
  full,       // there is a log, but it cannot grow any further
  off,        // there is none
};

constexpr size_t kReleasedChunks = 64;
constexpr size_t kCacheLine = 64;       // bytes
constexpr size_t kWorthKeeping = 4096;  // bytes

constinit thread_local ThreadState this_thread;

// The log of this process.
struct Recorder {
  std::atomic<Status> status = Status::fresh;
  std::atomic<uint64_t> dropped = 0;
  // Number of the process's log: a forked child starts another. Written in the child while it has
  // one thread.
  std::atomic<uint32_t> log_number = 1;
  // The process that owns the log. A child that was forked without pthread_atfork's handlers has a
  // copy of all this, but is not the owner.
  std::atomic<pid_t> owner = 0;

  // Guards the members below, up to device_lock. Separate from what every record reads.
  alignas(kCacheLine) pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
  LogFile file;
  Chunk control;
  Chunk strings;
  uint64_t dropped_written = 0;
  uint32_t last_serial = 0;
  bool warned = false;
  // The unused parts of chunks whose threads have ended, for new threads.
  Chunk released[kReleasedChunks];
  size_t released_count = 0;
  // Always the file's last chunks. The first is taken next; a new one is mapped only if there are
  // none.
  SpareChunks spares;
  bool no_more_spares = false;

  // GPU records have their own chunk and lock, which is taken before the other: CUPTI's buffers are
  // long.
  pthread_mutex_t device_lock = PTHREAD_MUTEX_INITIALIZER;
  Chunk device;

  pthread_key_t thread_end_key = 0;
  bool has_thread_end_key = false;
  bool busy_before_fork = false;  // of the thread that forks
};
constinit Recorder recorder;

// Only on a thread that is busy (see Call), so that a signal handler on it never waits for the same
// lock.
class LockedRecorder : public LockGuard {
 public:
  LockedRecorder() : LockGuard(recorder.lock) {}
};

// stderr gets one line per process, whatever fails.
void warn_of(const char* what, int error) {
  if (recorder.warned) return;
  recorder.warned = true;
  char text[PATH_MAX + 200];
  snprintf(text, sizeof text, "%s: %s: %s", what, recorder.file.path(), strerrordesc_np(error));
  write_line(text);
}

void stop_growing(int error) {
  if (recorder.status.load(std::memory_order_relaxed) != Status::recording) return;
  recorder.status.store(Status::full, std::memory_order_release);
  warn_of("the log cannot grow any further; later records are dropped and counted", error);
}

bool may_grow() {
  if (recorder.status.load(std::memory_order_relaxed) != Status::recording) return false;
  if (recorder.owner.load(std::memory_order_relaxed) == getpid()) return true;
  recorder.status.store(Status::off, std::memory_order_relaxed);
  return false;
}

// 0, or an errno.
int take_chunk(wire::ChunkKind kind, uint32_t thread, Chunk& chunk) {
  MappedChunk mapped;
  if (!recorder.spares.take(mapped)) {
    if (const int error = recorder.file.map_next(mapped); error != 0) return error;
  }
  chunk = LogFile::begin_chunk(mapped, kind, thread);
  return 0;
}

// For records that no thread of the program waits for: leaves as many spare chunks as it found.
int take_chunk_beside(wire::ChunkKind kind, Chunk& chunk) {
  const bool replace = !recorder.spares.empty() && !recorder.no_more_spares;
  if (const int error = take_chunk(kind, 0, chunk); error != 0) return error;
  MappedChunk mapped;
  if (replace && recorder.spares.wants_more() && recorder.file.map_next(mapped) == 0)
    recorder.spares.add(mapped);
  return 0;
}

// At powers of two: few records, and a killed process leaves a count that is right within a factor
// of 2.
void write_dropped() {
  const uint64_t count = recorder.dropped.load(std::memory_order_relaxed);
  if (count < 2 * recorder.dropped_written ||
      !recorder.control.fits(wire::record_bytes<wire::Dropped>()))
    return;
  recorder.dropped_written = count;
  put(recorder.control, wire::RecordType::dropped, wire::Dropped{now_ns(), count});
}

Status begin_log() {
  const LockedRecorder locked;
  const Status now = recorder.status.load(std::memory_order_relaxed);
  if (now != Status::fresh) return now;
  Status next = Status::off;
  if (recorder.file.wanted()) {
    const int error = recorder.file.create(recorder.control);
    if (error == 0) next = Status::recording;
    recorder.owner.store(getpid(), std::memory_order_relaxed);
    if (error != 0) warn_of("annotations are not recorded", error);
  }
  recorder.status.store(next, std::memory_order_release);
  return next;
}

void write_thread_info(ThreadState& thread) {
  wire::ThreadInfo info{};
  info.serial = thread.serial;
  info.thread_id = static_cast<uint32_t>(gettid());
  prctl(PR_GET_NAME, info.name);
  put(thread.chunk, wire::RecordType::thread_info, info);
}

// A thread's first chunk may be the remainder of another's. Later ones are new, so that its records
// are in the file in the order they were written: spare chunks are taken in file order, and as long
// as there are any, no newer one is taken.
bool renew_chunk(ThreadState& thread) {
  if (thread.serial != 0) {
    if (MappedChunk spare; recorder.spares.take(spare)) {
      LogFile::unmap(thread.chunk);
      thread.chunk = LogFile::begin_chunk(spare, wire::ChunkKind::thread, thread.serial);
      write_thread_info(thread);
      return true;
    }
  }
  const LockedRecorder locked;
  const bool first = thread.serial == 0;
  if (first) thread.serial = ++recorder.last_serial;
  if (first && recorder.released_count > 0) {
    thread.chunk = recorder.released[--recorder.released_count];
  } else {
    LogFile::unmap(thread.chunk);
    if (const int error = take_chunk(wire::ChunkKind::thread, thread.serial, thread.chunk);
        error != 0) {
      stop_growing(error);
      return false;
    }
  }
  write_thread_info(thread);
  return true;
}

void release_chunk(void* state) {
  auto& thread = *static_cast<ThreadState*>(state);
  const Call call;
  if (!call || !thread.chunk.mapped()) return;
  const LockedRecorder locked;
  if (recorder.released_count < kReleasedChunks && thread.chunk.fits(kWorthKeeping)) {
    recorder.released[recorder.released_count++] = thread.chunk;
  } else {
    LogFile::unmap(thread.chunk);
  }
  // If it records again while it ends, it is a new thread in the log.
  thread.chunk = {};
  thread.serial = 0;
}

wire::StringKey define_text(wire::StringKey key, const NameText& text) {
  const size_t bytes = wire::aligned(sizeof(wire::RecordHeader) + sizeof(wire::Text) + text.length);
  if (!recorder.strings.mapped() || !recorder.strings.fits(bytes)) {
    if (!may_grow()) return 0;
    LogFile::unmap(recorder.strings);
    const int error = take_chunk_beside(wire::ChunkKind::strings, recorder.strings);
    if (error != 0) {
      stop_growing(error);
      return 0;
    }
  }
  const wire::Text head = {key, text.length, static_cast<uint16_t>(text.cut ? 1 : 0)};
  unsigned char* payload = recorder.strings.cursor + sizeof(wire::RecordHeader);
  std::memcpy(payload, &head, sizeof head);
  std::memcpy(payload + sizeof head, text.bytes, text.length);
  publish(recorder.strings, wire::RecordType::string, static_cast<uint16_t>(bytes));
  return key;
}

void before_fork() {
  const bool busy = this_thread.busy;
  this_thread.busy = true;
  pthread_mutex_lock(&recorder.device_lock);
  pthread_mutex_lock(&recorder.lock);
  recorder.busy_before_fork = busy;
}

void after_fork_in_parent() {
  const bool busy = recorder.busy_before_fork;
  pthread_mutex_unlock(&recorder.lock);
  pthread_mutex_unlock(&recorder.device_lock);
  this_thread.busy = busy;
}

// The child has only this thread. Its mappings are the parent's log: it unmaps them and starts its
// own log with its first record.
void after_fork_in_child() {
  pthread_mutex_init(&recorder.lock, nullptr);
  pthread_mutex_init(&recorder.device_lock, nullptr);
  for (MappedChunk spare; recorder.spares.take(spare);) LogFile::unmap(spare);
  recorder.no_more_spares = false;
  LogFile::unmap(this_thread.chunk);
  LogFile::unmap(recorder.device);
  LogFile::unmap(recorder.strings);
  LogFile::unmap(recorder.control);
  for (; recorder.released_count > 0; --recorder.released_count)
    LogFile::unmap(recorder.released[recorder.released_count - 1]);
  this_thread.serial = 0;
  recorder.file.forget();
  forget_rank_facts();
  recorder.dropped.store(0, std::memory_order_relaxed);
  recorder.dropped_written = 0;
  recorder.last_serial = 0;
  recorder.log_number.fetch_add(1, std::memory_order_relaxed);
  recorder.status.store(Status::fresh, std::memory_order_relaxed);
  this_thread.busy = recorder.busy_before_fork;
}

// Truncates the file after the last chunk in use. Threads that still run may take spare chunks
// meanwhile; those stay in the file.
void truncate_spares() {
  recorder.no_more_spares = true;
  uint64_t first = recorder.file.chunks();
  uint64_t behind = first;
  for (MappedChunk spare; recorder.spares.take(spare);) {
    if (spare.sequence != behind) first = spare.sequence;
    behind = spare.sequence + 1;
    LogFile::unmap(spare);
  }
  if (first < behind && behind == recorder.file.chunks()) recorder.file.truncate_to(first);
}

bool lock_within_limit() {
  constexpr int kAttempts = 1000;
  for (int attempt = 0; attempt < kAttempts; ++attempt) {
    if (pthread_mutex_trylock(&recorder.lock) == 0) return true;
    sched_yield();
  }
  return false;
}

}  // namespace

Call::Call() : thread_(this_thread), entered_(!thread_.busy) {
  if (entered_) {
    thread_.busy = true;
  } else {
    recorder.dropped.fetch_add(1, std::memory_order_relaxed);
  }
}

Call::~Call() {
  if (entered_) thread_.busy = false;
}

OwnWork::OwnWork() : busy_before_(this_thread.busy) { this_thread.busy = true; }

OwnWork::~OwnWork() { this_thread.busy = busy_before_; }

bool recording() {
  Status now = recorder.status.load(std::memory_order_acquire);
  if (now == Status::fresh) {
    now = begin_log();
    if (now == Status::recording) write_rank_facts();
  }
  return now == Status::recording || now == Status::full;
}

Name* intern(const NameText& text) {
  if (Name* entry = find_name(text); entry != nullptr) return entry;
  const LockedRecorder locked;
  return add_name(text);
}

wire::StringKey define(Name* entry, const NameText& text) {
  const uint32_t log = recorder.log_number.load(std::memory_order_relaxed);
  if (entry != nullptr && entry->defined_in.load(std::memory_order_acquire) == log) {
    return entry->key;
  }
  if (recorder.status.load(std::memory_order_relaxed) != Status::recording) return 0;
  const LockedRecorder locked;
  const wire::StringKey key = define_text(entry != nullptr ? entry->key : next_key(), text);
  if (entry != nullptr && key != 0) entry->defined_in.store(log, std::memory_order_release);
  return key;
}

void record_variable(const char* name, const char* value) {
  const wire::Variable variable = {text_key(name), text_key(value)};
  if (variable.name == 0 || variable.value == 0) return;
  constexpr size_t kKeptFree = 1024;  // for counts of dropped records, and the end
  const LockedRecorder locked;
  if (!recorder.control.mapped() || !recorder.control.fits(kKeptFree)) return;
  put(recorder.control, wire::RecordType::variable, variable);
}

uint32_t current_log() { return recorder.log_number.load(std::memory_order_relaxed); }

void drop_record() {
  const uint64_t count = recorder.dropped.fetch_add(1, std::memory_order_relaxed) + 1;
  const bool power_of_two = (count & (count - 1)) == 0;
  if (!power_of_two) return;
  const LockedRecorder locked;
  write_dropped();
}

void map_chunks_ahead() {
  while (recorder.status.load(std::memory_order_relaxed) == Status::recording &&
         recorder.spares.wants_more()) {
    const LockedRecorder locked;
    if (recorder.no_more_spares) return;
    MappedChunk chunk;
    if (const int error = recorder.file.map_next(chunk); error != 0) return stop_growing(error);
    recorder.spares.add(chunk);
  }
}

bool write_device_record(wire::RecordType type, const void* head, size_t head_bytes,
                         const void* tail, size_t tail_bytes) {
  DeviceChunk chunk;
  const size_t bytes = sizeof(wire::RecordHeader) + head_bytes + tail_bytes;
  if (!chunk.make_room(wire::aligned(bytes))) return false;
  unsigned char* payload = chunk.chunk().cursor + sizeof(wire::RecordHeader);
  std::memcpy(payload, head, head_bytes);
  if (tail_bytes > 0) std::memcpy(payload + head_bytes, tail, tail_bytes);
  publish(chunk.chunk(), type, static_cast<uint16_t>(wire::aligned(bytes)));
  return true;
}

DeviceChunk::DeviceChunk() : locked_(recorder.device_lock) {}

Chunk& DeviceChunk::chunk() { return recorder.device; }

bool DeviceChunk::make_room(size_t bytes) {
  if (recorder.device.mapped() && recorder.device.fits(bytes)) return true;
  if (recording() && may_grow()) {
    const LockedRecorder locked;
    LogFile::unmap(recorder.device);
    const int error = take_chunk_beside(wire::ChunkKind::device, recorder.device);
    if (error == 0 && recorder.device.fits(bytes)) return true;
    if (error != 0) stop_growing(error);
  }
  drop_record();
  return false;
}

wire::StringKey text_key(const char* text) {
  const NameText measured_text = measured(text);
  return define(intern(measured_text), measured_text);
}

bool make_room(ThreadState& thread, size_t bytes) {
  if (may_grow() && renew_chunk(thread)) {
    if (recorder.has_thread_end_key) pthread_setspecific(recorder.thread_end_key, &thread);
    if (thread.chunk.fits(bytes)) return true;
  }
  drop_record();
  return false;
}

void prepare_recording() {
  read_roles();
  read_engine_texts();
  recorder.file.configure(secure_getenv("LLMPROF_LOG_DIR"), secure_getenv("LLMPROF_LOG_MAX_MB"));
  recorder.has_thread_end_key = pthread_key_create(&recorder.thread_end_key, release_chunk) == 0;
  pthread_atfork(before_fork, after_fork_in_parent, after_fork_in_child);
}

// Threads that still run continue to record: what they write stays readable.
void end_recording() {
  // A child that was forked without our handlers has its parent's log, and must not truncate it.
  if (recorder.owner.load(std::memory_order_relaxed) != getpid()) return;
  const Call call;
  if (call && recorder.status.load(std::memory_order_relaxed) == Status::recording) {
    write_process_title();
  }
  if (!lock_within_limit()) return;
  truncate_spares();
  if (recorder.control.mapped() && recorder.control.fits(wire::record_bytes<wire::CleanEnd>())) {
    put(recorder.control, wire::RecordType::clean_end,
        wire::CleanEnd{now_ns(), recorder.dropped.load(std::memory_order_relaxed),
                       recorder.file.chunks()});
  }
  pthread_mutex_unlock(&recorder.lock);
}

}  // namespace llmprof::collector
