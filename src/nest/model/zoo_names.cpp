#include "nest/model/zoo_names.hpp"

#include <algorithm>
#include <array>
#include <cctype>
#include <cstddef>
#include <optional>
#include <vector>

#include "nest/base/closest.hpp"
#include "nest/base/document/document.hpp"
#include "nest/base/plain_text.hpp"

namespace nest::model {
namespace {

// Words of fine-tuned and converted forms, and of formats of their weights: none of them changes a shape.
constexpr std::array<std::string_view, 22> kForms{
    "instruct", "chat", "hf",   "thinking", "think", "it",    "pt",    "sft",  "dpo", "inst", "preview",
    "original", "fp8",  "bf16", "fp16",     "fp4",   "nvfp4", "mxfp4", "int4", "awq", "gptq", "speciale"};
// The same word is a size in bert-base and t5-base.
constexpr std::string_view kBase = "base";

std::string_view without_organisation(std::string_view name) {
  const std::size_t slash = name.rfind('/');
  return slash == std::string_view::npos ? name : name.substr(slash + 1);
}

// In lower case, parted at - and _. Dots part nothing: opt-1.3b is not opt-13b.
std::vector<std::string> words_of(std::string_view name) {
  std::vector<std::string> words(1);
  for (const char c : without_organisation(name)) {
    if (c == '-' || c == '_') {
      words.emplace_back();
    } else {
      words.back() += lower_case(c);
    }
  }
  return words;
}

std::string canonical(std::string_view name) {
  return joined(words_of(name));
}

// "2507", a month of release, or "20250414".
bool is_date(const std::string& word) {
  return (word.size() == 4 || word.size() == 8) && word.find_first_not_of("0123456789") == std::string::npos;
}

bool is_form(const std::string& word) {
  return std::ranges::find(kForms, word) != kForms.end();
}

// The name as it is, and with ever more of its words left out. The first word stays.
std::vector<std::string> spellings_of(std::string_view name) {
  std::vector<std::string> words = words_of(name);
  std::vector<std::string> out{joined(words)};
  const auto leave_out = [&](auto&& which) {
    const auto rest = std::remove_if(words.begin() + 1, words.end(), which);
    if (rest == words.end()) return;
    words.erase(rest, words.end());
    out.push_back(joined(words));
  };
  std::vector<std::string> undated = words;
  undated.erase(std::remove_if(undated.begin() + 1, undated.end(), is_date), undated.end());
  if (undated.size() < words.size()) out.push_back(joined(undated));
  leave_out(is_form);
  leave_out(is_date);
  leave_out([](const std::string& word) { return word == kBase; });
  return out;
}

std::vector<std::string> aliases_of(const EmbeddedFile& file) {
  std::vector<std::string> aliases;
  // Only a name that is no file name pays for reading them.
  if (file.text.find("\"aliases\"") == std::string_view::npos) return aliases;
  const Document document = parse_json("zoo model " + std::string(file.name), std::string(file.text));
  const Value* about = document.root.find("nest");
  const Value* list = about != nullptr ? about->find("aliases") : nullptr;
  if (list == nullptr || list->as_array() == nullptr) return aliases;
  for (const Value& v : *list->as_array()) {
    if (v.as_string() != nullptr) aliases.push_back(canonical(*v.as_string()));
  }
  return aliases;
}

struct Name {
  std::string text;  // canonical
  const EmbeddedFile* file;
};

std::vector<Name> all_aliases(std::span<const EmbeddedFile> files) {
  std::vector<Name> out;
  for (const EmbeddedFile& file : files) {
    for (std::string& alias : aliases_of(file)) out.push_back({std::move(alias), &file});
  }
  return out;
}

// "qwen3-235b" is the only model that begins so: a size that others follow ("-a22b") names one model.
const EmbeddedFile* only_beginning(std::span<const EmbeddedFile> files, const std::string& wanted) {
  const bool size = wanted.size() > 3 && wanted.back() == 'b' &&
                    std::isdigit(static_cast<unsigned char>(wanted[wanted.size() - 2])) != 0;
  const EmbeddedFile* found = nullptr;
  for (const EmbeddedFile& file : files) {
    if (!size || !canonical(file.name).starts_with(wanted)) continue;
    if (found != nullptr) return nullptr;
    found = &file;
  }
  return found;
}

// "llama3.1" of "llama3.1-70b": family and version, which a guess should not change.
std::string family_of(std::string_view name) {
  return canonical(name.substr(0, name.find('-')));
}

std::string letters_of(std::string_view name) {
  const std::string family = family_of(name);
  return family.substr(0, family.find_first_of("0123456789"));
}

constexpr std::size_t kMostShown = 3;
constexpr int kSlip = 2;  // letters

std::string question(const std::vector<std::string>& guesses) {
  std::string list;
  for (std::size_t i = 0; i < guesses.size(); ++i) {
    const bool last = i + 1 == guesses.size();
    list += (i == 0 ? "'" : last ? " or '" : ", '") + guesses[i] + "'";
  }
  return "did you mean " + list + "?";
}

// Of the names that begin as the wanted one does; empty where none does.
std::string beginning_hint(const std::vector<std::string>& names, const std::string& wanted) {
  constexpr std::size_t kTelling = 3;
  std::vector<std::string> begin_so;
  for (const std::string& n : names) {
    if (wanted.size() >= kTelling && canonical(n).starts_with(wanted)) begin_so.push_back(n);
  }
  if (begin_so.empty()) return {};
  if (begin_so.size() == 1) return question(begin_so);
  std::string hint = "names that begin so:";
  for (std::size_t i = 0; i < begin_so.size() && i < kMostShown; ++i)
    hint += (i == 0 ? " " : ", ") + begin_so[i];
  return hint + (begin_so.size() > kMostShown ? ", ..." : "");
}

// One guess where one is nearest and of the same family; several where they are equally near, or where only the
// family's letters agree (gpt4).
std::string near_hint(const std::vector<std::string>& names, std::string_view name) {
  const std::optional<std::string> best = closest(name, names);
  if (!best) return {};
  std::vector<std::string> guesses = nearest(name, names, edit_distance(name, *best), kMostShown);
  if (family_of(name) != family_of(*best) && letters_of(name) == letters_of(*best)) {
    std::vector<std::string> relatives = names;
    std::erase_if(relatives, [&](const std::string& n) { return letters_of(n) != letters_of(name); });
    guesses = nearest(name, relatives, static_cast<int>(name.size()), kMostShown);
  }
  if (guesses.empty()) guesses.push_back(*best);
  return question(guesses);
}

}  // namespace

const EmbeddedFile* file_of_name(std::span<const EmbeddedFile> files, std::string_view name) {
  const std::vector<std::string> spellings = spellings_of(name);
  std::optional<std::vector<Name>> aliases;
  for (const std::string& wanted : spellings) {
    const auto same = [&](const EmbeddedFile& file) { return canonical(file.name) == wanted; };
    if (const auto found = std::ranges::find_if(files, same); found != files.end()) return &*found;
    if (!aliases) aliases = all_aliases(files);
    if (const auto found = std::ranges::find(*aliases, wanted, &Name::text); found != aliases->end())
      return found->file;
  }
  return only_beginning(files, spellings.back());
}

std::string name_hint(std::span<const EmbeddedFile> files, std::string_view name) {
  const std::vector<std::string> names = names_of(files);
  const std::string_view own = without_organisation(name);
  const std::string plain = spellings_of(own).back();
  for (const std::string& wanted : {canonical(own), plain}) {
    if (std::string hint = beginning_hint(names, wanted); !hint.empty()) return hint;
  }
  std::vector<std::string> words = words_of(own);
  words.erase(std::remove_if(words.begin() + 1, words.end(), is_form), words.end());
  // "llama-3.1-71b" as the zoo spells it: llama3.1-71b.
  const bool version = words.size() > 2 && words[1].find_first_not_of("0123456789.") == std::string::npos;
  if (version) {
    words[0] += words[1];
    words.erase(words.begin() + 1);
  }
  const std::string whole = joined(words, "-");
  // What begins as the first words do: Qwen3-Coder-30B, DeepSeek-V4-Pro. Before a slip of two letters there is nothing.
  const std::optional<std::string> best = closest(whole, names);
  const bool slip = best && edit_distance(whole, *best) <= kSlip;
  while (!slip && words.size() > 2) {
    words.pop_back();
    if (std::string hint = beginning_hint(names, joined(words)); !hint.empty()) return hint;
  }
  if (std::string hint = near_hint(names, whole); !hint.empty()) return hint;
  return beginning_hint(names, words.front());
}

}  // namespace nest::model
