// Who may talk to the server: a page of another site must not (it could reach loopback through the user's
// browser), and off loopback only who has the token.
#pragma once

#include <string>
#include <string_view>

#include "nest/base/rooms.hpp"

namespace nest::server {

// Whether only this machine can reach an address: 127.x, ::1, localhost.
[[nodiscard]] bool is_loopback(std::string_view host);

// The Host header of a request to a server on loopback names loopback, with any port: else a name of
// somebody's DNS points here. A browser cannot lie about it.
[[nodiscard]] bool host_allowed(std::string_view header);
// The Origin header, where there is one, is the server itself: "http://" and the Host header.
[[nodiscard]] bool origin_allowed(std::string_view origin, std::string_view host);

// 32 hex digits from the system.
[[nodiscard]] std::string random_token();
// Takes as long for a wrong token as for the right one.
[[nodiscard]] bool same_token(std::string_view given, std::string_view token);

}  // namespace nest::server
