// For tests: our table of the fields of JobSet and Kueue (data/frameworks/kubernetes_fields.csv), which says what
// they would refuse of a document, and the documents of a YAML file.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "nest/base/document/document.hpp"
#include "nest/base/files.hpp"
#include "nest/frameworks/test_validators.hpp"

namespace nest::test {

[[nodiscard]] inline std::vector<Value> yaml_documents(const std::string& name, const std::string& text) {
  std::vector<Value> out;
  std::string part;
  for (const std::string& line : split(text + "---\n", '\n')) {
    if (line != "---") {
      part += line + "\n";
      continue;
    }
    out.push_back(parse_yaml(name, part).root);
    part.clear();
  }
  return out;
}

class KubernetesFields {
 public:
  KubernetesFields() {
    for (const std::string& line :
         split(read_file(std::string(NEST_SOURCE_DIR) + "/data/frameworks/kubernetes_fields.csv"), '\n')) {
      if (line.empty() || line.starts_with('#') || line.starts_with("field,")) continue;
      const std::vector<std::string> cells = split(line, ',');
      fields_[cells[0]] = {cells[1], cells[2] == "required"};
    }
  }

  // "" where every field is known and has its type, and none that is needed is missing.
  [[nodiscard]] std::string problem(const Value& document) const {
    const std::string& kind = *document.find("kind")->as_string();
    const std::string version = kind == "JobSet" ? "jobset.x-k8s.io/v1alpha2" : "kueue.x-k8s.io/v1beta2";
    if (*document.find("apiVersion")->as_string() != version) return kind + ": apiVersion";
    for (const auto& [key, value] : *document.as_object()) {
      const std::string found = problem_at(kind + " " + key, value);
      if (!found.empty()) return found;
    }
    return "";
  }

 private:
  struct Field {
    std::string type;
    bool required = false;
  };

  static bool has_type(const std::string& type, const Value& value) {
    if (type == "string") return value.as_string() != nullptr;
    if (type == "boolean") return value.as_bool() != nullptr;
    if (type == "integer") return value.as_int() != nullptr;
    if (type == "int-or-string") return value.as_int() != nullptr || value.as_string() != nullptr;
    if (type == "array") return value.as_array() != nullptr;
    return value.as_object() != nullptr;  // object, map
  }

  [[nodiscard]] std::string problem_at(const std::string& path, const Value& value) const {
    const auto at = fields_.find(path);
    if (at == fields_.end()) return path + " is not known";
    if (!has_type(at->second.type, value)) return path + " is no " + at->second.type;
    std::string found;
    if (const Value::Array* list = value.as_array()) {
      for (const Value& one : *list)
        if (found.empty()) found = problem_at(path + "[]", one);
    }
    if (at->second.type != "object" || path.ends_with(" metadata")) return found;
    for (const auto& [name, field] : fields_) {
      const bool child =
          name.starts_with(path + ".") && name.find_first_of(".[", path.size() + 1) == std::string::npos;
      if (child && field.required && value.find(name.substr(path.size() + 1)) == nullptr)
        return name + " is missing";
    }
    for (const auto& [key, one] : *value.as_object())
      if (found.empty()) found = problem_at(path + "." + key, one);
    return found;
  }

  std::map<std::string, Field> fields_;
};

}  // namespace nest::test
