#include "guard.hpp"

#include <gtest/gtest.h>

namespace nest::server {
namespace {

TEST(Guard, Loopback) {
  for (const char* host : {"localhost", "127.0.0.1", "127.1.2.3", "::1"})
    EXPECT_TRUE(is_loopback(host)) << host;
  for (const char* host : {"0.0.0.0", "::", "10.0.0.1", "127.evil.com", "localhost.evil.com", ""})
    EXPECT_FALSE(is_loopback(host)) << host;
}

// A name of somebody's DNS that points at 127.0.0.1 is in the Host header as that name.
TEST(Guard, HostsThatPointHere) {
  for (const char* host : {"localhost:8080", "127.0.0.1:8080", "[::1]:8080", "localhost"})
    EXPECT_TRUE(host_allowed(host)) << host;
  for (const char* host :
       {"evil.com", "evil.com:8080", "127.0.0.1.evil.com:80", "", "[::2]:80", "localhost.evil.com"})
    EXPECT_FALSE(host_allowed(host)) << host;
}

TEST(Guard, PagesOfOtherSites) {
  EXPECT_TRUE(origin_allowed("", "localhost:8080"));
  EXPECT_TRUE(origin_allowed("http://localhost:8080", "localhost:8080"));
  EXPECT_FALSE(origin_allowed("http://localhost:9090", "localhost:8080"));
  EXPECT_FALSE(origin_allowed("https://evil.com", "localhost:8080"));
  EXPECT_FALSE(origin_allowed("null", "localhost:8080"));
}

TEST(Guard, Tokens) {
  const std::string token = random_token();
  EXPECT_EQ(token.size(), 32U);
  EXPECT_NE(token, random_token());
  EXPECT_TRUE(same_token(token, token));
  EXPECT_FALSE(same_token("", token));
  EXPECT_FALSE(same_token(token + "0", token));
  EXPECT_FALSE(same_token(token.substr(1), token));
  EXPECT_FALSE(same_token("", ""));
}

}  // namespace
}  // namespace nest::server
