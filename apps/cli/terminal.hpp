// Where a command writes: data on standard output, everything else on standard error. Colour only on a
// terminal, and never when NO_COLOR is set.
#pragma once

#include <string>
#include <string_view>

#include "nest/base/document/value.hpp"
#include "nest/base/error.hpp"

namespace nest::cli {

class Terminal {
 public:
  Terminal();

  void out(std::string_view text);
  void json(const Value& value);        // with a new line at its end
  void note(std::string_view text);     // a line on standard error
  void warn(const Warnings& warnings);  // "nest: warning: ..." each

  // What is under way, on standard error: on a terminal each line replaces the last, and whatever is written
  // next replaces it too.
  void progress(std::string_view line);
  void end_progress();
  [[nodiscard]] bool watched() const { return watched_; }
  // Whether standard output is a terminal: somebody reads it, and no program does.
  [[nodiscard]] bool read_by_people() const { return out_watched_; }

  // Bold on a terminal, plain elsewhere.
  [[nodiscard]] std::string heading(std::string_view text) const;
  // Writes standard output out; false where it could not be written whole (a full disk, a closed pipe).
  [[nodiscard]] bool flush();

 private:
  bool colour_ = false;
  bool out_watched_ = false;
  bool watched_ = false;  // standard error is a terminal
  bool line_open_ = false;
};

}  // namespace nest::cli
