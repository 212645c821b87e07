// Replaces the system's clocks in a test: they stand still until the test, or a fake, calls
// usleep(), which returns at once. So results do not depend on the machine's speed. Forked
// processes share the time.
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <atomic>
#include <cstdint>
#include <ctime>
#include <new>

namespace {

constexpr int64_t kMicrosecond = 1'000;
constexpr int64_t kSecond = 1'000'000'000;
constexpr clockid_t kClocks = CLOCK_BOOTTIME + 1;

int64_t read_system_clock(clockid_t clock) {
  timespec time{};
  syscall(SYS_clock_gettime, clock, &time);
  return time.tv_sec * kSecond + time.tv_nsec;
}

struct PlayedTime {
  std::atomic<int64_t> passed{0};
  int64_t at_start[kClocks] = {};

  PlayedTime() {
    for (clockid_t clock = 0; clock < kClocks; ++clock) at_start[clock] = read_system_clock(clock);
  }
};

PlayedTime& played() {
  static auto* const shared = new (mmap(nullptr, sizeof(PlayedTime), PROT_READ | PROT_WRITE,
                                        MAP_SHARED | MAP_ANONYMOUS, -1, 0)) PlayedTime;
  return *shared;
}

// Before any process is forked.
const PlayedTime& at_program_start = played();

bool stands_still(clockid_t clock) {
  return clock >= 0 && clock < kClocks && clock != CLOCK_PROCESS_CPUTIME_ID &&
         clock != CLOCK_THREAD_CPUTIME_ID;
}

}  // namespace

extern "C" {

int clock_gettime(clockid_t clock, timespec* time) noexcept {
  const int64_t now =
      stands_still(clock) ? played().at_start[clock] + played().passed : read_system_clock(clock);
  *time = {now / kSecond, now % kSecond};
  return 0;
}

int usleep(useconds_t microseconds) {
  played().passed += microseconds * kMicrosecond;
  return 0;
}

}  // extern "C"
