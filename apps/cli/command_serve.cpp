// nest serve: the web application and its API. The server is a program of its own beside this one
// (apps/server/main.cpp says why); here its options are checked.
#include <fmt/format.h>
#include <unistd.h>

#include <array>
#include <cstdlib>
#include <filesystem>

#include "command.hpp"
#include "nest/base/error.hpp"
#include "nest/base/units.hpp"
#include "option_values.hpp"
#include "plan_options.hpp"

namespace nest::cli {
namespace {

constexpr std::int64_t kMostPort = 65'535;
constexpr std::int64_t kMostJobs = 64;
constexpr std::int64_t kMostThreads = 1024;
constexpr std::size_t kShortestToken = 8;

double time_limit(const Arguments& arguments) {
  const std::string typed = arguments.text("--time-limit").value_or("20");
  const auto time = parse_time(typed);
  if (!time || !(time->value > 0) || time->value > 3600)
    throw UsageError("--time-limit: '" + typed + "' is not a time of at most an hour; try 20 or '20 s'");
  return time->value;
}

// Beside this program, as the build and the installation put it.
std::filesystem::path server_program() {
  std::error_code failed;
  const std::filesystem::path own = std::filesystem::read_symlink("/proc/self/exe", failed);
  const std::filesystem::path server = own.parent_path() / "nest-server";
  if (failed || !std::filesystem::exists(server, failed)) {
    throw InputError("", server.string(), "is missing: nest was built without cpp-httplib",
                     "install libcpp-httplib-dev, then run cmake again");
  }
  return server;
}

int run_serve(const Arguments& arguments, Terminal& terminal) {
  const std::string host = arguments.text("--host").value_or("127.0.0.1");
  if (host.empty()) throw UsageError("--host: an address is expected, such as 127.0.0.1 or 0.0.0.0");
  const std::string port =
      arguments.has("--port") ? std::to_string(whole_within(arguments, "--port", 0, 0, kMostPort)) : "-";
  if (const auto token = arguments.text("--token")) {
    if (token->size() < kShortestToken)
      throw UsageError(fmt::format("--token: {} letters or more are expected", kShortestToken));
    setenv("NEST_SERVE_TOKEN", token->c_str(), 1);
  }
  const std::string calibration = arguments.text("--calibration").value_or("");
  (void)read_calibration_option(arguments);  // a mistake is found here, where sentences are printed
  std::array<std::string, 7> words{server_program().string(),
                                   host,
                                   port,
                                   std::to_string(whole_within(arguments, "--jobs", 2, 1, kMostJobs)),
                                   fmt::format("{}", time_limit(arguments)),
                                   std::to_string(whole_within(arguments, "--threads", 0, 0, kMostThreads)),
                                   calibration};
  if (!terminal.flush()) return kBadInput;
  std::array<char*, 8> list{};
  for (std::size_t i = 0; i < words.size(); ++i) list[i] = words[i].data();
  execv(list[0], list.data());
  throw InputError("", words[0], "cannot be started");
}

}  // namespace

std::vector<Command> serve_commands() {
  return {
      {"serve",
       "",
       0,
       0,
       "start the web application",
       "Serves a web page and a JSON API (docs/api.md) on this machine until you press Ctrl-C. The page "
       "plans again while you change bandwidths, memory, devices or the batch; it shows plans in the same "
       "way as the report, and compares two plans. By default only this machine can reach it. With another "
       "--host, clients need a token, which the command prints. No file of this machine can be read through "
       "the server.",
       {{"--port", "N", "the port (default: 8080 or the next free port; 0 means any free port)"},
        {"--host", "ADDRESS",
         "the address to listen on (default 127.0.0.1; 0.0.0.0 means all addresses of this machine)"},
        {"--token", "TEXT",
         "the token that clients must send (default: none on 127.0.0.1, otherwise a random one)"},
        {"--jobs", "N", "the number of searches that may run at the same time (default 2)"},
        {"--time-limit", "S", "the time limit of one plan in seconds (default 20)"},
        {"--threads", "N", "the number of threads of one search (default: one per core)"},
        calibration_option()},
       {{"nest serve", "start the server, then open the address that it prints"},
        {"nest serve --port 9000 --time-limit 60", "listen on port 9000 and allow more time for each plan"}},
       run_serve}};
}

}  // namespace nest::cli
