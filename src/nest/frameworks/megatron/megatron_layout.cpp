#include "nest/frameworks/megatron/megatron_layout.hpp"

#include <cctype>

#include "nest/base/error.hpp"

namespace nest::frameworks {
namespace {

constexpr std::size_t kMostLetters = 1'000'000;

[[noreturn]] void refuse(const std::string& what) {
  throw InputError("", "--pipeline-model-parallel-layout", what);
}

// Without repeats and brackets.
class Expander {
 public:
  explicit Expander(std::string_view text) : text_(text) {}

  std::string all() {
    std::string out = sequence();
    if (at_ < text_.size()) refuse("a ')' without its '('");
    return out;
  }

 private:
  std::string sequence() {
    std::string out;
    while (at_ < text_.size() && text_[at_] != ')') {
      const char c = text_[at_++];
      if (c == ',' || c == ' ') continue;
      std::string item(1, c);
      if (c == '(') {
        constexpr int kDeepest = 20;
        if (++depth_ > kDeepest) refuse("brackets in brackets, too many");
        item = sequence();
        --depth_;
        if (at_ >= text_.size()) refuse("a '(' is never closed");
        ++at_;
      } else if (c != 'E' && c != 't' && c != 'm' && c != 'L' && c != '|') {
        refuse(std::string("'") + c + "' is not one of E, t, m, L, |, (, ) and *");
      }
      const std::int64_t repeats = times();
      if (out.size() + item.size() * static_cast<std::size_t>(repeats) > kMostLetters)
        refuse("more than a million layers");
      for (std::int64_t n = 0; n < repeats; ++n) out += item;
    }
    return out;
  }

  std::int64_t times() {
    if (at_ >= text_.size() || text_[at_] != '*') return 1;
    std::int64_t n = 0;
    const std::size_t begin = ++at_;
    for (; at_ < text_.size() && std::isdigit(static_cast<unsigned char>(text_[at_])) != 0; ++at_) {
      n = 10 * n + (text_[at_] - '0');
      if (n > static_cast<std::int64_t>(kMostLetters)) refuse("more than a million layers");
    }
    if (at_ == begin) refuse("a number is expected after '*'");
    return n;
  }

  std::string_view text_;
  std::size_t at_ = 0;
  int depth_ = 0;
};

enum class Spelled { out, shortened };  // "tttt" or "t*4"

std::string letters(const PipelinePart& part, Spelled how) {
  std::string out = part.embedding ? "E" : "";
  if (how == Spelled::shortened && part.blocks > 2) {
    out += "t*" + std::to_string(part.blocks);
  } else {
    out.append(static_cast<std::size_t>(part.blocks), 't');
  }
  out.append(static_cast<std::size_t>(part.predictions), 'm');
  return out + (part.head ? "L" : "");
}

}  // namespace

std::string layout_text(std::span<const PipelinePart> parts) {
  std::string out;
  for (std::size_t i = 0; i < parts.size();) {
    const std::string plain = letters(parts[i], Spelled::out);
    std::size_t end = i + 1;
    while (end < parts.size() && letters(parts[end], Spelled::out) == plain) ++end;
    // The last part has no bar after it.
    const std::size_t barred = end == parts.size() ? end - 1 - i : end - i;
    if (barred > 1) {
      out +=
          "(" + plain + "|)*" + std::to_string(barred) + (end < parts.size() || barred < end - i ? "," : "");
      i += barred;
    } else {
      out += letters(parts[i], Spelled::shortened) + (i + 1 < parts.size() ? "|" : "");
      ++i;
    }
  }
  return out;
}

std::vector<LayoutPart> read_layout(std::string_view text) {
  const std::string all = Expander(text).all();
  std::vector<LayoutPart> parts(1);
  std::string order;
  for (const char c : all) {
    if (c == '|') {
      parts.emplace_back();
      continue;
    }
    order += c;
    LayoutPart& part = parts.back();
    if (c == 't') ++part.blocks;
    if (c == 'm') ++part.mtp;
    if (c == 'E') part.embedding = true;
    if (c == 'L') part.loss = true;
  }
  const auto once = [&](char c) {
    return order.find(c) != std::string::npos && order.find(c) == order.rfind(c);
  };
  if (!once('E') || order.front() != 'E' || !parts.front().embedding)
    refuse("one E is expected, in the first stage");
  if (!once('L') || order.back() != 'L' || !parts.back().loss) refuse("one L is expected, in the last stage");
  if (order.find('m') < order.rfind('t')) refuse("m comes after every t");
  return parts;
}

}  // namespace nest::frameworks
