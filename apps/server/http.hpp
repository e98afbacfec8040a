// The API and the page over HTTP/1.1. The only header that knows of cpp-httplib is http.cpp's.
#pragma once

#include <memory>
#include <optional>
#include <string>

#include "service.hpp"

#include "nest/base/rooms.hpp"

namespace nest::server {

struct HttpOptions {
  std::string host = "127.0.0.1";
  std::optional<int> port;  // none: 8080, or the next that is free; 0: any that is free
  std::string token;        // empty: none is asked for
};

class HttpServer {
 public:
  HttpServer(Service& service, HttpOptions options);  // the service outlives it
  ~HttpServer();

  // The port that is listened on, or none where it could not be had.
  [[nodiscard]] std::optional<int> bind();
  void run();   // until stop()
  void stop();  // from any thread

 private:
  struct Parts;
  std::unique_ptr<Parts> parts_;
};

}  // namespace nest::server
