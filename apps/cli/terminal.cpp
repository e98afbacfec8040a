#include "terminal.hpp"

#include <sys/ioctl.h>
#include <unistd.h>

#include <cstdio>
#include <cstdlib>

namespace nest::cli {
namespace {

constexpr std::size_t kNarrow = 79;  // columns of a terminal that does not tell

}  // namespace

Terminal::Terminal() {
  const char* no_colour = std::getenv("NO_COLOR");
  const char* term = std::getenv("TERM");
  const bool dumb = term != nullptr && std::string_view(term) == "dumb";
  const bool refused = no_colour != nullptr && *no_colour != '\0';
  out_watched_ = ::isatty(STDOUT_FILENO) != 0;
  colour_ = out_watched_ && !refused && !dumb;
  watched_ = ::isatty(STDERR_FILENO) != 0 && !dumb;
}

void Terminal::out(std::string_view text) {
  end_progress();
  std::fwrite(text.data(), 1, text.size(), stdout);
}

void Terminal::json(const Value& value) {
  out(to_json(value));
  out("\n");
}

void Terminal::note(std::string_view text) {
  end_progress();
  std::fwrite(text.data(), 1, text.size(), stderr);
  std::fputc('\n', stderr);
}

void Terminal::warn(const Warnings& warnings) {
  for (const std::string& w : warnings) note("nest: warning: " + w);
}

void Terminal::progress(std::string_view line) {
  if (!watched_) {
    note(line);
    return;
  }
  // A line that is wrapped could not be replaced.
  winsize window{};
  const bool known = ::ioctl(STDERR_FILENO, TIOCGWINSZ, &window) == 0 && window.ws_col > 1;
  line = line.substr(0, known ? window.ws_col - 1U : kNarrow);
  std::fputs("\r\x1b[K", stderr);
  std::fwrite(line.data(), 1, line.size(), stderr);
  std::fflush(stderr);
  line_open_ = true;
}

void Terminal::end_progress() {
  if (!line_open_) return;
  std::fputs("\r\x1b[K", stderr);
  std::fflush(stderr);
  line_open_ = false;
}

std::string Terminal::heading(std::string_view text) const {
  return colour_ ? "\x1b[1m" + std::string(text) + "\x1b[0m" : std::string(text);
}

bool Terminal::flush() {
  return std::fflush(stdout) == 0 && std::ferror(stdout) == 0;
}

}  // namespace nest::cli
