#include "query/arrow_files/arrow_file.h"

#include <fcntl.h>
#include <unistd.h>

#include <bit>
#include <cerrno>

#include "base/needed.h"

namespace llmprof::query {
namespace {

constexpr std::string_view kMagic = "ARROW1";
constexpr uint32_t kContinuation = 0xFFFFFFFF;
constexpr uint64_t kAlignment = 64;
constexpr size_t kWordsOfBlock = 3;  // offset, size of the metadata, size of the body

// Arrow's Message.fbs, Schema.fbs and File.fbs: numbers of fields and of the members of unions.
constexpr uint16_t kVersion5 = 4;
enum MessageField : uint8_t { kMessageVersion, kHeaderType, kHeader, kBodyLength };
enum HeaderKind : uint8_t { kSchema = 1, kDictionaryBatch = 2, kRecordBatch = 3 };
enum SchemaField : uint8_t { kEndianness, kFields, kSchemaMetadata };
enum FieldField : uint8_t {
  kName,
  kNullable,
  kTypeType,
  kType,
  kDictionary,
  kChildren,
  kFieldMetadata
};
enum TypeKind : uint8_t { kInt = 2, kFloatingPoint = 3, kUtf8 = 5, kBool = 6 };
enum DictionaryField : uint8_t { kDictionaryId, kIndexType };
enum BatchField : uint8_t { kLength, kNodes, kBuffers };
enum DictionaryBatchField : uint8_t { kBatchId, kBatchData };
enum FooterField : uint8_t { kFooterVersion, kFooterSchema, kFooterDictionaries, kFooterBatches };

FlatTable::Tables flat_metadata(const ArrowField::Metadata& metadata) {
  FlatTable::Tables pairs;
  for (const auto& [key, value] : metadata) pairs.emplace_back().text(0, key).text(1, value);
  return pairs;
}

FlatTable integer_type(uint32_t bits) {
  FlatTable type;
  type.scalar(0, bits, 4).scalar(1, 1, 1);  // signed
  return type;
}

std::pair<TypeKind, FlatTable> flat_type(ColumnType type) {
  constexpr uint16_t kDouble = 2;
  switch (type) {
    case ColumnType::integer:
      return {kInt, integer_type(64)};
    case ColumnType::real: {
      FlatTable real;
      real.scalar(0, kDouble, 2);
      return {kFloatingPoint, std::move(real)};
    }
    case ColumnType::boolean:
      return {kBool, FlatTable()};
    case ColumnType::text:
      break;
  }
  return {kUtf8, FlatTable()};
}

FlatTable flat_field(const ArrowField& field, size_t id) {
  FlatTable flat;
  auto [kind, type] = flat_type(field.type);
  flat.text(kName, field.name).scalar(kNullable, 1, 1).scalar(kTypeType, kind, 1);
  flat.table(kType, std::move(type)).tables(kChildren, {});
  if (field.dictionary) {
    FlatTable encoding;
    encoding.scalar(kDictionaryId, id, 8).table(kIndexType, integer_type(32));
    flat.table(kDictionary, std::move(encoding));
  }
  flat.tables(kFieldMetadata, flat_metadata(field.metadata));
  return flat;
}

uint64_t padded(uint64_t size) { return (size + kAlignment - 1) / kAlignment * kAlignment; }

}  // namespace

// The buffers behind a message, and what its metadata says of them.
struct ArrowFile::Body {
  FlatTable::Structs nodes{.words = {}, .words_each = 2};    // rows, nulls
  FlatTable::Structs buffers{.words = {}, .words_each = 2};  // offset, length
  std::vector<std::string_view> bytes = {};
  uint64_t size = 0;

  void add(const ArrowArray& array, bool texts) {
    nodes.words.insert(nodes.words.end(), {array.rows, array.nulls});
    add(array.valid);
    if (texts) add(array.offsets);
    add(array.values);
  }
  void add(std::string_view buffer) {
    buffers.words.insert(buffers.words.end(), {size, buffer.size()});
    bytes.push_back(buffer);
    size += padded(buffer.size());
  }
  [[nodiscard]] FlatTable flat(uint64_t rows) const {
    FlatTable batch;
    batch.scalar(kLength, rows, 8).structs(kNodes, nodes).structs(kBuffers, buffers);
    return batch;
  }
};

ArrowFile::ArrowFile(std::filesystem::path path, std::vector<ArrowField> fields,
                     ArrowField::Metadata metadata)
    : path_(std::move(path)),
      file_(::open(path_.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0666)),
      fields_(std::move(fields)),
      metadata_(std::move(metadata)),
      dictionaries_{.words = {}, .words_each = kWordsOfBlock},
      batches_{.words = {}, .words_each = kWordsOfBlock} {
  if (!file_.valid()) throw Failure(system_error(ErrorKind::tool, path_, errno));
  put(kMagic);
  pad_to(8);
  message(kSchema, schema(), nullptr);
}

FlatTable ArrowFile::schema() const {
  FlatTable::Tables fields;
  for (size_t i = 0; i < fields_.size(); ++i) fields.push_back(flat_field(fields_[i], i));
  FlatTable schema;
  schema.scalar(kEndianness, 0, 2).tables(kFields, std::move(fields));  // little-endian
  schema.tables(kSchemaMetadata, flat_metadata(metadata_));
  return schema;
}

void ArrowFile::put(std::string_view bytes) {
  if (const int error = write_all(file_.get(), bytes); error != 0) {
    throw Failure(system_error(ErrorKind::tool, path_, error));
  }
  size_ += bytes.size();
}

void ArrowFile::pad_to(uint64_t alignment) {
  static constexpr char kZeros[kAlignment] = {};
  put({kZeros, (alignment - size_ % alignment) % alignment});
}

ArrowFile::Block ArrowFile::message(uint8_t kind, FlatTable header, const Body* body) {
  const uint64_t body_size = body == nullptr ? 0 : body->size;
  FlatTable message;
  message.scalar(kMessageVersion, kVersion5, 2).scalar(kHeaderType, kind, 1);
  message.table(kHeader, std::move(header)).scalar(kBodyLength, body_size, 8);
  const std::string metadata = flat_buffer(message);
  const uint64_t begin = size_;
  // The body begins at a multiple of 64, and so do its buffers.
  constexpr uint64_t kPrefix = 2 * sizeof(uint32_t);
  const auto length =
      static_cast<uint32_t>(padded(begin + kPrefix + metadata.size()) - begin - kPrefix);
  const uint32_t prefix[] = {kContinuation, length};
  put({reinterpret_cast<const char*>(prefix), sizeof prefix});
  put(metadata);
  pad_to(kAlignment);
  Block block = {begin, length + kPrefix, body_size};
  if (body == nullptr) return block;
  for (const std::string_view buffer : body->bytes) {
    put(buffer);
    pad_to(kAlignment);
  }
  return block;
}

void ArrowFile::dictionary(size_t field, const ArrowArray& texts) {
  Body body;
  body.add(texts, true);
  FlatTable dictionary;
  dictionary.scalar(kBatchId, field, 8);
  dictionary.table(kBatchData, body.flat(texts.rows));
  const Block block = message(kDictionaryBatch, std::move(dictionary), &body);
  dictionaries_.words.insert(dictionaries_.words.end(), block.begin(), block.end());
}

void ArrowFile::batch(const std::vector<ArrowArray>& columns) {
  Body body;
  for (size_t i = 0; i < columns.size(); ++i) {
    body.add(columns[i], fields_[i].type == ColumnType::text && !fields_[i].dictionary);
  }
  const Block block = message(kRecordBatch, body.flat(columns.front().rows), &body);
  batches_.words.insert(batches_.words.end(), block.begin(), block.end());
}

void ArrowFile::finish() {
  const uint32_t end_of_stream[] = {kContinuation, 0};
  put({reinterpret_cast<const char*>(end_of_stream), sizeof end_of_stream});
  FlatTable footer;
  footer.scalar(kFooterVersion, kVersion5, 2).table(kFooterSchema, schema());
  footer.structs(kFooterDictionaries, std::move(dictionaries_));
  footer.structs(kFooterBatches, std::move(batches_));
  const std::string bytes = flat_buffer(footer);
  put(bytes);
  const auto length = static_cast<uint32_t>(bytes.size());
  put({reinterpret_cast<const char*>(&length), sizeof length});
  put(kMagic);
  if (file_.close() != 0) throw Failure(system_error(ErrorKind::tool, path_, errno));
}

}  // namespace llmprof::query
