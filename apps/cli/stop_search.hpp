// Ends the searches of a command from outside: Ctrl-C once (twice ends the program). What was found until then
// is the answer.
#pragma once

#include "nest/base/deadline.hpp"
#include "nest/base/rooms.hpp"

namespace nest::cli {

class StopSearch {
 public:
  // Ctrl-C cancels the deadline that all these searches share.
  explicit StopSearch(const Deadline& deadline);
  StopSearch(const StopSearch&) = delete;
  StopSearch& operator=(const StopSearch&) = delete;
  ~StopSearch();

  [[nodiscard]] bool interrupted() const { return deadline_.cancelled(); }

 private:
  Deadline deadline_;
  void (*before_)(int);
};

}  // namespace nest::cli
