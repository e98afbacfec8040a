// Ends a search from outside: Ctrl-C once (twice ends the program), or a time limit to the moment, also
// inside a long table. What was found until then is the answer.
#pragma once

#include <atomic>
#include <condition_variable>
#include <mutex>
#include <optional>
#include <thread>

#include "nest/question/search_options.hpp"

namespace nest::cli {

class StopSearch {
 public:
  // Sets options.cancel; the time limit is the options' own.
  explicit StopSearch(SearchOptions& options);
  StopSearch(const StopSearch&) = delete;
  StopSearch& operator=(const StopSearch&) = delete;
  ~StopSearch();

  [[nodiscard]] bool interrupted() const;

 private:
  void (*before_)(int);
  std::mutex mutex_;
  std::condition_variable ended_;
  bool over_ = false;
  std::thread clock_;
};

}  // namespace nest::cli
