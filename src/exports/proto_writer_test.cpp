#include "exports/proto_writer.h"

#include <gtest/gtest.h>

namespace llmprof::exports {
namespace {

using namespace std::string_literals;

// The example bytes from protobuf's documentation.
TEST(ProtoWriter, WritesNumbersTextsAndMessages) {
  ProtoBuffer out;
  ProtoWriter writer(out);
  writer.number(1, 150);
  EXPECT_EQ(view(out), "\x08\x96\x01");
  out.clear();
  writer.bytes(2, "testing");
  EXPECT_EQ(view(out), "\x12\x07testing");
  out.clear();
  writer.message(3, [&] { writer.number(1, 150); });
  EXPECT_EQ(view(out), "\x1a\x03\x08\x96\x01");
  out.clear();
  writer.fixed64(47, 1);
  EXPECT_EQ(view(out), "\xf9\x02\x01\0\0\0\0\0\0\0"s);
  out.clear();
  writer.real(1, 1.0);
  EXPECT_EQ(view(out), "\x09\0\0\0\0\0\0\xf0\x3f"s);
}

TEST(ProtoWriter, WritesTheLengthOfLongMessagesInFrontOfThem) {
  ProtoBuffer out;
  ProtoWriter writer(out);
  const std::string text(300, 'x');
  writer.message(1, [&] { writer.message(2, [&] { writer.bytes(3, text); }); });
  EXPECT_EQ(view(out), "\x0a\xb2\x02\x12\xaf\x02\x1a\xac\x02"s + text);
}

}  // namespace
}  // namespace llmprof::exports
