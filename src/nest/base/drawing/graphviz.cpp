#include "nest/base/drawing/graphviz.hpp"

#include <fcntl.h>
#include <poll.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <csignal>
#include <cstdlib>

#include "nest/base/error.hpp"

extern char** environ;

namespace nest::base {
namespace {

struct Pipe {
  Pipe() {
    if (::pipe2(ends.data(), O_CLOEXEC) != 0) throw InputError("", "", "no pipe could be made for Graphviz");
  }
  Pipe(const Pipe&) = delete;
  Pipe& operator=(const Pipe&) = delete;
  Pipe(Pipe&&) = delete;
  Pipe& operator=(Pipe&&) = delete;
  ~Pipe() {
    close_end(0);
    close_end(1);
  }
  void close_end(std::size_t i) {
    if (ends[i] >= 0) ::close(ends[i]);
    ends[i] = -1;
  }
  std::array<int, 2> ends{-1, -1};
};

// Feeds one pipe and drains the other at once: either may fill up before the other side is done.
std::string converse(Pipe& to, Pipe& from, std::string_view text) {
  std::string answer;
  std::array<char, 65536> buffer{};
  ::fcntl(to.ends[1], F_SETFL, O_NONBLOCK);
  while (true) {
    const bool writing = to.ends[1] >= 0;
    std::array<pollfd, 2> waits{{{from.ends[0], POLLIN, 0}, {to.ends[1], POLLOUT, 0}}};
    if (::poll(waits.data(), writing ? 2 : 1, -1) < 0 && errno != EINTR) break;
    if (writing && waits[1].revents != 0) {
      const ssize_t n = ::write(to.ends[1], text.data(), text.size());
      if (n > 0) text.remove_prefix(static_cast<std::size_t>(n));
      if (text.empty() || (n < 0 && errno != EAGAIN && errno != EINTR)) to.close_end(1);
    }
    if (waits[0].revents != 0) {
      const ssize_t n = ::read(from.ends[0], buffer.data(), buffer.size());
      if (n == 0) break;
      if (n < 0 && errno != EINTR && errno != EAGAIN) break;
      if (n > 0) answer.append(buffer.data(), static_cast<std::size_t>(n));
    }
  }
  return answer;
}

}  // namespace

std::string render_dot(std::string_view dot_text) {
  Pipe to;
  Pipe from;
  posix_spawn_file_actions_t actions;
  posix_spawn_file_actions_init(&actions);
  posix_spawn_file_actions_adddup2(&actions, to.ends[0], STDIN_FILENO);
  posix_spawn_file_actions_adddup2(&actions, from.ends[1], STDOUT_FILENO);
  posix_spawn_file_actions_addopen(&actions, STDERR_FILENO, "/dev/null", O_WRONLY,
                                   0);  // the library prints nothing
  std::string program = "dot";
  std::string format = "-Tsvg";
  std::array<char*, 3> arguments{program.data(), format.data(), nullptr};
  pid_t child = 0;
  const int error = ::posix_spawnp(&child, "dot", &actions, nullptr, arguments.data(), environ);
  posix_spawn_file_actions_destroy(&actions);
  if (error != 0) {
    throw InputError("", "", "the drawing needs Graphviz's program 'dot', which is not installed",
                     "install it with: apt-get install graphviz");
  }
  to.close_end(0);
  from.close_end(1);
  // A child that ends early must not end us: its status tells.
  struct sigaction ignore{};
  struct sigaction before{};
  ignore.sa_handler = SIG_IGN;
  ::sigaction(SIGPIPE, &ignore, &before);
  std::string svg = converse(to, from, dot_text);
  ::sigaction(SIGPIPE, &before, nullptr);
  int status = 0;
  while (::waitpid(child, &status, 0) < 0 && errno == EINTR) {
  }
  if (!WIFEXITED(status) || WEXITSTATUS(status) != 0)
    throw InputError("", "", "Graphviz could not draw this graph");
  return svg;
}

std::string dot_quote(std::string_view text) {
  std::string out = "\"";
  for (const char c : text) {
    if (c == '"' || c == '\\') out += '\\';
    out += c;
  }
  return out + "\"";
}

}  // namespace nest::base
