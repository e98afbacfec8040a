#include "nest/base/document/document.hpp"

#include <algorithm>
#include <cctype>
#include <charconv>
#include <optional>
#include <system_error>
#include <utility>

#include "nest/base/error.hpp"
#include "nest/base/files.hpp"
#include "nest/base/plain_text.hpp"

namespace nest::base {

std::string spell(const Path& path) {
  std::string s;
  for (const std::string& step : path) {
    const bool index = !step.empty() && std::all_of(step.begin(), step.end(),
                                                    [](unsigned char c) { return std::isdigit(c) != 0; });
    if (index) {
      s += "[" + step + "]";
    } else {
      s += (s.empty() ? "" : ".") + step;
    }
  }
  return s;
}

namespace {

std::optional<std::size_t> list_index(const std::string& step) {
  std::size_t index = 0;
  const char* end = step.data() + step.size();
  const auto read = std::from_chars(step.data(), end, index);
  return read.ec == std::errc{} && read.ptr == end ? std::optional(index) : std::nullopt;
}

}  // namespace

int Document::line_of(const Path& path) const {
  if (is_json) return json_line(text, path);
  const Value* at = &root;
  int line = std::max(1, at->line());
  for (const std::string& step : path) {
    const Value* next = at->find(step);
    if (const Value::Array* items = at->as_array()) {
      const std::optional<std::size_t> i = list_index(step);
      next = i && *i < items->size() ? &(*items)[*i] : nullptr;
    }
    if (next == nullptr) break;
    at = next;
    if (at->line() > 0) line = at->line();
  }
  return line;
}

Document parse_document(std::string file, std::string text) {
  if (text.starts_with("\xef\xbb\xbf")) text.erase(0, 3);  // a byte order mark says nothing in UTF-8
  const std::size_t first = text.find_first_not_of(" \t\r\n");
  const std::string_view begin = std::string_view(text).substr(std::min(first, text.size()), 2);
  if (begin == "//" || begin == "/*") {
    const auto line = 1 + std::count(text.begin(), text.begin() + static_cast<std::ptrdiff_t>(first), '\n');
    const bool yaml = file.ends_with(".yaml") || file.ends_with(".yml");
    throw InputError(file, "line " + std::to_string(line),
                     yaml ? "a comment begins with '#' in YAML" : "not valid JSON: JSON has no comments");
  }
  const bool brace = first != std::string::npos && (text[first] == '{' || text[first] == '[');
  if (!brace) return parse_yaml(std::move(file), std::move(text));
  // JSON or YAML flow style: {name: x}. A quote, a closing bracket or a nested bracket after the brace is
  // JSON.
  const std::size_t second = text.find_first_not_of(" \t\r\n", first + 1);
  const bool json = second == std::string::npos ||
                    std::string_view("\"}]{[0123456789-").find(text[second]) != std::string_view::npos;
  return json ? parse_json(std::move(file), std::move(text)) : parse_yaml(std::move(file), std::move(text));
}

Document read_document(const std::string& path) {
  return parse_document(path, read_file(path, kMostDocumentMib));
}

namespace {

unsigned hex_digits(std::string_view four) {
  unsigned code = 0;
  std::from_chars(four.data(), four.data() + four.size(), code, 16);
  return code;
}

// What stands between the quotes of a valid JSON string, as the text it means.
std::string unescape(std::string_view raw) {
  static constexpr std::string_view kLetters = "bfnrt";
  static constexpr std::string_view kMeanings = "\b\f\n\r\t";
  std::string out;
  for (std::size_t i = 0; i < raw.size(); ++i) {
    if (raw[i] != '\\' || i + 1 == raw.size()) {
      out += raw[i];
      continue;
    }
    const char c = raw[++i];
    if (c != 'u') {
      const std::size_t letter = kLetters.find(c);
      out += letter == std::string_view::npos ? c : kMeanings[letter];
      continue;
    }
    unsigned code = hex_digits(raw.substr(i + 1, 4));
    i += 4;
    const bool first_of_pair = code >= 0xD800 && code < 0xDC00;
    if (first_of_pair && i + 6 < raw.size()) {
      code = 0x10000 + ((code - 0xD800) << 10U) + (hex_digits(raw.substr(i + 3, 4)) - 0xDC00);
      i += 6;
    }
    append_utf8(out, code);
  }
  return out;
}

// A scanner over text already known to be JSON: it only has to find where a value begins.
class JsonScanner {
 public:
  explicit JsonScanner(std::string_view text) : text_(text) {}

  int line_of(const Path& path) {
    skip_space();
    int line = line_;
    for (const std::string& step : path) {
      if (at_ >= text_.size()) break;
      const bool found = text_[at_] == '{' ? enter_member(step) : text_[at_] == '[' && enter_item(step);
      if (!found) break;
      line = entered_line_;
    }
    return line;
  }

 private:
  char peek() const { return at_ < text_.size() ? text_[at_] : '\0'; }

  void advance() {
    if (text_[at_] == '\n') ++line_;
    ++at_;
  }

  void skip_space() {
    while (at_ < text_.size() && std::string_view(" \t\r\n,:").find(text_[at_]) != std::string_view::npos)
      advance();
  }

  std::string_view string() {
    const std::size_t begin = ++at_;
    while (at_ < text_.size() && text_[at_] != '"') {
      if (text_[at_] == '\\') ++at_;
      ++at_;
    }
    const std::string_view inside = text_.substr(begin, std::min(at_, text_.size()) - begin);
    ++at_;
    return inside;
  }

  void skip_value() {
    int depth = 0;
    do {
      skip_space();
      const char c = peek();
      if (c == '\0') return;
      if (c == '"') {
        string();
        continue;
      }
      if (c == '{' || c == '[') ++depth;
      if (c == '}' || c == ']') --depth;
      if (c != '{' && c != '[' && c != '}' && c != ']') {
        while (at_ < text_.size() &&
               std::string_view(" \t\r\n,]}").find(text_[at_]) == std::string_view::npos)
          ++at_;
      } else {
        advance();
      }
    } while (depth > 0);
  }

  bool enter_member(const std::string& key) {
    advance();
    for (skip_space(); peek() == '"'; skip_space()) {
      entered_line_ = line_;
      const bool found = unescape(string()) == key;
      skip_space();
      if (found) return true;
      skip_value();
    }
    return false;
  }

  bool enter_item(const std::string& index) {
    advance();
    const std::optional<std::size_t> wanted = list_index(index);
    for (std::size_t i = 0;; ++i) {
      skip_space();
      if (peek() == ']' || peek() == '\0') return false;
      entered_line_ = line_;
      if (i == wanted) return true;
      skip_value();
    }
  }

  std::string_view text_;
  std::size_t at_ = 0;
  int line_ = 1;
  int entered_line_ = 1;
};

}  // namespace

int json_line(std::string_view text, const Path& path) {
  return JsonScanner(text).line_of(path);
}

}  // namespace nest::base
