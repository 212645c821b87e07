#include <pthread.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include <atomic>
#include <csignal>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <ctime>

#include "collector/cuda/allocations/allocation_events.h"
#include "collector/cuda/control/schedule.h"
#include "collector/cuda/control/tracing_control.h"
#include "collector/cuda/counters/counter_rounds.h"
#include "collector/cuda/driver/driver.h"
#include "collector/cuda/driver/memory_readings.h"
#include "collector/cuda/tracing/memory_calls.h"
#include "collector/cuda/tracing/resources.h"
#include "collector/environment.h"
#include "collector/ranks.h"
#include "collector/recorder.h"

namespace llmprof::collector {
namespace {

constexpr size_t kLongestCommand = 32;

int open_socket() {
  const int descriptor = socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
  if (descriptor < 0) return -1;
  sockaddr_un address{};
  address.sun_family = AF_UNIX;
  // A name that starts with a null byte is abstract: it leaves no file.
  const int length = snprintf(address.sun_path + 1, sizeof address.sun_path - 1, "llmprof.%ld",
                              static_cast<long>(getpid()));
  const auto bytes =
      static_cast<socklen_t>(offsetof(sockaddr_un, sun_path) + 1 + static_cast<size_t>(length));
  const int on = 1;
  if (setsockopt(descriptor, SOL_SOCKET, SO_PASSCRED, &on, sizeof on) != 0 ||
      bind(descriptor, reinterpret_cast<sockaddr*>(&address), bytes) != 0) {
    close(descriptor);
    return -1;
  }
  return descriptor;
}

const char* answer_to(const char* command) {
  if (std::strcmp(command, "arm") == 0) return arm_by_command();
  if (std::strcmp(command, "disarm") == 0) return disarm_by_command();
  if (std::strcmp(command, "status") == 0) return describe_state();
  return "error: unknown command; available: arm, disarm, status\n";
}

bool may_command(msghdr& message) {
  for (cmsghdr* part = CMSG_FIRSTHDR(&message); part != nullptr;
       part = CMSG_NXTHDR(&message, part)) {
    if (part->cmsg_level != SOL_SOCKET || part->cmsg_type != SCM_CREDENTIALS) continue;
    ucred sender{};
    std::memcpy(&sender, CMSG_DATA(part), sizeof sender);
    return sender.uid == 0 || sender.uid == geteuid();
  }
  return false;
}

// False if nothing has arrived.
bool answer_one(int descriptor) {
  char command[kLongestCommand + 1] = {};
  iovec text = {command, kLongestCommand};
  sockaddr_un from{};
  alignas(cmsghdr) char credentials[CMSG_SPACE(sizeof(ucred))] = {};
  msghdr message{};
  message.msg_name = &from;
  message.msg_namelen = sizeof from;
  message.msg_iov = &text;
  message.msg_iovlen = 1;
  message.msg_control = credentials;
  message.msg_controllen = sizeof credentials;
  if (recvmsg(descriptor, &message, MSG_DONTWAIT | MSG_CMSG_CLOEXEC) <= 0) return false;
  const char* answer = may_command(message)
                           ? answer_to(command)
                           : "error: only the user of this process and root may send commands\n";
  sendto(descriptor, answer, std::strlen(answer), MSG_DONTWAIT | MSG_NOSIGNAL,
         reinterpret_cast<sockaddr*>(&from), message.msg_namelen);
  return true;
}

// Answers pending commands to this process, `llmprof arm` and `disarm`: datagrams to the abstract
// Unix socket "llmprof.<pid>", from the process's own user or root.
void answer_commands() {
  constexpr int kNotOpened = -2;
  static constinit int descriptor = kNotOpened;
  if (descriptor == kNotOpened) descriptor = open_socket();
  while (answer_one(descriptor)) {
  }
}

timespec after(clockid_t clock, int64_t nanoseconds) {
  constexpr int64_t kSecond = 1'000'000'000;
  const int64_t time = read_clock(clock) + nanoseconds;
  return {time / kSecond, time % kSecond};
}

// A thread of the collector inside the program. It does not sleep on a file descriptor: a program
// may close descriptors that it does not know, and reuse their numbers.
class CollectorThread {
 public:
  void start(void* (*work)(void*)) {
    sigset_t all;
    sigset_t before;
    sigfillset(&all);
    // Signals are delivered to the program's threads only.
    pthread_sigmask(SIG_SETMASK, &all, &before);
    if (pthread_create(&thread_, nullptr, work, nullptr) == 0) {
      owner_.store(getpid(), std::memory_order_release);
    }
    pthread_sigmask(SIG_SETMASK, &before, nullptr);
  }

  // For the thread itself: sleeps until it is woken, at most `milliseconds`.
  void sleep(int milliseconds) {
    constexpr int64_t kMillisecond = 1'000'000;
    const timespec until = after(CLOCK_MONOTONIC, milliseconds * kMillisecond);
    pthread_mutex_lock(&lock_);
    int result = 0;
    while (!woken_ && result == 0) {
      result = pthread_cond_clockwait(&wakes_, &lock_, CLOCK_MONOTONIC, &until);
    }
    woken_ = false;
    pthread_mutex_unlock(&lock_);
  }
  [[nodiscard]] bool must_stop() const { return stopping_.load(std::memory_order_acquire); }

  // From any thread; if it is not sleeping yet, its next sleep() returns at once.
  void wake() {
    pthread_mutex_lock(&lock_);
    woken_ = true;
    pthread_cond_signal(&wakes_);
    pthread_mutex_unlock(&lock_);
  }

  void stop() {
    constexpr int64_t kPatience = 2'000'000'000;
    if (pid_t ours = getpid(); !owner_.compare_exchange_strong(ours, 0)) return;
    stopping_.store(true, std::memory_order_release);
    wake();
    const timespec until = after(CLOCK_REALTIME, kPatience);
    pthread_timedjoin_np(thread_, nullptr, &until);
  }

 private:
  pthread_mutex_t lock_ = PTHREAD_MUTEX_INITIALIZER;
  pthread_cond_t wakes_ = PTHREAD_COND_INITIALIZER;
  bool woken_ = false;
  std::atomic<bool> stopping_{false};
  pthread_t thread_{};
  // The process that runs the thread: a forked child does not.
  std::atomic<pid_t> owner_{0};
};
constinit CollectorThread worker;
constinit CollectorThread counter_thread;
constinit Settings settings_of_threads;

// A killed process loses at most what CUPTI held: 50 ms plus the time of a hand-over.
constexpr int kWakeInterval = 20;                  // ms
constexpr int64_t kHandOverInterval = 50'000'000;  // ns
constexpr int kDetachingInterval = 5;              // ms, with a hand-over each
constexpr int64_t kTitleInterval = 1'000'000'000;  // ns
constexpr int kIdleInterval = 100;  // ms, while nothing is recorded: the latency of `llmprof arm`

int next_interval() {
  if (is_detaching()) return kDetachingInterval;
  return is_recording() ? kWakeInterval : kIdleInterval;
}

void* run_worker(void* /*unused*/) {
  prctl(PR_SET_NAME, "llmprof");
  int64_t last_hand_over = now_ns();
  int64_t last_title = last_hand_over;
  answer_commands();  // opens the socket
  if (settings_of_threads.memory != Settings::Memory::off) read_memory_before_context();
  while (!worker.must_stop()) {
    worker.sleep(next_interval());
    answer_commands();
    arm_when_due();
    if (is_recording()) map_chunks_ahead();
    if (!cuda_is_ready()) continue;
    write_driver_facts(settings_of_threads.counters.sensors);
    if (const int64_t now = now_ns(); now - last_hand_over >= kHandOverInterval || is_detaching()) {
      hand_over_records();
      last_hand_over = now;
    }
    if (const int64_t now = now_ns(); now - last_title >= kTitleInterval) {
      write_process_title();
      last_title = now;
    }
    if (notes_memory_calls()) write_pools();
    read_memory_if_due(last_memory_change());
    follow_time();
    finish_detaching();
  }
  return nullptr;
}

constexpr int kReadInterval = 20;       // ms
constexpr int kIdleReadInterval = 200;  // ms, while nothing is recorded

class Sampling {
 public:
  void follow() {
    if (!may_sample()) return end();
    if (!on_ && !begin()) return;
    const uint64_t requests = requests_begun();
    if (!start_.is_due(now_ns(), settings_of_threads.counters.rounds, requests, last_allocation()))
      return;
    const bool in_rounds = settings_of_threads.counters.rounds && !was_detached_;
    if (in_rounds && !rounds_.wants_samples(now_ns(), requests)) return pause_counters();
    if (start_counters(in_rounds && requests > 0)) rounds_.begin(now_ns(), requests_begun());
    drain_counters();
  }

  void end() {
    if (!on_) return;
    stop_counters();
    was_detached_ = true;
    on_ = false;
    note_sampling(false);
  }

 private:
  // False if CUPTI is about to be detached.
  bool begin() {
    note_sampling(true);
    if (!may_sample()) {
      note_sampling(false);
      return false;
    }
    on_ = true;
    start_.begin(now_ns());
    prepare_counters(settings_of_threads.counters);
    // The exit handlers of libraries loaded meanwhile run before ours: both threads must end before
    // them.
    if (!stops_at_exit_) stops_at_exit_ = std::atexit(stop_threads) == 0;
    return true;
  }

  bool on_ = false;
  CounterStart start_;
  bool stops_at_exit_ = false;
  // Counters then stay enabled: CUPTI could not enable them again.
  bool was_detached_ = false;
  CounterRounds rounds_;
};

void* sample(void* /*unused*/) {
  prctl(PR_SET_NAME, "llmprof-count");
  Sampling sampling;
  while (!counter_thread.must_stop()) {
    counter_thread.sleep(is_recording() ? kReadInterval : kIdleReadInterval);
    if (!cuda_is_ready()) continue;
    sampling.follow();
    sample_sensors();
  }
  sampling.end();
  end_counters();
  return nullptr;
}

}  // namespace

void start_threads(const Settings& settings) {
  settings_of_threads = settings;
  worker.start(run_worker);
  counter_thread.start(sample);
}

void stop_threads() {
  counter_thread.stop();
  worker.stop();
}

void wake_collector() {
  worker.wake();
  counter_thread.wake();
}

}  // namespace llmprof::collector
