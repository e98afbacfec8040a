#include "nest/cluster/imports/xml.hpp"

#include <algorithm>
#include <array>
#include <cctype>

#include "nest/cluster/imports/text_lines.hpp"

namespace nest::cluster {
namespace {

constexpr std::size_t kDeepest = 64;
constexpr std::size_t kMostElements = 1'000'000;

std::string decoded(std::string_view text) {
  constexpr std::array<std::pair<std::string_view, char>, 5> kEntities{
      {{"&lt;", '<'}, {"&gt;", '>'}, {"&amp;", '&'}, {"&quot;", '"'}, {"&apos;", '\''}}};
  std::string out;
  while (!text.empty()) {
    const auto* const known = std::find_if(kEntities.begin(), kEntities.end(), [&](const auto& entity) {
      return text.starts_with(entity.first);
    });
    out += known == kEntities.end() ? text.front() : known->second;
    text.remove_prefix(known == kEntities.end() ? 1 : known->first.size());
  }
  return out;
}

class Parser {
 public:
  Parser(const std::string& file, std::string_view text) : file_(file), text_(text) {}

  XmlElement parse() {
    skip_outside();
    if (at_ >= text_.size() || text_[at_] != '<') fail("no XML element");
    XmlElement root = element(0);
    skip_outside();
    if (at_ < text_.size()) fail("text after the end of <" + root.name + ">");
    return root;
  }

 private:
  [[noreturn]] void fail(const std::string& what) const {
    fail_line(file_, line_, what, "a whole XML file is expected");
  }

  void advance(std::size_t by) {
    for (; by > 0 && at_ < text_.size(); --by, ++at_) {
      if (text_[at_] == '\n') ++line_;
    }
  }
  [[nodiscard]] std::string_view rest() const { return text_.substr(at_); }
  void skip_blanks() {
    while (at_ < text_.size() && std::isspace(static_cast<unsigned char>(text_[at_])) != 0) advance(1);
  }

  // Behind the end of a comment, a declaration and the like; false where none begins here.
  bool skip_marked() {
    constexpr std::array<std::pair<std::string_view, std::string_view>, 3> kMarks{
        {{"<!--", "-->"}, {"<?", "?>"}, {"<!", ">"}}};
    for (const auto& [begin, end] : kMarks) {
      if (!rest().starts_with(begin)) continue;
      const std::size_t behind = rest().find(end, begin.size());
      if (behind == std::string_view::npos) fail("'" + std::string(begin) + "' is not closed");
      advance(behind + end.size());
      return true;
    }
    return false;
  }
  void skip_outside() {
    for (skip_blanks(); skip_marked(); skip_blanks()) {
    }
  }

  std::string name() {
    std::size_t end = at_;
    const auto inside = [&](char c) {
      return std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '_' || c == '-' || c == ':' || c == '.';
    };
    while (end < text_.size() && inside(text_[end])) ++end;
    if (end == at_) fail("a name is expected");
    std::string out(text_.substr(at_, end - at_));
    advance(end - at_);
    return out;
  }

  void attributes(XmlElement& out) {
    for (skip_blanks(); at_ < text_.size() && text_[at_] != '>' && text_[at_] != '/'; skip_blanks()) {
      std::string key = name();
      skip_blanks();
      if (at_ >= text_.size() || text_[at_] != '=') fail("'" + key + "' has no value");
      advance(1);
      skip_blanks();
      const char quote = at_ < text_.size() ? text_[at_] : '\0';
      const std::size_t end =
          quote == '"' || quote == '\'' ? text_.find(quote, at_ + 1) : std::string_view::npos;
      if (end == std::string_view::npos) fail("the value of '" + key + "' is not in quotes");
      out.attributes.emplace_back(std::move(key), decoded(text_.substr(at_ + 1, end - at_ - 1)));
      advance(end + 1 - at_);
    }
  }

  XmlElement element(std::size_t depth) {
    if (depth > kDeepest) fail("nested more than 64 deep");
    if (++elements_ > kMostElements) fail("more than 1,000,000 elements");
    XmlElement out;
    out.line = line_;
    advance(1);
    out.name = name();
    attributes(out);
    if (rest().starts_with("/>")) {
      advance(2);
      return out;
    }
    if (!rest().starts_with('>')) fail("<" + out.name + " is not closed");
    advance(1);
    while (true) {
      const std::size_t next = text_.find('<', at_);
      if (next == std::string_view::npos)
        fail("<" + out.name + "> of line " + std::to_string(out.line) + " is not closed");
      out.text += decoded(text_.substr(at_, next - at_));
      advance(next - at_);
      if (skip_marked()) continue;
      if (!rest().starts_with("</")) {
        out.children.push_back(element(depth + 1));
        continue;
      }
      advance(2);
      const std::string closed = name();
      if (closed != out.name)
        fail("</" + closed + "> closes <" + out.name + "> of line " + std::to_string(out.line));
      skip_blanks();
      if (!rest().starts_with('>')) fail("</" + closed + " is not closed");
      advance(1);
      break;
    }
    std::replace(out.text.begin(), out.text.end(), '\n', ' ');
    out.text = std::string(trimmed(out.text));
    return out;
  }

  const std::string& file_;
  std::string_view text_;
  std::size_t at_ = 0;
  int line_ = 1;
  std::size_t elements_ = 0;
};

}  // namespace

std::string_view XmlElement::attribute(std::string_view key) const {
  for (const auto& [own, value] : attributes) {
    if (own == key) return value;
  }
  return {};
}

const XmlElement* XmlElement::child(std::string_view child_name) const {
  const auto at = std::find_if(children.begin(), children.end(),
                               [&](const XmlElement& c) { return c.name == child_name; });
  return at == children.end() ? nullptr : &*at;
}

std::string_view XmlElement::text_of(std::string_view child_name) const {
  const XmlElement* own = child(child_name);
  return own == nullptr ? std::string_view() : std::string_view(own->text);
}

XmlElement parse_xml(const std::string& file, std::string_view text) {
  return Parser(file, text).parse();
}

}  // namespace nest::cluster
