// Random values for properties: trees of everything JSON can hold, with awkward texts and keys.
#pragma once

#include <rapidcheck.h>

#include <cmath>
#include <cstdint>
#include <string>
#include <utility>

#include "nest/base/document/value.hpp"

namespace nest::base {

// Texts with quotes, backslashes, control characters and characters of two to four bytes.
inline std::string random_text() {
  static const std::vector<std::string> kPieces{"a",
                                                "key",
                                                "0",
                                                "\"",
                                                "\\",
                                                "\n",
                                                "\t",
                                                "\r",
                                                "\b",
                                                "\x01",
                                                "\x1f",
                                                "/",
                                                "{",
                                                "]",
                                                ",",
                                                ": ",
                                                "\xc3\xa9",
                                                "\xe2\x82\xac",
                                                "\xf0\x9f\x98\x80"};
  std::string text;
  const int pieces = *rc::gen::inRange(0, 6);
  for (int i = 0; i < pieces; ++i) text += *rc::gen::elementOf(kPieces);
  return text;
}

inline double random_real() {
  return std::ldexp(*rc::gen::inRange<std::int64_t>(-1'000'000'000'000, 1'000'000'000'000),
                    *rc::gen::inRange(-200, 200));
}

inline Value random_value(int depth) {
  switch (*rc::gen::inRange(0, depth > 0 ? 7 : 5)) {
    case 0:
      return {};
    case 1:
      return *rc::gen::arbitrary<bool>();
    case 2:
      return *rc::gen::arbitrary<std::int64_t>();
    case 3:
      return random_real();
    case 4:
      return random_text();
    case 5: {
      Value list = Value::array();
      const int items = *rc::gen::inRange(0, 5);
      for (int i = 0; i < items; ++i) list.push(random_value(depth - 1));
      return list;
    }
    default: {
      Value group = Value::object();
      const int members = *rc::gen::inRange(0, 5);
      for (int i = 0; i < members; ++i) {
        std::string key = random_text();
        if (group.find(key) == nullptr) group.set(std::move(key), random_value(depth - 1));
      }
      return group;
    }
  }
}

}  // namespace nest::base
