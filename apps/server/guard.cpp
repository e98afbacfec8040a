#include "guard.hpp"

#include <fmt/format.h>

#include <cstddef>
#include <random>

namespace nest::server {
namespace {

// "localhost:8080" and "[::1]:8080" without the port.
std::string_view without_port(std::string_view header) {
  if (header.starts_with('[')) return header.substr(0, header.find(']') + 1);
  return header.substr(0, header.find(':'));
}

}  // namespace

bool is_loopback(std::string_view host) {
  if (host == "localhost" || host == "::1" || host == "[::1]") return true;
  return host.starts_with("127.") && host.find_first_not_of("0123456789.") == std::string_view::npos;
}

bool host_allowed(std::string_view header) {
  return is_loopback(without_port(header));
}

bool origin_allowed(std::string_view origin, std::string_view host) {
  return origin.empty() || origin == "http://" + std::string(host);
}

std::string random_token() {
  std::random_device device;
  std::string token;
  for (int i = 0; i < 4; ++i) token += fmt::format("{:08x}", device());
  return token;
}

bool same_token(std::string_view given, std::string_view token) {
  unsigned differs = given.size() == token.size() ? 0 : 1;
  for (std::size_t i = 0; i < given.size() && !token.empty(); ++i) {
    differs |= static_cast<unsigned char>(given[i]) ^ static_cast<unsigned char>(token[i % token.size()]);
  }
  return differs == 0 && !token.empty();
}

}  // namespace nest::server
