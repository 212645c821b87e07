#include "readers/collector_log/log_end.h"

#include <cstring>
#include <fstream>
#include <vector>

#include "readers/collector_log/records.h"
#include "wire/log_format.h"

namespace llmprof::readers {

std::optional<LogEnd> read_log_end(const std::filesystem::path& log) {
  std::ifstream file(log, std::ios::binary);
  wire::FileHeader header{};
  if (!file.read(reinterpret_cast<char*>(&header), sizeof header)) return std::nullopt;
  const bool sane = std::memcmp(header.magic, wire::kFileMagic, sizeof header.magic) == 0 &&
                    header.checksum == wire::header_checksum(header) &&
                    header.header_bytes >= sizeof header &&
                    header.chunk_bytes <= wire::kLargestChunkBytes &&
                    header.header_bytes + sizeof(wire::ChunkHeader) < header.chunk_bytes;
  if (!sane) return std::nullopt;
  const size_t before = header.header_bytes + sizeof(wire::ChunkHeader);
  std::vector<char> chunk(header.chunk_bytes - before);
  file.seekg(static_cast<std::streamoff>(before));
  file.read(chunk.data(), static_cast<std::streamsize>(chunk.size()));
  chunk.resize(static_cast<size_t>(file.gcount()));
  LogEnd end;
  end.process = header.process_id;
  collector_log::Records records(chunk, 0);
  for (collector_log::Record record; records.next(record);) {
    if (record.type == wire::RecordType::clean_end) end.by_exit = true;
  }
  return end;
}

}  // namespace llmprof::readers
