#include "nest/frameworks/common/flags.hpp"

#include <algorithm>
#include <cctype>
#include <map>

#include "nest/base/plain_text.hpp"

namespace nest::frameworks {
namespace {

bool is_name(std::string_view text) {
  return !text.empty() && std::isdigit(static_cast<unsigned char>(text[0])) == 0 &&
         std::all_of(text.begin(), text.end(),
                     [](char c) { return std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '_'; });
}

constexpr const char* kEnd = "\n";  // of a line: no value of a flag comes after it
// Scripts that people write stay far below these; others take memory without end.
constexpr int kDeepest = 20;               // fallbacks inside fallbacks
constexpr std::size_t kLongest = 1 << 20;  // of a word with its variables

class Script {
 public:
  explicit Script(std::string_view text) : text_(text) {}

  std::vector<std::string> words() {
    while (at_ < text_.size()) step();
    end_word();
    return std::move(words_);
  }

 private:
  void step() {
    const char c = text_[at_];
    const bool blank = std::isspace(static_cast<unsigned char>(c)) != 0;
    if (c == '\\' && at_ + 1 < text_.size()) {
      if (text_[at_ + 1] != '\n') take(text_[at_ + 1]);
      at_ += 2;
    } else if (c == '#' && !open_) {
      at_ = std::min(text_.find('\n', at_), text_.size());
    } else if (blank || c == ';') {
      end_word();
      if ((c == '\n' || c == ';') && !array_) words_.emplace_back(kEnd);
      ++at_;
    } else if (c == '\'' || c == '"') {
      quoted(c);
    } else if (c == '$') {
      variable();
    } else if (c == '(' && open_ && word_.ends_with('=')) {
      word_.clear();  // NAME=( opens an array: its words are words
      open_ = false;
      array_ = true;
      ++at_;
    } else {
      take(c);
      ++at_;
    }
  }

  void take(char c) {
    word_ += c;
    open_ = true;
  }

  void quoted(char mark) {
    open_ = true;
    quoted_ = true;
    for (++at_; at_ < text_.size() && text_[at_] != mark;) {
      if (mark == '"' && text_[at_] == '$') {
        variable();
      } else {
        word_ += text_[at_++];
      }
    }
    ++at_;
  }

  // $NAME, ${NAME}, ${NAME:-value} and its like; what the script does not set stays as it is.
  void variable() {
    open_ = true;
    const std::size_t begin = at_++;
    const bool braced = at_ < text_.size() && text_[at_] == '{';
    std::size_t end = at_;
    std::string name;
    if (braced) {
      end = closing_brace(at_);
      name = std::string(text_.substr(at_ + 1, end - at_ - 1));
      end = std::min(end + 1, text_.size());
    } else {
      while (end < text_.size() &&
             (std::isalnum(static_cast<unsigned char>(text_[end])) != 0 || text_[end] == '_'))
        ++end;
      name = std::string(text_.substr(at_, end - at_));
    }
    at_ = end;
    std::string fallback(text_.substr(begin, end - begin));
    const std::size_t mark = name.find_first_of(":-=");
    if (mark != std::string::npos) {
      const std::size_t value = name.find_first_not_of(":-=", mark);
      if (value != std::string::npos && depth_ < kDeepest)
        fallback = expanded(std::string_view(name).substr(value));
      name.resize(mark);
    }
    const auto set = variables_.find(name);
    const std::string& own = set != variables_.end() ? set->second : fallback;
    if (word_.size() + own.size() <= kLongest) word_ += own;
  }

  // Of the brace at a place; the end of the text where none closes it.
  [[nodiscard]] std::size_t closing_brace(std::size_t at) const {
    int open = 0;
    for (; at < text_.size(); ++at) {
      if (text_[at] == '{') ++open;
      if (text_[at] == '}' && --open == 0) break;
    }
    return at;
  }

  // Without its quotes, and with the variables that are set so far.
  [[nodiscard]] std::string expanded(std::string_view text) const {
    Script inner(text);
    inner.variables_ = variables_;
    inner.depth_ = depth_ + 1;
    while (inner.at_ < text.size()) {
      const char c = text[inner.at_];
      if (c == '\'' || c == '"') {
        inner.quoted(c);
      } else if (c == '$') {
        inner.variable();
      } else {
        inner.word_ += c;
        ++inner.at_;
      }
    }
    return inner.word_;
  }

  void end_word() {
    if (!open_) return;
    const auto count = [&](char c) { return std::count(word_.begin(), word_.end(), c); };
    if (array_ && !quoted_ && word_.ends_with(')') && count(')') > count('(')) {
      word_.pop_back();
      array_ = false;
    }
    const std::size_t equals = word_.find('=');
    if (equals != std::string::npos && is_name(std::string_view(word_).substr(0, equals))) {
      variables_[word_.substr(0, equals)] = word_.substr(equals + 1);
      // A variable that holds flags is read where it is set.
      if (word_.find("--", equals) != std::string::npos) {
        for (std::string& word : Script(std::string_view(word_).substr(equals + 1)).words())
          words_.push_back(std::move(word));
        words_.emplace_back(kEnd);
      }
    } else if (quoted_ && word_.starts_with("--") && word_.find(' ') != std::string::npos) {
      // "--flag value" between quotes, as arrays have it.
      for (std::string& word : Script(word_).words()) words_.push_back(std::move(word));
    } else if (quoted_ || !word_.empty()) {
      words_.push_back(word_);
    }
    word_.clear();
    open_ = quoted_ = false;
  }

  std::string_view text_;
  std::size_t at_ = 0;
  std::string word_;
  bool open_ = false;
  bool quoted_ = false;
  bool array_ = false;
  int depth_ = 0;
  std::map<std::string, std::string> variables_;
  std::vector<std::string> words_;
};

// Of the tests in Megatron-LM's own repository: "  --num-layers: 12" below "MODEL_ARGS:", and true for a flag
// without a value.
constexpr std::string_view kArguments = "\nMODEL_ARGS:";

std::vector<Flag> yaml_flags(std::string_view text) {
  std::vector<Flag> flags;
  bool inside = false;
  while (!text.empty()) {
    const std::size_t end = std::min(text.find('\n'), text.size());
    const std::string_view line = text.substr(0, end);
    text.remove_prefix(std::min(end + 1, text.size()));
    const std::string_view words = trimmed(line);
    if (words.empty() || words.starts_with('#')) continue;
    if (line.front() != ' ') inside = line.starts_with(kArguments.substr(1));
    const std::size_t colon = words.find(':');
    if (!inside || !words.starts_with("--") || colon == std::string_view::npos) continue;
    std::string_view value = trimmed(words.substr(colon + 1));
    if (const std::size_t comment = value.find(" #"); comment != std::string_view::npos)
      value = trimmed(value.substr(0, comment));
    if (value == "false") continue;
    Flag flag{std::string(words.substr(0, colon)), {}};
    for (std::string& word : Script(value).words()) {
      if (word != "true") flag.values.push_back(std::move(word));
    }
    flags.push_back(std::move(flag));
  }
  return flags;
}

bool ends_flags(const std::string& word) {
  return word == kEnd || word == "|" || word == "&&" || word == "||" || word == "&" ||
         word.starts_with('>') || word.starts_with("2>");
}

}  // namespace

std::string flag_text(const std::vector<FlagSection>& groups) {
  std::string out;
  for (const FlagSection& group : groups) {
    if (group.flags.empty()) continue;
    out += (out.empty() ? "# " : "\n# ") + group.title + "\n";
    for (const Flag& flag : group.flags) {
      out += flag.name;
      for (const std::string& value : flag.values) out += " " + value;
      out += '\n';
    }
  }
  return out;
}

std::vector<Flag> read_flags(std::string_view text) {
  if (text.starts_with(kArguments.substr(1)) || text.find(kArguments) != std::string_view::npos)
    return yaml_flags(text);
  std::vector<Flag> flags;
  bool open = false;
  for (const std::string& word : Script(text).words()) {
    if (word.starts_with("--") && word.size() > 2) {
      const std::size_t equals = word.find('=');
      flags.push_back({word.substr(0, equals), {}});
      if (equals != std::string::npos) flags.back().values.push_back(word.substr(equals + 1));
      open = true;
    } else if (ends_flags(word) || word.starts_with("${") || word.starts_with('$')) {
      open = false;
    } else if (open) {
      flags.back().values.push_back(word);
    }
  }
  return flags;
}

const Flag* find_flag(const std::vector<Flag>& flags, std::string_view name) {
  const auto at =
      std::find_if(flags.rbegin(), flags.rend(), [&](const Flag& flag) { return flag.name == name; });
  return at == flags.rend() ? nullptr : &*at;
}

}  // namespace nest::frameworks
