#include "cpu_llm/kept_peaks.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/file.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <ctime>
#include <nlohmann/json.hpp>
#include <thread>
#include <vector>

#include "base/files.h"

namespace cpu_llm {
namespace {

namespace fs = std::filesystem;
using Json = nlohmann::ordered_json;

constexpr int64_t kKeptSeconds = 90L * 24 * 60 * 60;
constexpr uintmax_t kLargestFile = 1U << 20U;
constexpr size_t kMostMachines = 100;
// Repeated measurements of a machine without other work differ by less.
constexpr double kSpread = 0.1;
constexpr double kGiga = 1e9;

struct KeptRate {
  double per_second = 0;
  int64_t measured_at = 0;  // seconds since 1970
};

struct KeptMachine {
  PeakKey key;
  KeptRate flops;
  KeptRate read;
  KeptRate copy;
};

Json json_of(const KeptRate& rate) {
  return {{"per_second", rate.per_second}, {"measured_at", rate.measured_at}};
}

Json json_of(const KeptMachine& machine) {
  return {{"cpu", machine.key.cpu},
          {"cpus", machine.key.cpus},
          {"threads", machine.key.threads},
          {"last_level_cache_bytes", machine.key.last_level_cache_bytes},
          {"library", machine.key.library},
          {"flops", json_of(machine.flops)},
          {"read_bytes", json_of(machine.read)},
          {"copied_bytes", json_of(machine.copy)}};
}

// Throws what nlohmann throws of a member that is not what it should be.
KeptRate rate_of(const Json& json) {
  return {json.at("per_second").get<double>(), json.at("measured_at").get<int64_t>()};
}

bool is_usable(const KeptRate& rate, int64_t now) {
  return std::isfinite(rate.per_second) && rate.per_second > 0 && rate.measured_at <= now &&
         now - rate.measured_at <= kKeptSeconds;
}

// Without what is damaged or old.
std::vector<KeptMachine> read_machines(const fs::path& file, int64_t now) {
  std::vector<KeptMachine> machines;
  std::error_code status;
  if (!fs::is_regular_file(file, status) || fs::file_size(file, status) > kLargestFile) {
    return machines;
  }
  const Json json = Json::parse(llmprof::file_content(file).value_or(""), nullptr, false);
  if (!json.is_object() || !json.contains("machines") || !json["machines"].is_array()) {
    return machines;
  }
  for (const Json& row : json["machines"]) {
    try {
      KeptMachine machine;
      machine.key = {row.at("cpu").get<std::string>(), row.at("cpus").get<size_t>(),
                     row.at("threads").get<size_t>(),
                     row.at("last_level_cache_bytes").get<size_t>(),
                     row.at("library").get<std::string>()};
      machine.flops = rate_of(row.at("flops"));
      machine.read = rate_of(row.at("read_bytes"));
      machine.copy = rate_of(row.at("copied_bytes"));
      if (is_usable(machine.flops, now) && is_usable(machine.read, now) &&
          is_usable(machine.copy, now)) {
        machines.push_back(std::move(machine));
      }
    } catch (const Json::exception&) {
      continue;
    }
  }
  return machines;
}

// Held while the file is read, changed and replaced. Not valid where it cannot be had: another
// process keeps it, or the folder cannot be written to.
llmprof::FileDescriptor lock_folder(const fs::path& folder) {
  constexpr int kTries = 20;
  constexpr std::chrono::milliseconds kPause(50);
  llmprof::FileDescriptor lock(
      ::open((folder / "cpu_peaks.lock").c_str(), O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0600));
  if (!lock.valid()) return lock;
  for (int i = 0; i < kTries; ++i) {
    if (::flock(lock.get(), LOCK_EX | LOCK_NB) == 0) return lock;
    std::this_thread::sleep_for(kPause);
  }
  return llmprof::FileDescriptor(-1);
}

void take_higher(double own, int64_t now, KeptRate& kept) {
  if (own > kept.per_second) kept = {own, now};
}

void keep(const Peaks& own, const PeakKey& key, const fs::path& folder, int64_t now) {
  std::error_code status;
  fs::create_directories(folder, status);
  const llmprof::FileDescriptor lock = lock_folder(folder);
  if (!lock.valid()) return;
  const fs::path file = folder / "cpu_peaks.json";
  std::vector<KeptMachine> machines = read_machines(file, now);
  auto known = std::find_if(machines.begin(), machines.end(),
                            [&](const KeptMachine& machine) { return machine.key == key; });
  if (known == machines.end()) {
    if (machines.size() >= kMostMachines) machines.erase(machines.begin());
    machines.push_back({key, {}, {}, {}});
    known = machines.end() - 1;
  }
  take_higher(own.flops_per_s, now, known->flops);
  take_higher(own.read_bytes_per_s, now, known->read);
  take_higher(own.copy_bytes_per_s, now, known->copy);
  Json rows = Json::array();
  for (const KeptMachine& machine : machines) rows.push_back(json_of(machine));
  const Json json = {{"version", 1}, {"machines", rows}};
  // A cache that cannot be written is none.
  [[maybe_unused]] const auto written = llmprof::write_file_atomically(
      file, json.dump(2, ' ', false, Json::error_handler_t::replace) + "\n");
}

std::optional<KeptMachine> find_kept(const fs::path& folder, const PeakKey& key, int64_t now) {
  for (KeptMachine& machine : read_machines(folder / "cpu_peaks.json", now)) {
    if (machine.key == key) return std::move(machine);
  }
  return std::nullopt;
}

std::string utc(int64_t seconds) {
  const std::time_t time = seconds;
  std::tm parts{};
  if (::gmtime_r(&time, &parts) == nullptr) return {};
  return fmt::format("{:04}-{:02}-{:02} {:02}:{:02}:{:02} UTC", parts.tm_year + 1900,
                     parts.tm_mon + 1, parts.tm_mday, parts.tm_hour, parts.tm_min, parts.tm_sec);
}

std::string below_kept(const Peaks& own, const KeptMachine& kept) {
  const bool flops = own.flops_per_s < (1 - kSpread) * kept.flops.per_second;
  const bool bytes = own.read_bytes_per_s < (1 - kSpread) * kept.read.per_second;
  if (!flops && !bytes) return {};
  return fmt::format("{:.1f} GFLOP/s and {:.1f} GB/s are less than is known of this machine",
                     own.flops_per_s / kGiga, own.read_bytes_per_s / kGiga);
}

}  // namespace

SettledPeaks settle_peaks(const Peaks& own, const PeakKey& key,
                          const std::optional<fs::path>& folder, int64_t now) {
  SettledPeaks settled;
  settled.used = settled.own = own;
  settled.from = "this_run";
  settled.measured_at = utc(now);
  if (!own.doubt.empty()) settled.note = own.doubt;
  const auto kept = folder ? find_kept(*folder, key, now) : std::nullopt;
  if (kept) {
    const bool flops = kept->flops.per_second >= own.flops_per_s;
    const bool bytes = kept->read.per_second >= own.read_bytes_per_s;
    settled.used.flops_per_s = std::max(own.flops_per_s, kept->flops.per_second);
    settled.used.read_bytes_per_s = std::max(own.read_bytes_per_s, kept->read.per_second);
    settled.used.copy_bytes_per_s = std::max(own.copy_bytes_per_s, kept->copy.per_second);
    if (flops) settled.measured_at = utc(kept->flops.measured_at);
    if (flops || bytes) settled.from = flops && bytes ? "kept" : "both";
    if (settled.note.empty()) settled.note = below_kept(own, *kept);
  }
  if (own.doubt.empty() && folder) keep(own, key, *folder, now);
  return settled;
}

}  // namespace cpu_llm
