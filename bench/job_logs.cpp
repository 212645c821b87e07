// Writes the collector's logs of a job with many ranks: a tensor-parallel decoder with two
// all-reduces per layer, which all ranks end together. Times are jittered, so that they compress
// like a real program's.
//
//   bench_job_logs FOLDER RANKS KERNELS [SLOW_RANK [EVERY]]
//
// KERNELS is per rank, approximately; every EVERY-th kernel is an all-reduce (default and maximum:
// 16).

#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <iterator>
#include <map>
#include <memory>
#include <random>
#include <sstream>
#include <string>
#include <vector>

#include "wire/cuda_records.h"
#include "wire/log_format.h"

namespace {

namespace wire = llmprof::wire;

constexpr uint32_t kChunk = wire::kChunkBytes;
constexpr uint32_t kThread = 1;

// One rank's log. Only the chunks being filled are in memory.
class Log {
 public:
  Log(const std::string& path, uint64_t process)
      : file_(open(path.c_str(), O_CREAT | O_RDWR, 0644)) {
    if (file_ < 0) std::exit((std::perror(path.c_str()), 1));
    wire::FileHeader header{};
    header.process_id = process;
    header.monotonic_ns = 1000;
    header.wall_ns = 1'700'000'000'000'001'000;
    std::snprintf(header.executable, sizeof header.executable, "decoder");
    std::snprintf(header.host, sizeof header.host, "node%llu",
                  static_cast<unsigned long long>(process / 8));
    header.checksum = wire::header_checksum(header);
    Chunk& control = begin(wire::ChunkKind::control, 0, sizeof header);
    std::memcpy(control.bytes.data(), &header, sizeof header);
  }
  Log(const Log&) = delete;
  Log& operator=(const Log&) = delete;
  ~Log() {
    for (auto& [kind, chunk] : chunks_) write(*chunk);
    close(file_);
  }

  template <class Payload>
  void add(wire::ChunkKind kind, wire::RecordType type, const Payload& payload) {
    add(kind, type, &payload, sizeof payload);
  }

  void add(wire::ChunkKind kind, wire::RecordType type, const void* payload, size_t size) {
    auto known = chunks_.find(kind);
    if (known == chunks_.end() || known->second->used + record_bytes(size) > kChunk) {
      if (known != chunks_.end()) write(*known->second);
      Chunk& fresh = begin(kind, kind == wire::ChunkKind::thread ? kThread : 0, 0);
      known = chunks_.find(kind);
      const wire::ThreadInfo info{kThread, 4711, "python"};
      if (kind == wire::ChunkKind::thread) {
        put(fresh, wire::RecordType::thread_info, &info, sizeof info);
      }
    }
    put(*known->second, type, payload, size);
  }

  wire::StringKey key(const std::string& text) {
    const auto [known, is_new] = keys_.try_emplace(text, static_cast<uint32_t>(keys_.size() + 1));
    if (is_new) {
      std::vector<char> payload(wire::aligned(sizeof(wire::Text) + text.size()), '\0');
      const wire::Text head{known->second, static_cast<uint16_t>(text.size()), 0};
      std::memcpy(payload.data(), &head, sizeof head);
      std::memcpy(payload.data() + sizeof head, text.data(), text.size());
      add(wire::ChunkKind::strings, wire::RecordType::string, payload.data(), payload.size());
    }
    return known->second;
  }

  [[nodiscard]] uint64_t chunks() const { return next_; }

 private:
  struct Chunk {
    uint64_t sequence = 0;
    size_t used = 0;
    std::array<char, kChunk> bytes{};
  };

  static uint16_t record_bytes(size_t size) {
    return static_cast<uint16_t>(wire::aligned(sizeof(wire::RecordHeader) + size));
  }

  Chunk& begin(wire::ChunkKind kind, uint32_t thread, size_t front) {
    auto chunk = std::make_unique<Chunk>();
    chunk->sequence = next_++;
    const wire::ChunkHeader header = wire::chunk_header(kind, chunk->sequence, thread);
    std::memcpy(chunk->bytes.data() + front, &header, sizeof header);
    chunk->used = front + sizeof header;
    return *(chunks_[kind] = std::move(chunk));
  }

  static void put(Chunk& chunk, wire::RecordType type, const void* payload, size_t size) {
    const auto bytes = record_bytes(size);
    char* at = chunk.bytes.data() + chunk.used;
    std::memcpy(at + sizeof(wire::RecordHeader), payload, size);
    const wire::RecordHeader header{
        type, bytes,
        wire::record_checksum(chunk.sequence, type, bytes, at + sizeof(wire::RecordHeader))};
    std::memcpy(at, &header, sizeof header);
    chunk.used += bytes;
  }

  void write(const Chunk& chunk) const {
    const auto place = static_cast<off_t>(chunk.sequence * kChunk);
    if (pwrite(file_, chunk.bytes.data(), kChunk, place) != kChunk)
      std::exit((std::perror("log"), 1));
  }

  int file_;
  uint64_t next_ = 0;
  std::map<wire::ChunkKind, std::unique_ptr<Chunk>> chunks_;
  std::map<std::string, wire::StringKey> keys_;
};

constexpr uint32_t kLaunchCode = 1;
constexpr uint32_t kLaunchTime = 2500;
constexpr size_t kBatch = 64;

// One rank: a host that launches, and a GPU that executes.
class Rank {
 public:
  Rank(const std::string& folder, uint32_t rank, double slow)
      : log_(folder + "/rank" + std::to_string(rank) + "-" + std::to_string(4711 + rank) +
                 ".llmtrace",
             rank),
        slow_(slow),
        chance_(rank + 1) {
    wire::CudaSession session{now_, 13000, 130001, log_.key("/opt/libcupti.so.13"), 0};
    log_.add(wire::ChunkKind::control, wire::RecordType::cuda_session, session);
    wire::CudaDevice device{};
    device.sm_count = 132;
    device.memory_bytes = 150'109'880'320;
    device.memory_bandwidth = 4'814'304'000'000;
    device.clock_hz = 1'980'000'000;
    device.capability_major = 9;
    std::memset(device.uuid, static_cast<int>(rank), sizeof device.uuid);
    std::snprintf(device.name, sizeof device.name, "NVIDIA H200");
    log_.add(wire::ChunkKind::control, wire::RecordType::cuda_device, device);
    const wire::Variable variable{log_.key("RANK"), log_.key(std::to_string(rank))};
    log_.add(wire::ChunkKind::control, wire::RecordType::variable, variable);
    const wire::ApiName name{log_.key("cudaLaunchKernel"), kLaunchCode};
    log_.add(wire::ChunkKind::strings, wire::RecordType::api_name, name);
    collect(wire::TracingState::tracing, wire::TracingReason::program_start);
  }
  ~Rank() {
    flush();
    collect(wire::TracingState::detached, wire::TracingReason::process_end);
    const wire::CleanEnd end{now_, 0, log_.chunks()};
    log_.add(wire::ChunkKind::control, wire::RecordType::clean_end, end);
  }
  Rank(const Rank&) = delete;
  Rank& operator=(const Rank&) = delete;

  void push(const std::string& name) {
    const wire::RangePush range{now_, log_.key(name), log_.key("LLM"), depth_++, 0};
    log_.add(wire::ChunkKind::thread, wire::RecordType::range_push, range);
    now_ += 100;
  }
  void pop() {
    const wire::RangePop range{now_, log_.key("LLM"), --depth_};
    log_.add(wire::ChunkKind::thread, wire::RecordType::range_pop, range);
    now_ += 100;
  }

  void compute(const char* name, int64_t time) {
    const int64_t start = launch(name);
    end(start, start + static_cast<int64_t>(static_cast<double>(time) * slow_) + jitter(time / 8));
  }
  // Each rank starts a collective by itself; it ends for all ranks together.
  int64_t begin_collective(const char* name) { return pending_start_ = launch(name); }
  void end_collective(int64_t at) { end(pending_start_, at + jitter(300)); }

  // The host waits for its GPU.
  void wait() { now_ = std::max(now_, gpu_free_) + 1000; }

 private:
  int64_t jitter(int64_t most) {
    return static_cast<int64_t>(chance_() % static_cast<uint64_t>(most + 1));
  }

  int64_t launch(const char* name) {
    const auto time = static_cast<uint32_t>(kLaunchTime + jitter(400));
    const wire::Launch call{now_, (kLaunchCode << wire::kLaunchDurationBits) | time,
                            ++correlation_};
    log_.add(wire::ChunkKind::thread, wire::RecordType::launch, call);
    now_ += time + 200 + jitter(200);
    definition_ = define(name);
    return std::max(now_ + 500, gpu_free_ + 300 + jitter(200));
  }

  uint32_t define(const char* name) {
    const auto [known, is_new] =
        definitions_.try_emplace(name, static_cast<uint32_t>(definitions_.size() + 1));
    if (is_new) {
      wire::KernelDefinition kernel{};
      kernel.key = known->second;
      kernel.name = log_.key(name);
      std::fill_n(kernel.grid, 3, 1U);
      std::fill_n(kernel.block, 3, 1U);
      kernel.grid[0] = 132;
      kernel.block[0] = 128;
      kernel.context = 1;
      kernel.stream = 7;
      log_.add(wire::ChunkKind::device, wire::RecordType::kernel_definition, kernel);
    }
    return known->second;
  }

  void end(int64_t start, int64_t end) {
    if (batch_.empty()) base_ = start;
    batch_.push_back({static_cast<int32_t>(start - base_), static_cast<uint32_t>(end - start),
                      correlation_, definition_});
    gpu_free_ = end;
    if (batch_.size() == kBatch) flush();
  }

  void flush() {
    if (batch_.empty()) return;
    std::vector<char> payload(sizeof(wire::KernelBatch) + batch_.size() * sizeof(wire::Kernel));
    const wire::KernelBatch head{base_, static_cast<uint32_t>(batch_.size()), 0};
    std::memcpy(payload.data(), &head, sizeof head);
    std::memcpy(payload.data() + sizeof head, batch_.data(), batch_.size() * sizeof(wire::Kernel));
    log_.add(wire::ChunkKind::device, wire::RecordType::kernels, payload.data(), payload.size());
    batch_.clear();
  }

  void collect(wire::TracingState state, wire::TracingReason reason) {
    const wire::TracingChange change{now_, state, reason, 0, 0, 0};
    log_.add(wire::ChunkKind::control, wire::RecordType::tracing_change, change);
  }

  Log log_;
  double slow_;
  std::mt19937_64 chance_;
  std::map<std::string, uint32_t> definitions_;
  std::vector<wire::Kernel> batch_;
  int64_t base_ = 0;
  int64_t now_ = 1'000'000;
  int64_t gpu_free_ = 0;
  int64_t pending_start_ = 0;
  uint32_t correlation_ = 0;
  uint32_t definition_ = 0;
  uint32_t depth_ = 0;
};

std::vector<std::string> words(const char* text) {
  std::istringstream stream(text);
  return {std::istream_iterator<std::string>(stream), {}};
}

class Job {
 public:
  Job(const std::string& folder, uint32_t ranks, uint32_t slow_rank, uint32_t every)
      : computing_(std::clamp<size_t>(every, 2, attention_.size() + 1) - 1) {
    for (uint32_t rank = 0; rank < ranks; ++rank) {
      ranks_.push_back(std::make_unique<Rank>(folder, rank, rank == slow_rank ? 1.3 : 1.0));
    }
  }

  // Runs prefill and decode; returns one rank's number of kernels.
  uint64_t request() {
    constexpr int kSteps = 63;
    uint64_t kernels = 0;
    each([](Rank& rank) { rank.push("prefill"); });
    kernels += pass(6);
    each([](Rank& rank) { rank.wait(), rank.pop(), rank.push("decode_all"); });
    for (int step = 0; step < kSteps; ++step) {
      each([](Rank& rank) { rank.push("decode_step"); });
      kernels += pass(1);
      each([](Rank& rank) { rank.wait(), rank.pop(); });
    }
    each([](Rank& rank) { rank.pop(); });
    return kernels;
  }

 private:
  static constexpr int kLayers = 32;
  template <class Do>
  void each(const Do& what) {
    for (auto& rank : ranks_) what(*rank);
  }

  void all_reduce(int64_t transfer) {
    constexpr const char* kName =
        "ncclDevKernel_AllReduce_Sum_bf16_RING_LL(ncclDevKernelArgsStorage<4096ul>)";
    int64_t last = 0;
    each([&](Rank& rank) { last = std::max(last, rank.begin_collective(kName)); });
    each([&](Rank& rank) { rank.end_collective(last + transfer); });
  }

  uint64_t pass(int64_t scale) {
    uint64_t kernels = 2;
    each([&](Rank& rank) { rank.compute("embedding_kernel", 2000 * scale); });
    for (int layer = 0; layer < kLayers; ++layer) {
      for (const auto* names : {&attention_, &feed_forward_}) {
        for (size_t i = 0; i < computing_; ++i) {
          const auto time = static_cast<int64_t>(1500 + 500 * (i % 7)) * scale;
          each([&](Rank& rank) { rank.compute((*names)[i].c_str(), time); });
        }
        all_reduce(9000 * scale);
        kernels += computing_ + 1;
      }
    }
    each([&](Rank& rank) { rank.compute("nvjet_tst_256x64_head", 30'000 * scale); });
    return kernels;
  }

  // In the order of execution.
  const std::vector<std::string> attention_ = words(
      "rms_norm_kernel nvjet_tst_128x64_qkv rotary_embedding_kernel reshape_and_cache_kernel "
      "vectorized_elementwise_kernel_mul flash_fwd_splitkv_kernel "
      "flash_fwd_splitkv_combine_kernel vectorized_elementwise_kernel_copy nvjet_tst_64x64_o "
      "cast_kernel_f32 cast_kernel_bf16 unrolled_elementwise_kernel index_copy_kernel "
      "reduce_kernel_sum add_kernel_residual");
  const std::vector<std::string> feed_forward_ = words(
      "rms_norm_kernel nvjet_tst_128x128_gate nvjet_tst_128x128_up silu_and_mul_kernel "
      "nvjet_tst_64x128_down cast_kernel_f32 cast_kernel_bf16 unrolled_elementwise_kernel "
      "vectorized_elementwise_kernel_mul vectorized_elementwise_kernel_copy index_copy_kernel "
      "reduce_kernel_sum scale_kernel clamp_kernel add_kernel_residual");
  size_t computing_;  // kernels before each all-reduce
  std::vector<std::unique_ptr<Rank>> ranks_;
};

}  // namespace

int main(int argc, char** argv) {
  if (argc < 4) {
    std::fprintf(stderr, "usage: %s FOLDER RANKS KERNELS [SLOW_RANK [EVERY]]\n", argv[0]);
    return 2;
  }
  const auto ranks = static_cast<uint32_t>(std::atoi(argv[2]));
  const auto wanted = static_cast<uint64_t>(std::atoll(argv[3]));
  const auto number = [&](int at, uint32_t otherwise) {
    return argc > at ? static_cast<uint32_t>(std::atoi(argv[at])) : otherwise;
  };
  Job job(argv[1], ranks, number(4, UINT32_MAX), number(5, UINT32_MAX));
  uint64_t kernels = 0;
  while (kernels < wanted) kernels += job.request();
  std::printf("%llu\n", static_cast<unsigned long long>(kernels));
  return 0;
}
