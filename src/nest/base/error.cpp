#include "nest/base/error.hpp"

#include <utility>

#include "nest/base/plain_text.hpp"

namespace nest::base {
namespace {

std::string sentence(const std::string& file, const std::string& place, const std::string& what,
                     const std::string& hint) {
  std::string s = file;
  if (!place.empty()) s += (s.empty() ? "" : ": ") + place;
  if (!what.empty()) s += (s.empty() ? "" : ": ") + what;
  if (!hint.empty()) s += "; " + hint;
  // Parts may quote the input: a line end or a terminal's control sequence in it must not leave the sentence.
  return printable(std::move(s));
}

}  // namespace

InputError::InputError(std::string file, std::string place, std::string what, std::string hint)
    : std::runtime_error(sentence(file, place, what, hint)),
      file_(std::move(file)),
      place_(std::move(place)),
      what_(std::move(what)),
      hint_(std::move(hint)) {}

}  // namespace nest::base
