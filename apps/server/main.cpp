// nest-server: what `nest serve` starts. A program of its own, because the HTTP library brings others along
// that would make every other command of nest start later.
//
//   nest-server HOST PORT JOBS TIME_LIMIT THREADS CALIBRATION
//
// PORT "-": 8080 or the next that is free; CALIBRATION "": none.
#include <fmt/format.h>

#include <signal.h>  // NOLINT(modernize-deprecated-headers): sigwait is POSIX
#include <unistd.h>

#include <cstdio>
#include <cstdlib>
#include <string>
#include <thread>
#include <vector>

#include "guard.hpp"
#include "http.hpp"
#include "nest/base/document/document.hpp"
#include "nest/base/document/reader.hpp"
#include "nest/plan/calibration.hpp"
#include "service.hpp"

namespace nest::server {
namespace {

int run(const std::vector<std::string>& words) {
  if (words.size() != 6) {
    fmt::print(stderr, "nest-server: started by 'nest serve'; see 'nest serve --help'\n");
    return 2;
  }
  HttpOptions options;
  options.host = words[0];
  if (words[1] != "-") options.port = std::stoi(words[1]);
  Limits limits;
  limits.jobs = static_cast<std::size_t>(std::stoul(words[2]));
  limits.time_limit = Seconds{std::stod(words[3])};
  limits.threads = std::stoi(words[4]);
  if (!words[5].empty()) limits.calibration = read_calibration(Reader(read_document(words[5])));
  const bool open = !is_loopback(options.host);
  const char* given = std::getenv("NEST_SERVE_TOKEN");
  if (given != nullptr) options.token = given;
  if (options.token.empty() && open) options.token = random_token();

  // All threads leave the signals to the one that waits for them.
  sigset_t signals;
  sigemptyset(&signals);
  sigaddset(&signals, SIGINT);
  sigaddset(&signals, SIGTERM);
  pthread_sigmask(SIG_BLOCK, &signals, nullptr);

  Service service(limits);
  HttpServer http(service, options);
  const auto port = http.bind();
  if (!port) {
    const std::string where =
        options.port ? fmt::format("{} port {}", options.host, *options.port) : options.host;
    fmt::print(stderr, "nest: cannot listen on {}: it is in use, or not this machine's\n", where);
    return 1;
  }
  if (open) {
    fmt::print(stderr,
               "nest: warning: {} can be reached from other machines, unencrypted; whoever has the token can "
               "use this one's processors\n",
               options.host);
  }
  const bool any = options.host == "0.0.0.0" || options.host == "::";
  std::string name = any ? "localhost" : options.host;
  if (name.find(':') != std::string::npos) name = "[" + name + "]";
  fmt::print("nest: http://{}:{}/{} (Ctrl-C ends)\n", name, *port,
             options.token.empty() ? "" : "?token=" + options.token);
  std::fflush(stdout);

  std::thread waiter([&] {
    int signal = 0;
    sigwait(&signals, &signal);
    service.jobs().shut_down();
    http.stop();
  });
  http.run();
  kill(getpid(), SIGTERM);  // where it ended by itself, the waiter still waits
  waiter.join();
  fmt::print(stderr, "nest: ended\n");
  return 0;
}

}  // namespace
}  // namespace nest::server

int main(int argc, char** argv) {
  return nest::server::run({argv + 1, argv + argc});
}
