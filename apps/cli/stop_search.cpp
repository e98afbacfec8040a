#include "stop_search.hpp"

#include <chrono>
#include <csignal>

namespace nest::cli {
namespace {

std::atomic<bool> g_stop = false;         // what searches look at
std::atomic<bool> g_interrupted = false;  // by Ctrl-C

// The search looks at its limit between rounds; inside a table it is stopped only when it is so much too
// late, so that a plan that is nearly there is not lost.
std::chrono::duration<double> latest(Seconds limit) {
  return std::chrono::duration<double>(1.1 * limit.value + 0.5);
}

void interrupt(int) {
  g_interrupted = true;
  g_stop = true;
  (void)std::signal(SIGINT, SIG_DFL);
}

}  // namespace

StopSearch::StopSearch(SearchOptions& options) : before_(std::signal(SIGINT, interrupt)) {
  g_stop = false;
  g_interrupted = false;
  options.cancel = &g_stop;
  if (!options.time_limit) return;
  clock_ = std::thread([this, limit = latest(*options.time_limit)] {
    std::unique_lock lock(mutex_);
    if (!ended_.wait_for(lock, limit, [&] { return over_; })) g_stop = true;
  });
}

StopSearch::~StopSearch() {
  (void)std::signal(SIGINT, before_);
  if (!clock_.joinable()) return;
  {
    const std::scoped_lock lock(mutex_);
    over_ = true;
  }
  ended_.notify_all();
  clock_.join();
}

bool StopSearch::interrupted() const {
  return g_interrupted;
}

}  // namespace nest::cli
