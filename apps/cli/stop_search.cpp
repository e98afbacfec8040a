#include "stop_search.hpp"

#include <atomic>
#include <csignal>

namespace nest::cli {
namespace {

// What the handler sets; it may touch nothing else.
std::atomic<std::atomic<bool>*> g_flag = nullptr;

void interrupt(int) {
  if (std::atomic<bool>* flag = g_flag) *flag = true;
  (void)std::signal(SIGINT, SIG_DFL);
}

}  // namespace

StopSearch::StopSearch(const Deadline& deadline) : deadline_(deadline) {
  g_flag = deadline_.flag();
  before_ = std::signal(SIGINT, interrupt);
}

StopSearch::~StopSearch() {
  (void)std::signal(SIGINT, before_);
  g_flag = nullptr;
}

}  // namespace nest::cli
