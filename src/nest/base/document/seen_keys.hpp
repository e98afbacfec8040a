// Whether a key is new to an object that is being read: quick also where an object has a million keys.
#pragma once

#include <string>
#include <unordered_set>

#include "nest/base/document/value.hpp"

namespace nest::base {

class SeenKeys {
 public:
  // False where the object, which grows by every key that was new, has the key already.
  [[nodiscard]] bool add(const Value& object, const std::string& key) {
    constexpr std::size_t kFew = 16;  // up to here looking at each is quicker than a set
    const Value::Object& members = *object.as_object();
    if (members.size() < kFew) return object.find(key) == nullptr;
    if (seen_.empty()) {
      for (const Value::Member& member : members) seen_.insert(member.first);
    }
    return seen_.insert(key).second;
  }

 private:
  std::unordered_set<std::string> seen_;
};

}  // namespace nest::base
