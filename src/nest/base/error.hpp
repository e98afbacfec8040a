// Bad input is one sentence: where it is, what is wrong, and a guess at what was meant. Thrown anywhere in
// the library, caught once per application. A sample:
//
//   pods.yaml: line 5, levels[1]: unknown key 'bandwith'; did you mean 'bandwidth'?
#pragma once

#include <stdexcept>
#include <string>
#include <vector>

#include "nest/base/rooms.hpp"

namespace nest::base {

class InputError : public std::runtime_error {
 public:
  InputError(std::string file, std::string place, std::string what, std::string hint = {});

  [[nodiscard]] const std::string& file() const { return file_; }
  [[nodiscard]] const std::string& place() const { return place_; }
  [[nodiscard]] const std::string& problem() const { return what_; }
  [[nodiscard]] const std::string& hint() const { return hint_; }

 private:
  std::string file_;
  std::string place_;
  std::string what_;
  std::string hint_;
};

// What an input says that is allowed but likely unintended; the application decides how to show it.
using Warnings = std::vector<std::string>;

}  // namespace nest::base
