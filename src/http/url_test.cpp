#include "http/url.h"

#include <gtest/gtest.h>

#include "base/text.h"

namespace llmprof::http {
namespace {

TEST(ParseUrl, TakesNamesAndAddresses) {
  const auto url = parse_url("http://127.0.0.1:8000/v1/health?x=1");
  ASSERT_TRUE(url);
  EXPECT_EQ(url->host, "127.0.0.1");
  EXPECT_EQ(url->port, 8000);
  EXPECT_EQ(url->target, "/v1/health?x=1");
  EXPECT_EQ(url->path(), "/v1/health");
  EXPECT_EQ(url->text(), "http://127.0.0.1:8000/v1/health?x=1");
  EXPECT_EQ(parse_url("http://localhost")->port, 80);
  EXPECT_EQ(parse_url("http://localhost?x")->target, "/?x");
  EXPECT_EQ(parse_url("HTTPS://gpu-7.example.com/#top")->port, 443);
  EXPECT_TRUE(parse_url("https://gpu-7.example.com")->tls);
  EXPECT_EQ(parse_url("https://gpu-7.example.com/#top")->target, "/");
}

TEST(ParseUrl, KeepsAnIpv6AddressWithoutItsBrackets) {
  const auto url = parse_url("http://[::1]:81/");
  ASSERT_TRUE(url);
  EXPECT_EQ(url->host, "::1");
  EXPECT_EQ(url->port, 81);
  EXPECT_EQ(url->authority(), "[::1]:81");
  EXPECT_EQ(parse_url("http://[::1]/")->port, 80);
  EXPECT_EQ(parse_url("http://[::1]/")->authority(), "[::1]");
}

TEST(ParseUrl, RefusesTheRestAsUsage) {
  for (const char* url : {"ftp://127.0.0.1/", "127.0.0.1:80", "http://", "", "http://:80/",
                          "http://127.0.0.1:0/", "http://127.0.0.1:99999/", "http://127.0.0.1:x/",
                          "http://127.0.0.1/a b", "http://127.0.0.1/\r\nX: y", "http://a,b/",
                          "http://[::1/", "http://[x]/", "http://b\xC3\xBC.de/"}) {
    const auto parsed = parse_url(url);
    ASSERT_FALSE(parsed) << url;
    EXPECT_EQ(parsed.error().kind, ErrorKind::usage) << url;
  }
}

TEST(ParseUrl, DoesNotRepeatAPassword) {
  const auto parsed = parse_url("http://me:hunter2@example.com/");
  ASSERT_FALSE(parsed);
  EXPECT_FALSE(contains(parsed.error().message, "hunter2"));
}

}  // namespace
}  // namespace llmprof::http
