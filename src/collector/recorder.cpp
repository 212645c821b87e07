#include "collector/recorder.h"

#include <pthread.h>
#include <sched.h>
#include <sys/prctl.h>
#include <unistd.h>

#include <atomic>
#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <cstring>

#include "collector/clock.h"
#include "collector/device_records.h"
#include "collector/log_file.h"
#include "collector/roles.h"
#include "collector/spare_chunks.h"

namespace llmprof::collector {
namespace {

enum class Status : uint32_t {
  fresh,      // nothing recorded yet
  recording,  //
  full,       // there is a log, and it can grow no more
  off,        // there is none
};

constexpr size_t kReleasedChunks = 64;
constexpr size_t kWorthKeeping = 4096;  // bytes

constinit thread_local ThreadState this_thread;
constinit std::atomic<Status> status = Status::fresh;
constinit std::atomic<uint64_t> dropped = 0;

// Everything below is guarded by it.
constinit pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
constinit LogFile file;
constinit Chunk control;
constinit Chunk strings;
constinit uint64_t dropped_written = 0;
constinit uint32_t last_serial = 0;
constinit bool complained = false;
// The rest of chunks whose threads have ended, for threads that begin.
constinit Chunk released[kReleasedChunks];
constinit size_t released_count = 0;

// Always the file's last chunks: whoever needs one takes the first of them, and a new one only
// where there are none.
constinit SpareChunks spares;
constinit bool no_more_spares = false;

// What GPUs did has a lock and chunks of its own, taken before the other: CUPTI's buffers are long.
constinit pthread_mutex_t device_lock = PTHREAD_MUTEX_INITIALIZER;
constinit Chunk device;

// Logs of this process: a forked child begins another. Written in the child while it has one
// thread.
constinit std::atomic<uint32_t> log_number = 1;
// The process whose log it is. A child that was forked without pthread_atfork's handlers has all of
// this in its memory, and is another.
constinit std::atomic<pid_t> owner = 0;
constinit pthread_key_t thread_end_key = 0;
constinit bool thread_end_known = false;

// For a thread that is busy (see Call): a signal handler of its own must not come to want it as
// well. A thread that is cancelled ends after it, not within.
class Locked {
 public:
  explicit Locked(pthread_mutex_t& mutex = lock) : mutex_(mutex) {
    pthread_setcancelstate(PTHREAD_CANCEL_DISABLE, &cancel_state_);
    pthread_mutex_lock(&mutex_);
  }
  ~Locked() {
    pthread_mutex_unlock(&mutex_);
    pthread_setcancelstate(cancel_state_, nullptr);
  }
  Locked(const Locked&) = delete;
  Locked& operator=(const Locked&) = delete;

 private:
  pthread_mutex_t& mutex_;
  int cancel_state_ = 0;
};

// stderr gets one line a process, whatever goes wrong.
void complain(const char* what, int trouble) {
  if (complained) return;
  complained = true;
  char line[PATH_MAX + 200];
  const int length = snprintf(line, sizeof line, "llmprof: %s: %s: %s\n", what, file.path(),
                              strerrordesc_np(trouble));
  if (length <= 0) return;
  const size_t bytes =
      static_cast<size_t>(length) < sizeof line ? static_cast<size_t>(length) : sizeof line - 1;
  [[maybe_unused]] const ssize_t written = write(STDERR_FILENO, line, bytes);
}

void stop_growing(int trouble) {
  if (status.load(std::memory_order_relaxed) != Status::recording) return;
  status.store(Status::full, std::memory_order_release);
  complain("the log can grow no more; later annotations are dropped and counted", trouble);
}

bool may_grow() {
  if (status.load(std::memory_order_relaxed) != Status::recording) return false;
  if (owner.load(std::memory_order_relaxed) == getpid()) return true;
  status.store(Status::off, std::memory_order_relaxed);
  return false;
}

// 0, or an errno.
int take_chunk(wire::ChunkKind kind, uint32_t thread, Chunk& chunk) {
  MappedChunk mapped;
  if (!spares.take(mapped)) {
    if (const int trouble = file.map_next(mapped); trouble != 0) return trouble;
  }
  chunk = LogFile::begin_chunk(mapped, kind, thread);
  return 0;
}

// For what no thread of the program waits for: it leaves them as many spare chunks as it found.
int take_chunk_beside(wire::ChunkKind kind, Chunk& chunk) {
  const bool replace = !spares.empty() && !no_more_spares;
  if (const int trouble = take_chunk(kind, 0, chunk); trouble != 0) return trouble;
  MappedChunk mapped;
  if (replace && spares.wants_more() && file.map_next(mapped) == 0) spares.add(mapped);
  return 0;
}

// Doubling counts: few records, and a killed process leaves one that is right within a factor of 2.
void write_dropped() {
  const uint64_t count = dropped.load(std::memory_order_relaxed);
  if (count < 2 * dropped_written || !control.fits(wire::record_bytes<wire::Dropped>())) return;
  dropped_written = count;
  put(control, wire::RecordType::dropped, wire::Dropped{now_ns(), count});
}

Status begin_log() {
  const Locked locked;
  const Status now = status.load(std::memory_order_relaxed);
  if (now != Status::fresh) return now;
  Status next = Status::off;
  if (file.wanted()) {
    const int trouble = file.create(control);
    if (trouble == 0) next = Status::recording;
    owner.store(getpid(), std::memory_order_relaxed);
    if (trouble != 0) complain("annotations are not recorded", trouble);
  }
  status.store(next, std::memory_order_release);
  return next;
}

void write_thread_info(ThreadState& thread) {
  wire::ThreadInfo info{};
  info.serial = thread.serial;
  info.thread_id = static_cast<uint32_t>(gettid());
  prctl(PR_GET_NAME, info.name);
  put(thread.chunk, wire::RecordType::thread_info, info);
}

// A thread's first chunk may be the rest of another's. Its further ones are new, so that its
// records stand in the file in the order they were made: spare chunks are taken in the file's
// order, and while there are any, nobody takes a newer one.
bool renew_chunk(ThreadState& thread) {
  if (thread.serial != 0) {
    if (MappedChunk spare; spares.take(spare)) {
      LogFile::give_back(thread.chunk);
      thread.chunk = LogFile::begin_chunk(spare, wire::ChunkKind::thread, thread.serial);
      write_thread_info(thread);
      return true;
    }
  }
  const Locked locked;
  const bool first = thread.serial == 0;
  if (first) thread.serial = ++last_serial;
  if (first && released_count > 0) {
    thread.chunk = released[--released_count];
  } else {
    LogFile::give_back(thread.chunk);
    if (const int trouble = take_chunk(wire::ChunkKind::thread, thread.serial, thread.chunk);
        trouble != 0) {
      stop_growing(trouble);
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
  const Locked locked;
  if (released_count < kReleasedChunks && thread.chunk.fits(kWorthKeeping)) {
    released[released_count++] = thread.chunk;
  } else {
    LogFile::give_back(thread.chunk);
  }
  // Should it record again while it ends, it is a new thread to the log.
  thread.chunk = {};
  thread.serial = 0;
}

wire::StringKey define_text(wire::StringKey key, const NameText& text) {
  const size_t bytes = wire::aligned(sizeof(wire::RecordHeader) + sizeof(wire::Text) + text.length);
  if (!strings.mapped() || !strings.fits(bytes)) {
    if (!may_grow()) return 0;
    LogFile::give_back(strings);
    const int trouble = take_chunk_beside(wire::ChunkKind::strings, strings);
    if (trouble != 0) {
      stop_growing(trouble);
      return 0;
    }
  }
  const wire::Text head = {key, text.length, static_cast<uint16_t>(text.cut ? 1 : 0)};
  unsigned char* payload = strings.cursor + sizeof(wire::RecordHeader);
  std::memcpy(payload, &head, sizeof head);
  std::memcpy(payload + sizeof head, text.bytes, text.length);
  publish(strings, wire::RecordType::string, static_cast<uint16_t>(bytes));
  return key;
}

constinit bool busy_before_fork = false;

void before_fork() {
  const bool busy = this_thread.busy;
  this_thread.busy = true;
  pthread_mutex_lock(&device_lock);
  pthread_mutex_lock(&lock);
  busy_before_fork = busy;
}

void after_fork_in_parent() {
  const bool busy = busy_before_fork;
  pthread_mutex_unlock(&lock);
  pthread_mutex_unlock(&device_lock);
  this_thread.busy = busy;
}

// The child has this thread alone. Its mappings are the parent's log: it lets go of them and begins
// its own with its first record.
void after_fork_in_child() {
  pthread_mutex_init(&lock, nullptr);
  pthread_mutex_init(&device_lock, nullptr);
  for (MappedChunk spare; spares.take(spare);) LogFile::give_back(spare);
  no_more_spares = false;
  LogFile::give_back(this_thread.chunk);
  LogFile::give_back(device);
  LogFile::give_back(strings);
  LogFile::give_back(control);
  for (; released_count > 0; --released_count) LogFile::give_back(released[released_count - 1]);
  this_thread.serial = 0;
  file.forget();
  dropped.store(0, std::memory_order_relaxed);
  dropped_written = 0;
  last_serial = 0;
  log_number.fetch_add(1, std::memory_order_relaxed);
  status.store(Status::fresh, std::memory_order_relaxed);
  this_thread.busy = busy_before_fork;
}

// The file's end, up to the first chunk that somebody has. Threads that still run may take spare
// chunks meanwhile; what they took stays in the file.
void cut_off_spares() {
  no_more_spares = true;
  uint64_t first = file.chunks();
  uint64_t behind = first;
  for (MappedChunk spare; spares.take(spare);) {
    if (spare.sequence != behind) first = spare.sequence;
    behind = spare.sequence + 1;
    LogFile::give_back(spare);
  }
  if (first < behind && behind == file.chunks()) file.cut_to(first);
}

bool lock_within_reason() {
  constexpr int kAttempts = 1000;
  for (int attempt = 0; attempt < kAttempts; ++attempt) {
    if (pthread_mutex_trylock(&lock) == 0) return true;
    sched_yield();
  }
  return false;
}

}  // namespace

Call::Call() : thread_(this_thread), entered_(!thread_.busy) {
  if (entered_) {
    thread_.busy = true;
  } else {
    dropped.fetch_add(1, std::memory_order_relaxed);
  }
}

Call::~Call() {
  if (entered_) thread_.busy = false;
}

OwnWork::OwnWork() : busy_before_(this_thread.busy) { this_thread.busy = true; }

OwnWork::~OwnWork() { this_thread.busy = busy_before_; }

bool recording() {
  Status now = status.load(std::memory_order_acquire);
  if (now == Status::fresh) now = begin_log();
  return now == Status::recording || now == Status::full;
}

Name* intern(const NameText& text) {
  if (Name* entry = find_name(text); entry != nullptr) return entry;
  const Locked locked;
  return add_name(text);
}

wire::StringKey define(Name* entry, const NameText& text) {
  const uint32_t log = log_number.load(std::memory_order_relaxed);
  if (entry != nullptr && entry->defined_in.load(std::memory_order_acquire) == log) {
    return entry->key;
  }
  if (status.load(std::memory_order_relaxed) != Status::recording) return 0;
  const Locked locked;
  const wire::StringKey key = define_text(entry != nullptr ? entry->key : next_key(), text);
  if (entry != nullptr && key != 0) entry->defined_in.store(log, std::memory_order_release);
  return key;
}

uint32_t current_log() { return log_number.load(std::memory_order_relaxed); }

void drop_record() {
  const uint64_t count = dropped.fetch_add(1, std::memory_order_relaxed) + 1;
  const bool power_of_two = (count & (count - 1)) == 0;
  if (!power_of_two) return;
  const Locked locked;
  write_dropped();
}

void prepare_chunks() {
  while (status.load(std::memory_order_relaxed) == Status::recording && spares.wants_more()) {
    const Locked locked;
    if (no_more_spares) return;
    MappedChunk chunk;
    if (const int trouble = file.map_next(chunk); trouble != 0) return stop_growing(trouble);
    spares.add(chunk);
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

DeviceChunk::DeviceChunk() {
  pthread_setcancelstate(PTHREAD_CANCEL_DISABLE, &cancel_state_);
  pthread_mutex_lock(&device_lock);
}

DeviceChunk::~DeviceChunk() {
  pthread_mutex_unlock(&device_lock);
  pthread_setcancelstate(cancel_state_, nullptr);
}

Chunk& DeviceChunk::chunk() { return device; }

bool DeviceChunk::make_room(size_t bytes) {
  if (device.mapped() && device.fits(bytes)) return true;
  if (recording() && may_grow()) {
    const Locked locked;
    LogFile::give_back(device);
    const int trouble = take_chunk_beside(wire::ChunkKind::device, device);
    if (trouble == 0 && device.fits(bytes)) return true;
    if (trouble != 0) stop_growing(trouble);
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
    if (thread_end_known) pthread_setspecific(thread_end_key, &thread);
    if (thread.chunk.fits(bytes)) return true;
  }
  drop_record();
  return false;
}

void prepare_recording() {
  read_roles();
  file.configure(secure_getenv("LLMPROF_LOG_DIR"), secure_getenv("LLMPROF_LOG_MAX_MB"));
  thread_end_known = pthread_key_create(&thread_end_key, release_chunk) == 0;
  pthread_atfork(before_fork, after_fork_in_parent, after_fork_in_child);
}

// Threads that still run go on recording: what they write stays readable.
void end_recording() {
  // A child that no handler saw being forked has its parent's log, which is not its to cut.
  if (owner.load(std::memory_order_relaxed) != getpid()) return;
  const Call call;
  if (!lock_within_reason()) return;
  cut_off_spares();
  if (control.mapped() && control.fits(wire::record_bytes<wire::CleanEnd>())) {
    put(control, wire::RecordType::clean_end,
        wire::CleanEnd{now_ns(), dropped.load(std::memory_order_relaxed), file.chunks()});
  }
  pthread_mutex_unlock(&lock);
}

}  // namespace llmprof::collector
