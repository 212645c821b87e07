#include "readers/nsys_sqlite/nccl_ranges.h"

#include <fmt/format.h>
#include <algorithm>
#include <array>
#include <charconv>
#include <cstring>
#include <string>
#include <tuple>
#include <unordered_map>
#include <utility>

#include "base/text.h"
#include "trace/append.h"
#include "trace/name_kinds.h"

namespace llmprof::readers {
namespace {

constexpr size_t kHeaderBytes = 32;
constexpr size_t kSchemaAt = 8;
constexpr int64_t kLargestOffset = 1 << 16;

// Bytes of a field by its type number in nvToolsExtPayload.h; 0 for types that NCCL does not use.
uint32_t width_of(int64_t type) {
  enum Type : int64_t { kInt = 5, kUint = 6, kInt32 = 15, kUint32 = 16, kUint64 = 18, kSize = 22 };
  if (type == kUint64 || type == kSize) return 8;
  return type == kInt || type == kUint || type == kInt32 || type == kUint32 ? 4 : 0;
}

// Both nsys and llmprof run on little-endian machines.
uint64_t number_at(std::string_view bytes, size_t offset, size_t width) {
  uint64_t number = 0;
  std::memcpy(&number, bytes.data() + offset, width);
  return number;
}

// Converted exports hold the bytes as hexadecimal digits.
std::string from_hexadecimal(std::string_view text) {
  std::string bytes;
  for (size_t i = 0; i + 1 < text.size(); i += 2) {
    uint8_t byte = 0;
    const char* const end = text.data() + i + 2;
    if (std::from_chars(text.data() + i, end, byte, 16).ptr != end) return {};
    bytes += static_cast<char>(byte);
  }
  return bytes;
}

enum class NcclCallRole : uint8_t { unknown, none, group_start, group_end, call, annotation };

struct NcclCall {
  NcclCallRole role = NcclCallRole::unknown;
  CollectiveKind kind = CollectiveKind::other;
};

NcclCall nccl_call(std::string_view text) {
  constexpr std::string_view kAnnotation = "nccl:";
  constexpr std::string_view kLibrary = "nccl";
  constexpr std::array<std::string_view, 13> kCalls = {
      "AllReduce", "AllGather", "ReduceScatter", "Broadcast", "Bcast",  "Reduce", "Send",
      "Recv",      "AlltoAll",  "AllToAll",      "AlltoAllv", "Gather", "Scatter"};
  if (!text.starts_with(kLibrary)) return {NcclCallRole::none};
  if (text.starts_with(kAnnotation)) {
    // "nccl:all_to_all, op_id = 993824"
    const auto kind = trace::collective_kind(text.substr(0, text.find(',')).substr(5));
    return kind ? NcclCall{NcclCallRole::annotation, *kind} : NcclCall{NcclCallRole::none};
  }
  text.remove_prefix(kLibrary.size());
  if (text == "GroupStart") return {NcclCallRole::group_start};
  if (text == "GroupEnd") return {NcclCallRole::group_end};
  if (std::find(kCalls.begin(), kCalls.end(), text) == kCalls.end()) return {NcclCallRole::none};
  return {NcclCallRole::call, *trace::collective_kind(text)};
}

// Calls that are launched together.
struct NcclGroup {
  uint64_t depth = 0;
  uint64_t calls = 0;
  uint64_t sends = 0;
  uint64_t receives = 0;
  bool mixed = false;
  CollectiveKind kind = CollectiveKind::other;
  uint64_t received_bytes = 0;
  uint64_t other_bytes = 0;
  const NcclPayload* payload = nullptr;

  void add(CollectiveKind of, const NcclPayload* attached) {
    const bool sends_to = of == CollectiveKind::send;
    const bool receives_from = of == CollectiveKind::receive;
    mixed = mixed || (calls > 0 && of != kind);
    kind = of;
    ++calls;
    sends += sends_to ? 1 : 0;
    receives += receives_from ? 1 : 0;
    if (attached == nullptr) return;
    payload = attached;
    (receives_from ? received_bytes : other_bytes) += attached->bytes.value_or(0);
  }

  // What a rank receives is what another one sends.
  [[nodiscard]] uint64_t bytes() const { return other_bytes > 0 ? other_bytes : received_bytes; }

  // Sends to and receives from several ranks are an all-to-all.
  [[nodiscard]] CollectiveKind common_kind() const {
    if (sends + receives == calls) {
      if (sends > 1 && receives > 1) return CollectiveKind::all_to_all;
      return sends > 0 ? CollectiveKind::send : CollectiveKind::receive;
    }
    return mixed ? CollectiveKind::other : kind;
  }
};

class NcclRanges {
 public:
  NcclRanges(const trace::RangeTable& ranges, std::vector<NcclPayload> payloads,
             trace::TraceBuilder& builder)
      : ranges_(ranges), payloads_(std::move(payloads)), builder_(builder) {
    std::sort(payloads_.begin(), payloads_.end(), [](const NcclPayload& a, const NcclPayload& b) {
      return std::tuple(a.thread, a.start, a.place) < std::tuple(b.thread, b.start, b.place);
    });
    for (const NcclPayload& payload : payloads_) {
      if (payload.ranks) group_sizes_[payload.communicator] = *payload.ranks;
    }
  }

  void add_rows() {
    std::vector<std::pair<size_t, NcclCall>> calls = nccl_calls();
    std::stable_sort(calls.begin(), calls.end(), [&](const auto& a, const auto& b) {
      return std::tuple(ranges_.thread[a.first], ranges_.start[a.first]) <
             std::tuple(ranges_.thread[b.first], ranges_.start[b.first]);
    });
    NcclGroup group;
    trace::ThreadId thread;
    for (const auto& [row, call] : calls) {
      if (ranges_.thread[row] != thread) group = {};
      thread = ranges_.thread[row];
      take(row, call, group);
    }
  }

  void describe_capture() const {
    const auto largest = std::max_element(
        payloads_.begin(), payloads_.end(),
        [](const auto& a, const auto& b) { return a.ranks.value_or(0) < b.ranks.value_or(0); });
    if (largest == payloads_.end() || !largest->ranks || !largest->rank) return;
    trace::Capture& capture = builder_.capture();
    if (!capture.world_size) capture.world_size = largest->ranks;
    // Several processes in one capture are several ranks.
    const bool one = std::all_of(payloads_.begin(), payloads_.end(), [&](const NcclPayload& each) {
      return process_of(each) == process_of(*largest);
    });
    if (!capture.rank && one) capture.rank = largest->rank;
  }

 private:
  [[nodiscard]] trace::ProcessId process_of(const NcclPayload& payload) const {
    return builder_.trace().threads[payload.thread.index()].process;
  }

  std::vector<std::pair<size_t, NcclCall>> nccl_calls() {
    std::vector<NcclCall> known(builder_.trace().strings.size());
    std::vector<std::pair<size_t, NcclCall>> calls;
    for (size_t row = 0; row < ranges_.size(); ++row) {
      if (!ranges_.text[row].valid() || ranges_.kind[row] != trace::RangeKind::push_pop) continue;
      NcclCall& call = known[ranges_.text[row].index()];
      if (call.role == NcclCallRole::unknown) {
        call = nccl_call(builder_.trace().strings[ranges_.text[row]]);
      }
      if (call.role != NcclCallRole::none) calls.emplace_back(row, call);
    }
    return calls;
  }

  void take(size_t row, const NcclCall& call, NcclGroup& group) {
    switch (call.role) {
      case NcclCallRole::group_start:
        ++group.depth;
        return;
      case NcclCallRole::group_end:
        if (group.depth > 1) {
          --group.depth;
          return;
        }
        if (group.calls > 0) add_row(row, group.common_kind(), group.bytes(), group.payload);
        group = {};
        return;
      case NcclCallRole::call: {
        const NcclPayload* attached = payload_of(row);
        if (group.depth > 0) {
          group.add(call.kind, attached);
        } else {
          add_row(row, call.kind, attached == nullptr ? 0 : attached->bytes.value_or(0), attached);
        }
        return;
      }
      default:
        add_row(row, call.kind, 0, nullptr);
    }
  }

  [[nodiscard]] const NcclPayload* payload_of(size_t row) const {
    const auto place = std::tuple(ranges_.thread[row], ranges_.start[row]);
    const auto found = std::lower_bound(payloads_.begin(), payloads_.end(), place,
                                        [](const NcclPayload& each, const auto& wanted) {
                                          return std::tuple(each.thread, each.start) < wanted;
                                        });
    const bool is_there =
        found != payloads_.end() && std::tuple(found->thread, found->start) == place;
    return is_there ? &*found : nullptr;
  }

  void add_row(size_t range, CollectiveKind kind, uint64_t bytes, const NcclPayload* attached) {
    trace::StringId group;
    uint32_t size = 0;
    if (attached != nullptr) {
      group = builder_.string(fmt::format("{:#x}", attached->communicator));
      const auto known = group_sizes_.find(attached->communicator);
      if (known != group_sizes_.end()) size = known->second;
    }
    // For a reduce-scatter, NCCL counts a rank's output; all other sources count its input.
    const uint64_t put_in = kind == CollectiveKind::reduce_scatter ? bytes * size : bytes;
    trace::add_row(builder_.trace().collectives, ranges_.start[range], ranges_.end[range],
                   ranges_.thread[range], 0U, 0U, kind, put_in, group, trace::StringId(), size,
                   trace::kNoSequence);
  }

  const trace::RangeTable& ranges_;
  std::vector<NcclPayload> payloads_;
  trace::TraceBuilder& builder_;
  std::unordered_map<uint64_t, uint32_t> group_sizes_;  // by communicator
};

}  // namespace

NcclPayloads::NcclPayloads(const NsysSchema& schema) {
  const auto table = schema.find("NVTX_PAYLOAD_SCHEMA_ENTRIES");
  if (!table) return;
  SqliteRows rows =
      schema.file().query(schema.select(*table, "schemaId,type,name,offset") + " LIMIT 65536");
  while (rows.valid() && rows.next()) {
    const int64_t offset = rows.integer(3);  // NULL is 0
    if (offset < 0 || offset > kLargestOffset) continue;
    const Field field{static_cast<uint32_t>(offset), width_of(rows.integer(1))};
    const std::string_view name = rows.text(2);
    Fields& fields = by_schema_[static_cast<uint32_t>(rows.integer(0))];
    if (name == "NCCL communicator ID") fields.communicator = field;
    if (name == "Message size [bytes]") fields.bytes = field;
    if (name == "No. of ranks") fields.ranks = field;
    if (name == "Rank") fields.rank = field;
  }
  std::erase_if(by_schema_, [](const auto& each) { return each.second.communicator.width == 0; });
}

std::optional<NcclPayload> NcclPayloads::read(std::string_view bytes) const {
  if (by_schema_.empty()) return std::nullopt;
  std::string decoded;
  if (bytes.size() >= 2 * kHeaderBytes) decoded = from_hexadecimal(bytes);
  if (!decoded.empty()) bytes = decoded;
  if (bytes.size() <= kHeaderBytes) return std::nullopt;
  const auto known =
      by_schema_.find(static_cast<uint32_t>(number_at(bytes, kSchemaAt, sizeof(uint32_t))));
  if (known == by_schema_.end()) return std::nullopt;
  bytes.remove_prefix(kHeaderBytes);
  const auto value = [&](const Field& field) -> std::optional<uint64_t> {
    if (field.width == 0 || field.offset + field.width > bytes.size()) return std::nullopt;
    return number_at(bytes, field.offset, field.width);
  };
  const auto communicator = value(known->second.communicator);
  if (!communicator) return std::nullopt;
  NcclPayload payload;
  payload.communicator = *communicator;
  payload.bytes = value(known->second.bytes);
  payload.ranks = value(known->second.ranks);
  payload.rank = value(known->second.rank);
  return payload;
}

void add_nccl_collectives(const trace::RangeTable& ranges, std::vector<NcclPayload> payloads,
                          trace::TraceBuilder& builder) {
  NcclRanges nccl(ranges, std::move(payloads), builder);
  nccl.add_rows();
  nccl.describe_capture();
}

}  // namespace llmprof::readers
