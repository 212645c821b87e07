#include "exports/perfetto/sequence.h"

#include <cmath>

namespace llmprof::exports {
namespace {

// Integers take two bytes where a double takes eight; larger ones are no longer exact in a double.
constexpr double kExactIntegers = 9007199254740992.0;

}  // namespace

Sequence::Sequence(PacketStream& stream, const trace::StringPool& texts, uint32_t id,
                   uint64_t track, const FileClock& clock)
    : stream_(stream), texts_(texts), id_(id), clock_(clock.source), last_(clock.zero) {
  const auto zero = static_cast<uint64_t>(clock.zero);
  stream_.packet([&](ProtoWriter& packet) {
    packet.number(fields::packet::kSequence, id_);
    packet.number(fields::packet::kSequenceFlags, fields::packet::state_cleared);
    packet.number(fields::packet::kFirstOnSequence, 1);
    packet.message(fields::packet::kDefaults, [&] {
      packet.number(fields::defaults::kClock, fields::clock::of_sequence);
      if (track == 0) return;
      packet.message(fields::defaults::kTrackEvent,
                     [&] { packet.number(fields::event::kTrack, track); });
    });
    packet.message(fields::packet::kClockSnapshot, [&] {
      const auto add = [&](uint32_t which, uint64_t time, bool incremental) {
        packet.message(fields::clock_snapshot::kClocks, [&] {
          packet.number(fields::clock::kId, which);
          packet.number(fields::clock::kTime, time);
          if (incremental) packet.number(fields::clock::kIncremental, 1);
        });
      };
      add(fields::clock::boottime, zero, false);
      add(fields::clock::of_sequence, zero, true);
      if (clock.wall_clock) {
        add(fields::clock::realtime, static_cast<uint64_t>(*clock.wall_clock), false);
      }
    });
  });
}

uint64_t Sequence::number_of(Table table, TextId text) {
  std::vector<uint32_t>& known = numbers_[table];
  if (text.index() >= known.size()) known.resize(text.index() + 1, 0);
  uint32_t& number = known[text.index()];
  if (number != 0) return number;
  number = next_[table]++;
  constexpr std::array<uint32_t, 4> kTables = {
      fields::interned_data::kCategories, fields::interned_data::kEventNames,
      fields::interned_data::kAnnotationNames, fields::interned_data::kAnnotationTexts};
  ProtoWriter writer(interned_);
  writer.message(kTables[table], [&] {
    writer.number(fields::interned::kId, number);
    writer.bytes(fields::interned::kText, texts_[text]);
  });
  return number;
}

void Sequence::annotate(ProtoWriter& event, const Annotation& annotation) {
  event.message(fields::event::kAnnotations, [&] {
    event.number(fields::annotation::kName, number_of(annotation_names, annotation.name));
    if (const auto* whole = std::get_if<uint64_t>(&annotation.value)) {
      event.number(fields::annotation::kWhole, *whole);
    } else if (const auto* real = std::get_if<double>(&annotation.value)) {
      event.real(fields::annotation::kReal, *real);
    } else {
      event.number(fields::annotation::kText,
                   number_of(annotation_texts, std::get<TextId>(annotation.value)));
    }
  });
}

void Sequence::slice_event(Nanoseconds time, uint32_t type, const Slice& slice) {
  // Texts that are new must stand before the packet that refers to them is begun.
  const uint64_t name = number_of(event_names, slice.name);
  const uint64_t category = slice.category.valid() ? number_of(categories, slice.category) : 0;
  for (const Annotation& annotation : slice.annotations) {
    number_of(annotation_names, annotation.name);
    if (const auto* text = std::get_if<TextId>(&annotation.value)) {
      number_of(annotation_texts, *text);
    }
  }
  write(time, [&](ProtoWriter& packet) {
    packet.message(fields::packet::kTrackEvent, [&] {
      packet.number(fields::event::kType, type);
      packet.number(fields::event::kName, name);
      if (category != 0) packet.number(fields::event::kCategory, category);
      for (const Annotation& annotation : slice.annotations) annotate(packet, annotation);
      if (slice.flow_from) packet.fixed64(fields::event::kFlows, *slice.flow_from);
      if (slice.flow_to) packet.fixed64(fields::event::kTerminatingFlows, *slice.flow_to);
    });
  });
}

void Sequence::begin(Nanoseconds time, const Slice& slice) {
  slice_event(time, fields::event::slice_begin, slice);
}

void Sequence::instant(Nanoseconds time, const Slice& slice) {
  slice_event(time, fields::event::instant, slice);
}

void Sequence::end(Nanoseconds time) {
  write(time, [&](ProtoWriter& packet) {
    packet.message(fields::packet::kTrackEvent,
                   [&] { packet.number(fields::event::kType, fields::event::slice_end); });
  });
}

void Sequence::counter(Nanoseconds time, double value) {
  write(time, [&](ProtoWriter& packet) {
    packet.message(fields::packet::kTrackEvent, [&] {
      packet.number(fields::event::kType, fields::event::counter_value);
      if (value == std::floor(value) && std::abs(value) < kExactIntegers) {
        packet.number(fields::event::kCounterValue,
                      static_cast<uint64_t>(static_cast<int64_t>(value)));
      } else {
        packet.real(fields::event::kRealCounterValue, value);
      }
    });
  });
}

}  // namespace llmprof::exports
