#include "base/machine/cpu_times.h"

#include <fmt/format.h>
#include <sched.h>
#include <sys/resource.h>
#include <unistd.h>

#include <charconv>

#include "base/files.h"

namespace llmprof {
namespace {

// user nice system idle iowait irq softirq steal: guests are in user already.
constexpr size_t kColumns = 8;
constexpr size_t kIdle = 3;
constexpr size_t kIoWait = 4;

// "cpu0 72002 40848 ...": the ticks of all but the idle columns; none if it is not such a line.
std::optional<double> busy_ticks(std::string_view line) {
  double busy = 0;
  size_t column = 0;
  line.remove_prefix(line.find(' '));
  for (; column < kColumns && !line.empty(); ++column) {
    line.remove_prefix(std::min(line.find_first_not_of(' '), line.size()));
    uint64_t ticks = 0;
    const auto [end, status] = std::from_chars(line.data(), line.data() + line.size(), ticks);
    if (status != std::errc()) break;
    line.remove_prefix(static_cast<size_t>(end - line.data()));
    if (column != kIdle && column != kIoWait) busy += static_cast<double>(ticks);
  }
  if (column <= kIdle) return std::nullopt;
  return busy;
}

std::vector<size_t> usable_cpus() {
  cpu_set_t set;
  CPU_ZERO(&set);
  std::vector<size_t> cpus;
  if (sched_getaffinity(0, sizeof set, &set) != 0) return cpus;
  for (size_t cpu = 0; cpu < CPU_SETSIZE; ++cpu) {
    if (CPU_ISSET(cpu, &set)) cpus.push_back(cpu);
  }
  return cpus;
}

double seconds(const timeval& time) {
  constexpr double kMicro = 1e-6;
  return static_cast<double>(time.tv_sec) + kMicro * static_cast<double>(time.tv_usec);
}

}  // namespace

std::optional<CpuTimes> cpu_times(std::string_view proc_stat, const std::vector<size_t>& cpus,
                                  double ticks_per_second) {
  CpuTimes times;
  for (const size_t cpu : cpus) {
    const std::string head = fmt::format("\ncpu{} ", cpu);
    const size_t at = proc_stat.find(head);
    if (at == std::string_view::npos) return std::nullopt;
    std::string_view line = proc_stat.substr(at + 1);
    const auto ticks = busy_ticks(line.substr(0, line.find('\n')));
    if (!ticks) return std::nullopt;
    times.busy += *ticks / ticks_per_second;
    ++times.cpus;
  }
  if (times.cpus == 0) return std::nullopt;
  return times;
}

std::optional<CpuTimes> usable_cpu_times() {
  const long ticks = sysconf(_SC_CLK_TCK);
  const auto text = file_content("/proc/stat");
  if (ticks <= 0 || !text) return std::nullopt;
  return cpu_times(*text, usable_cpus(), static_cast<double>(ticks));
}

double own_cpu_seconds() {
  double sum = 0;
  for (const auto who : {RUSAGE_SELF, RUSAGE_CHILDREN}) {
    rusage usage{};
    if (getrusage(who, &usage) == 0) sum += seconds(usage.ru_utime) + seconds(usage.ru_stime);
  }
  return sum;
}

}  // namespace llmprof
