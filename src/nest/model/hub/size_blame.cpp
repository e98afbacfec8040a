#include "nest/model/hub/size_blame.hpp"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

#include "nest/base/document/mismatch.hpp"
#include "nest/base/document/value.hpp"
#include "nest/base/error.hpp"

namespace nest::model {
namespace {

struct Number {
  Path path;
  std::int64_t value;
  std::size_t place = 0;  // among the numbers of the file
};

// NOLINTNEXTLINE(misc-no-recursion): as deep as the document, which is bounded
void collect(const Value& v, Path& path, std::vector<Number>& out) {
  const auto inner = [&](std::string key, const Value& value) {
    path.push_back(std::move(key));
    collect(value, path, out);
    path.pop_back();
  };
  if (const auto* members = v.as_object()) {
    for (const auto& [key, value] : *members) inner(key, value);
  } else if (const auto* list = v.as_array()) {
    for (std::size_t i = 0; i < list->size(); ++i) inner(std::to_string(i), (*list)[i]);
  } else if (const auto whole = exact_whole(v); whole && *whole > 1) {
    out.push_back({path, *whole});
  }
}

void put(Value& root, const Path& path, std::int64_t value) {
  Value* at = &root;
  for (const std::string& key : path) {
    if (Value::Array* list = at->as_array()) {
      at = &(*list)[static_cast<std::size_t>(std::stoull(key))];
      continue;
    }
    auto& members = *at->as_object();
    at = &std::ranges::find(members, key, &Value::Member::first)->second;
  }
  *at = value;
}

// Sizes that are multiples of others mostly stay so.
bool sane_with_less(Document document, const Number& number,
                    const std::function<std::string(const Document&)>& problem) {
  constexpr std::int64_t kLess = 1024;
  put(document.root, number.path, std::max<std::int64_t>(1, number.value / kLess));
  try {
    return problem(document).empty();
  } catch (const InputError&) {
    return false;
  }
}

}  // namespace

void blame_size(const Document& document, const std::string& what,
                const std::function<std::string(const Document&)>& problem) {
  std::vector<Number> numbers;
  Path path;
  collect(document.root, path, numbers);
  for (std::size_t i = 0; i < numbers.size(); ++i) numbers[i].place = i;
  std::ranges::sort(numbers, [](const Number& a, const Number& b) {
    return a.value != b.value ? a.value > b.value : a.place < b.place;
  });
  constexpr std::size_t kTried = 12;
  if (numbers.size() > kTried) numbers.resize(kTried);
  if (numbers.empty()) throw InputError(document.file, "line 1", what);
  const auto guilty =
      std::ranges::find_if(numbers, [&](const Number& n) { return sane_with_less(document, n, problem); });
  const Number& number = guilty == numbers.end() ? numbers.front() : *guilty;
  throw InputError(document.file,
                   "line " + std::to_string(document.line_of(number.path)) + ", " + base::spell(number.path),
                   std::to_string(number.value) + " is too much: " + what);
}

}  // namespace nest::model
