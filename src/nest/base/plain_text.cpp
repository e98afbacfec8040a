#include "nest/base/plain_text.hpp"

#include <algorithm>

#include "nest/base/error.hpp"

namespace nest::base {
namespace {

constexpr std::size_t kLookedAt = 4096;  // a binary file shows itself at once

unsigned byte_at(std::string_view s, std::size_t i) {
  return i < s.size() ? static_cast<unsigned char>(s[i]) : 0U;
}

// Length of the control character that begins here, else 0. C1 controls are two bytes in UTF-8.
std::size_t control_length(std::string_view s, std::size_t at) {
  const unsigned first = byte_at(s, at);
  if (first < 0x20 || first == 0x7f) return 1;
  const unsigned second = byte_at(s, at + 1);
  return first == 0xC2 && second >= 0x80 && second < 0xA0 ? 2 : 0;
}

bool is_binary(std::string_view text) {
  const std::string_view head = text.substr(0, kLookedAt);
  if (head.find('\0') != std::string_view::npos) return true;
  const auto odd = std::count_if(head.begin(), head.end(), [](unsigned char c) {
    return c < 0x20 && c != '\n' && c != '\r' && c != '\t' && c != '\f';
  });
  constexpr std::size_t kOneIn = 10;
  return static_cast<std::size_t>(odd) * kOneIn > head.size();
}

}  // namespace

void append_utf8(std::string& out, unsigned code) {
  const auto put = [&](unsigned byte) { out += static_cast<char>(byte); };
  if (code < 0x80) {
    put(code);
  } else if (code < 0x800) {
    put(0xC0U | code >> 6U);
    put(0x80U | (code & 0x3FU));
  } else if (code < 0x10000) {
    put(0xE0U | code >> 12U);
    put(0x80U | (code >> 6U & 0x3FU));
    put(0x80U | (code & 0x3FU));
  } else {
    put(0xF0U | code >> 18U);
    put(0x80U | (code >> 12U & 0x3FU));
    put(0x80U | (code >> 6U & 0x3FU));
    put(0x80U | (code & 0x3FU));
  }
}

std::size_t utf8_length(std::string_view s) {
  const auto more = [&](std::size_t i) { return (byte_at(s, i) & 0xC0U) == 0x80U; };
  const unsigned first = byte_at(s, 0);
  const unsigned second = byte_at(s, 1);
  if (first < 0x80) return 1;
  if (first >= 0xC2 && first < 0xE0) return more(1) ? 2 : 0;
  if (first >= 0xE0 && first < 0xF0) {
    const bool overlong = first == 0xE0 && second < 0xA0;
    const bool surrogate = first == 0xED && second >= 0xA0;
    return more(1) && more(2) && !overlong && !surrogate ? 3 : 0;
  }
  const bool outside = (first == 0xF0 && second < 0x90) || (first == 0xF4 && second >= 0x90);
  return first >= 0xF0 && first < 0xF5 && more(1) && more(2) && more(3) && !outside ? 4 : 0;
}

bool has_control(std::string_view text) {
  for (std::size_t i = 0; i < text.size(); ++i) {
    if (control_length(text, i) > 0) return true;
  }
  return false;
}

std::string printable(std::string text) {
  for (std::size_t i = 0; i < text.size(); ++i) {
    if (const std::size_t length = control_length(text, i); length > 0) text.replace(i, length, "?");
  }
  return text;
}

std::string list_words(const std::vector<std::string>& words, std::string_view last) {
  std::string out;
  for (std::size_t i = 0; i < words.size(); ++i) {
    if (i > 0) out += i + 1 == words.size() ? " " + std::string(last) + " " : ", ";
    out += words[i];
  }
  return out;
}

std::string joined(const std::vector<std::string>& words, std::string_view between) {
  std::string out;
  for (std::size_t i = 0; i < words.size(); ++i) out.append(i == 0 ? "" : between).append(words[i]);
  return out;
}

std::string_view trimmed(std::string_view text, std::string_view blanks) {
  const std::size_t first = text.find_first_not_of(blanks);
  if (first == std::string_view::npos) return {};
  return text.substr(first, text.find_last_not_of(blanks) - first + 1);
}

char lower_case(char c) {
  return c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c;
}

std::string lower_case(std::string_view text) {
  std::string out(text);
  for (char& c : out) c = lower_case(c);
  return out;
}

bool same_letters(std::string_view a, std::string_view b) {
  return std::equal(a.begin(), a.end(), b.begin(), b.end(),
                    [](char x, char y) { return lower_case(x) == lower_case(y); });
}

void refuse_unreadable(const std::string& file, std::string_view text, std::string_view expected) {
  const bool utf16 = text.starts_with("\xff\xfe") || text.starts_with("\xfe\xff");
  if (utf16 && text.substr(0, kLookedAt).find('\0') != std::string_view::npos)
    throw InputError(file, "", "is UTF-16 text", "save it as UTF-8");
  if (is_binary(text)) throw InputError(file, "", "is a binary file, not " + std::string(expected));
  int line = 1;
  for (std::size_t at = 0; at < text.size();) {
    const bool ascii = static_cast<unsigned char>(text[at]) < 0x80;
    const std::size_t length = ascii ? 1 : utf8_length(text.substr(at));
    if (length == 0)
      throw InputError(file, "line " + std::to_string(line), "not valid UTF-8", "save the file as UTF-8");
    if (text[at] == '\n') ++line;
    at += length;
  }
}

}  // namespace nest::base
