#include "nest/base/document/value.hpp"

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>

#include "nest/base/plain_text.hpp"

namespace nest::base {
namespace {

constexpr int kLineWidth = 110;

void write_string(std::string& out, const std::string& s) {
  static constexpr std::string_view kHex = "0123456789abcdef";
  const auto plain = [](char c) { return c >= ' ' && c < '\x7f' && c != '"' && c != '\\'; };
  out += '"';
  if (std::all_of(s.begin(), s.end(), plain)) {  // most keys and words
    out += s;
    out += '"';
    return;
  }
  for (std::size_t i = 0; i < s.size(); ++i) {
    const char c = s[i];
    switch (c) {
      case '"':
        out += "\\\"";
        break;
      case '\\':
        out += "\\\\";
        break;
      case '\n':
        out += "\\n";
        break;
      case '\t':
        out += "\\t";
        break;
      case '\r':
        out += "\\r";
        break;
      default: {
        const auto byte = static_cast<unsigned char>(c);
        if (byte < 0x20) {
          out += "\\u00";
          out += kHex[byte >> 4U];
          out += kHex[byte & 15U];
        } else if (byte < 0x80) {
          out += c;
        } else if (const std::size_t length = utf8_length(std::string_view(s).substr(i)); length > 0) {
          out.append(s, i, length);
          i += length - 1;
        } else {
          out += "\\ufffd";  // JSON is UTF-8: a stray byte becomes the replacement character
        }
      }
    }
  }
  out += '"';
}

template <class T>
void write_number(std::string& out, T number) {
  std::array<char, 32> buffer{};
  const auto end = std::to_chars(buffer.data(), buffer.data() + buffer.size(), number).ptr;
  out.append(buffer.data(), end);
}

void write_line(std::string& out, const Value& value) {
  if (value.is_null()) {
    out += "null";
  } else if (const bool* b = value.as_bool()) {
    out += *b ? "true" : "false";
  } else if (const std::int64_t* i = value.as_int()) {
    write_number(out, *i);
  } else if (const double* d = value.as_real()) {
    if (std::isfinite(*d)) {
      write_number(out, *d);
    } else {
      out += "null";
    }
  } else if (const std::string* s = value.as_string()) {
    write_string(out, *s);
  } else if (const Value::Array* items = value.as_array()) {
    out += '[';
    for (const Value& item : *items) {
      if (&item != items->data()) out += ", ";
      write_line(out, item);
    }
    out += ']';
  } else if (const Value::Object* members = value.as_object()) {
    out += '{';
    for (const Value::Member& member : *members) {
      if (&member != members->data()) out += ", ";
      write_string(out, member.first);
      out += ": ";
      write_line(out, member.second);
    }
    out += '}';
  }
}

bool is_scalar(const Value& v) {
  return v.as_array() == nullptr && v.as_object() == nullptr;
}

// Containers of scalars that fit are written on one line: a table of layers then reads as a table.
bool stays_on_one_line(const Value& value) {
  if (is_scalar(value)) return true;
  if (const Value::Array* items = value.as_array())
    return std::all_of(items->begin(), items->end(), is_scalar);
  const Value::Object* members = value.as_object();
  if (!std::all_of(members->begin(), members->end(), [](const auto& m) { return is_scalar(m.second); }))
    return false;
  std::string line;
  write_line(line, value);
  return line.size() <= kLineWidth;
}

void write_pretty(std::string& out, const Value& value, std::size_t indent) {
  if (stays_on_one_line(value)) {
    write_line(out, value);
    return;
  }
  const auto new_line = [&](std::size_t depth) {
    out += '\n';
    out.append(2 * depth, ' ');
  };
  const Value::Array* items = value.as_array();
  out += items != nullptr ? '[' : '{';
  bool first = true;
  const auto separate = [&] {
    if (!first) out += ',';
    first = false;
    new_line(indent + 1);
  };
  if (items != nullptr) {
    for (const Value& item : *items) {
      separate();
      write_pretty(out, item, indent + 1);
    }
  } else {
    for (const auto& [key, item] : *value.as_object()) {
      separate();
      write_string(out, key);
      out += ": ";
      write_pretty(out, item, indent + 1);
    }
  }
  new_line(indent);
  out += items != nullptr ? ']' : '}';
}

}  // namespace

const Value* Value::find(std::string_view key) const {
  const Object* members = as_object();
  if (members == nullptr) return nullptr;
  const auto it =
      std::find_if(members->begin(), members->end(), [&](const Member& m) { return m.first == key; });
  return it == members->end() ? nullptr : &it->second;
}

Value& Value::set(std::string key, Value value) {
  std::get<Object>(data_).emplace_back(std::move(key), std::move(value));
  return *this;
}

Value& Value::push(Value value) {
  std::get<Array>(data_).push_back(std::move(value));
  return *this;
}

std::string_view Value::kind_name() const {
  static constexpr std::array<std::string_view, 7> kNames{
      "nothing", "true or false", "a whole number", "a number", "a text", "a list", "a group of keys"};
  return kNames[data_.index()];
}

std::string to_json(const Value& value) {
  std::string out;
  write_pretty(out, value, 0);
  return out;
}

std::string to_json_line(const Value& value) {
  std::string out;
  write_line(out, value);
  return out;
}

}  // namespace nest::base
