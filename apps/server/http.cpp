#include "http.hpp"

#include <fmt/format.h>
#include <httplib.h>

#include <algorithm>
#include <utility>

#include "api_error.hpp"
#include "catalog.hpp"
#include "guard.hpp"
#include "web_files.hpp"

namespace nest::server {
namespace {

using httplib::Request;
using httplib::Response;

constexpr int kFirstPort = 8080;
constexpr int kPortsTried = 50;
constexpr std::size_t kThreads = 24;  // browsers keep six connections open

// Neither of the two is compressed by cpp-httplib: that would take longer than sending it.
constexpr const char* kJson = "application/json; charset=utf-8";

void send(Response& res, std::string text, const char* type) {
  if (text.empty()) return res.set_content("", type);
  const auto held = std::make_shared<const std::string>(std::move(text));
  res.set_content_provider(held->size(), type,
                           [held](std::size_t offset, std::size_t length, httplib::DataSink& sink) {
                             return sink.write(held->data() + offset, length);
                           });
}

void send_json(Response& res, const Value& value) {
  send(res, to_json_line(value) + "\n", kJson);
}

void send_error(Response& res, const ApiError& error) {
  res.status = error.status;
  send_json(res, error_value(error));
}

ApiError as_api_error(const std::exception_ptr& thrown) {
  try {
    std::rethrow_exception(thrown);
  } catch (const ApiError& error) {
    return error;
  } catch (const InputError& error) {
    return server::as_api_error(error);
  } catch (const std::bad_alloc&) {
    return {500, "", "out of memory"};
  } catch (const std::exception& error) {
    return {500, "", std::string("this is a bug in nest: ") + error.what()};
  } catch (...) {
    return {500, "", "this is a bug in nest"};
  }
}

const char* type_of(std::string_view name) {
  if (name.ends_with(".js")) return "text/javascript; charset=utf-8";
  if (name.ends_with(".css")) return "text/css; charset=utf-8";
  if (name.ends_with(".svg")) return "image/svg+xml";
  return "text/html; charset=utf-8";
}

void send_file(Response& res, std::string_view name) {
  const EmbeddedFile* file = find_embedded(web_files(), name);
  if (file == nullptr) throw ApiError(404, std::string(name), "there is no such file");
  send(res, std::string(file->text), type_of(name));
}

std::string event(const char* name, const Value& data) {
  return fmt::format("event: {}\ndata: {}\n\n", name, to_json_line(data));
}

Value progress_value(const SearchProgress& p) {
  Value v = Value::object();
  v.set("elapsed_s", p.elapsed.value).set("bound_s", p.bound.value);
  v.set("best_s", p.best ? Value(p.best->value) : Value());
  v.set("fills", p.fills).set("open", p.open);
  return v;
}

// Progress while the search runs, then one event "plan" or "error".
void stream_plan(Service& service, const std::string& body, Response& res) {
  auto request = std::make_shared<PlanRequest>(service.read_plan(body));
  res.set_chunked_content_provider(
      "text/event-stream", [&service, request](std::size_t, httplib::DataSink& sink) {
        const auto write = [&](const std::string& text) { return sink.write(text.data(), text.size()); };
        try {
          const auto tell = [&](const char* name, const Value& data) {
            return sink.is_writable() && write(event(name, data));
          };
          const Value plan = service.plan(
              std::move(*request),
              [&](const SearchProgress& progress) { return tell("progress", progress_value(progress)); },
              [&](const std::string& change) {
                Value v = Value::object();
                v.set("trying", change);
                return tell("advice", v);
              });
          write(event("plan", plan));
        } catch (...) {
          const ApiError error = as_api_error(std::current_exception());
          Value v = error_value(error);
          write(event("error", v.set("status", error.status)));
        }
        sink.done();
        return true;
      });
}

// Without SO_REUSEPORT, with which two servers would share a port.
void own_port(socket_t socket) {
  const int yes = 1;
  setsockopt(socket, SOL_SOCKET, SO_REUSEADDR, &yes, sizeof(yes));
}

std::string bearer(const Request& req) {
  const std::string header = req.get_header_value("Authorization");
  const std::string scheme = "Bearer ";
  return header.starts_with(scheme) ? header.substr(scheme.size()) : req.get_param_value("token");
}

}  // namespace

struct HttpServer::Parts {
  Service* service;
  HttpOptions options;
  httplib::Server http;
  Value models = list_models();  // takes a moment, and stays the same

  // None where the request may go on.
  [[nodiscard]] std::optional<ApiError> refusal(const Request& req) const {
    const std::string host = req.get_header_value("Host");
    if (is_loopback(options.host) && !host_allowed(host))
      return ApiError(403, "Host", "this server answers to localhost and 127.0.0.1 only");
    if (!origin_allowed(req.get_header_value("Origin"), host))
      return ApiError(403, "Origin", "pages of other sites may not use this server");
    const bool api = req.path.starts_with("/api/");
    if (api && !options.token.empty() && !same_token(bearer(req), options.token))
      return ApiError(401, "token", "a token is needed", "add ?token=.. as the server printed it");
    return std::nullopt;
  }

  void settings() {
    const Limits& limits = service->limits();
    http.set_payload_max_length(std::max(limits.body_bytes, limits.import_bytes));
    http.set_tcp_nodelay(true);
    http.set_keep_alive_max_count(1000);
    http.set_keep_alive_timeout(3);
    http.set_socket_options(own_port);
    http.new_task_queue = [] { return new httplib::ThreadPool(kThreads); };
    http.set_default_headers({{"Content-Security-Policy",
                               "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' "
                               "data:; connect-src 'self'; "
                               "base-uri 'none'; form-action 'none'; frame-ancestors 'none'"},
                              {"X-Content-Type-Options", "nosniff"},
                              {"X-Frame-Options", "DENY"},
                              {"Referrer-Policy", "no-referrer"},
                              {"Cross-Origin-Resource-Policy", "same-origin"},
                              {"Cache-Control", "no-store"}});
    http.set_pre_routing_handler([this](const Request& req, Response& res) {
      const auto refused = refusal(req);
      if (!refused) return httplib::Server::HandlerResponse::Unhandled;
      send_error(res, *refused);
      return httplib::Server::HandlerResponse::Handled;
    });
    http.set_exception_handler([](const Request&, Response& res, const std::exception_ptr& thrown) {
      send_error(res, as_api_error(thrown));
    });
    http.set_error_handler([this](const Request& req, Response& res) {
      if (res.has_header("Content-Type")) return;  // said already
      const std::size_t most = std::max(service->limits().body_bytes, service->limits().import_bytes);
      const std::string what = res.status == 413   ? fmt::format("more than {} bytes", most)
                               : res.status == 404 ? "there is no such address"
                                                   : "the request could not be understood";
      send_error(res, {res.status, req.method + " " + req.path, what, "docs/api.md lists the addresses"});
    });
  }

  void routes() {
    using Make = std::function<Value(const Request&)>;
    const auto json = [](Make make) {
      return [make = std::move(make)](const Request& req, Response& res) { send_json(res, make(req)); };
    };
    http.Get("/", [](const Request&, Response& res) { send_file(res, "index.html"); });
    http.Get(R"(/assets/([\w.-]+))",
             [](const Request& req, Response& res) { send_file(res, req.matches[1].str()); });
    http.Get("/api/v1/models", json([this](const Request&) { return models; }));
    http.Get("/api/v1/models/(.+)",
             json([](const Request& req) { return show_model(req.matches[1].str()); }));
    http.Get("/api/v1/clusters", json([](const Request&) { return list_clusters(); }));
    http.Get("/api/v1/clusters/(.+)",
             json([](const Request& req) { return show_cluster(req.matches[1].str()); }));
    http.Post("/api/v1/models",
              json([this](const Request& req) { return service->describe_model(req.body); }));
    http.Post("/api/v1/clusters",
              json([this](const Request& req) { return service->describe_cluster(req.body); }));
    http.Post("/api/v1/import",
              json([this](const Request& req) { return service->import_cluster(req.body); }));
    http.Get("/api/v1/recipes", json([](const Request&) { return list_recipes(); }));
    http.Post("/api/v1/plan", [this](const Request& req, Response& res) {
      if (req.get_header_value("Accept").find("text/event-stream") != std::string::npos)
        return stream_plan(*service, req.body, res);
      send_json(res, service->plan(req.body));
    });
    http.Post("/api/v1/shadow_prices",
              json([this](const Request& req) { return service->shadow_prices(req.body); }));
    http.Post("/api/v1/evaluate", json([this](const Request& req) { return service->evaluate(req.body); }));
    http.Post("/api/v1/compare", json([this](const Request& req) { return service->compare(req.body); }));
    http.Post("/api/v1/cancel", json([this](const Request& req) { return service->cancel(req.body); }));
    http.Post("/api/v1/export", json([this](const Request& req) { return service->export_plan(req.body); }));
    http.Post("/api/v1/views", json([this](const Request& req) { return service->views(req.body); }));
    http.Post("/api/v1/report", [this](const Request& req, Response& res) {
      res.set_header("Content-Disposition", "attachment; filename=\"report.html\"");
      send(res, service->report(req.body), type_of("report.html"));
    });
  }
};

HttpServer::HttpServer(Service& service, HttpOptions options)
    : parts_(std::make_unique<Parts>(&service, std::move(options))) {
  parts_->settings();
  parts_->routes();
}

HttpServer::~HttpServer() = default;

std::optional<int> HttpServer::bind() {
  httplib::Server& http = parts_->http;
  const std::string& host = parts_->options.host;
  const std::optional<int> wanted = parts_->options.port;
  if (wanted == 0) {
    const int port = http.bind_to_any_port(host);
    return port > 0 ? std::optional(port) : std::nullopt;
  }
  const int first = wanted.value_or(kFirstPort);
  for (int port = first; port < first + (wanted ? 1 : kPortsTried); ++port) {
    if (http.bind_to_port(host, port)) return port;
  }
  return std::nullopt;
}

void HttpServer::run() {
  parts_->http.listen_after_bind();
}

void HttpServer::stop() {
  parts_->http.stop();
}

}  // namespace nest::server
