#include "nest/base/document/document.hpp"

#include <gtest/gtest.h>
#include <rapidcheck.h>
#include <rapidcheck/gtest.h>

#include <filesystem>
#include <string>
#include <utility>
#include <vector>

#include "nest/base/files.hpp"
#include "support/message_of.hpp"
#include "support/random_value.hpp"
#include "support/temporary_folder.hpp"

namespace nest::base {
namespace {

TEST(Spell, WritesPathsAsPeopleDo) {
  EXPECT_EQ(spell({}), "");
  EXPECT_EQ(spell({"levels", "1", "bandwidth"}), "levels[1].bandwidth");
  EXPECT_EQ(spell({"0", "1"}), "[0][1]");
  EXPECT_EQ(spell({"a", "b"}), "a.b");
}

TEST(ParseDocument, TellsJsonFromYaml) {
  EXPECT_TRUE(parse_document("x", R"( {"a": 1} )").is_json);
  EXPECT_TRUE(parse_document("x", "[1, 2]").is_json);
  EXPECT_TRUE(parse_document("x", "{}").is_json);
  EXPECT_TRUE(parse_document("x", "\xef\xbb\xbf\n{\"a\": 1}").is_json);
  EXPECT_FALSE(parse_document("x", "a: 1").is_json);
  EXPECT_FALSE(parse_document("x", "{a: 1, b: [x]}").is_json);
  EXPECT_FALSE(parse_document("x", "{ # a comment\n a: 1}").is_json);
  EXPECT_EQ(parse_document("x", "{a: 1, b: [x]}").root, parse_document("x", R"({"a": 1, "b": ["x"]})").root);
}

TEST(ReadDocument, NamesTheFileAsTheUserDid) {
  const TemporaryFolder folder;
  write_file(folder.file("a.yaml"), "a: 1\nb: [\n");
  EXPECT_EQ(message_of([&] { static_cast<void>(read_document(folder.file("a.yaml"))); }),
            folder.file("a.yaml") + ": line 3: not valid YAML: a bracket is not closed");
  EXPECT_EQ(message_of([&] { static_cast<void>(read_document("none.yaml")); }), "none.yaml: no such file");
}

TEST(ReadDocument, RefusesFilesOver64MiB) {
  const TemporaryFolder folder;
  const std::string path = folder.file("large.json");
  write_file(path, "{}");
  std::filesystem::resize_file(path, (64U << 20U) + 1);
  EXPECT_EQ(message_of([&] { static_cast<void>(read_document(path)); }),
            path + ": is larger than 64 MiB, and no input of this program needs more");
}

TEST(ParseDocument, SaysThatJsonHasNoComments) {
  const auto refusal = [](const std::string& file, const std::string& text) {
    return message_of([&] { static_cast<void>(parse_document(file, text)); });
  };
  EXPECT_EQ(refusal("x.json", "\n// a note\n{}"), "x.json: line 2: not valid JSON: JSON has no comments");
  EXPECT_EQ(refusal("x.json", "/* a note */ {}"), "x.json: line 1: not valid JSON: JSON has no comments");
  EXPECT_EQ(refusal("x.yaml", "// a note\na: 1"), "x.yaml: line 1: a comment begins with '#' in YAML");
}

TEST(LineOf, FindsPlacesInYaml) {
  const Document d = parse_yaml(
      "x", "# cluster\nname: x\nlevels:\n  - {name: a,\n     size: 8}\n  - name: b\n    size:\n      4\n");
  EXPECT_EQ(d.line_of({}), 2);
  EXPECT_EQ(d.line_of({"name"}), 2);
  EXPECT_EQ(d.line_of({"levels"}), 3);
  EXPECT_EQ(d.line_of({"levels", "0"}), 4);
  EXPECT_EQ(d.line_of({"levels", "0", "size"}), 5);
  EXPECT_EQ(d.line_of({"levels", "1"}), 6);
  EXPECT_EQ(d.line_of({"levels", "1", "size"}), 7);  // where its key is
}

TEST(LineOf, FindsPlacesInJson) {
  const Document d = parse_json(
      "x", "\n{\"name\": \"x\",\n \"levels\": [\n  {\"name\": \"a,]\\\"}\",\n   \"size\":\n 8}, [\n1,\n2]]}");
  EXPECT_EQ(d.line_of({}), 2);
  EXPECT_EQ(d.line_of({"name"}), 2);
  EXPECT_EQ(d.line_of({"levels"}), 3);
  EXPECT_EQ(d.line_of({"levels", "0"}), 4);
  EXPECT_EQ(d.line_of({"levels", "0", "size"}), 5);
  EXPECT_EQ(d.line_of({"levels", "1"}), 6);
  EXPECT_EQ(d.line_of({"levels", "1", "1"}), 8);
}

TEST(LineOf, TheDeepestPartThatExistsDecides) {
  const std::string yaml = "a: 1\nlist:\n  - 1\n";
  const std::string json = "{\"a\": 1,\n\"list\":\n[1]}";
  for (const Document& d : {parse_yaml("x", yaml), parse_json("x", json)}) {
    EXPECT_EQ(d.line_of({"b"}), 1);
    EXPECT_EQ(d.line_of({"list", "7"}), 2);
    EXPECT_EQ(d.line_of({"list", "name"}), 2);  // no index
    EXPECT_EQ(d.line_of({"list", "99999999999999999999"}), 2);
    EXPECT_EQ(d.line_of({"list", "-1"}), 2);
    EXPECT_EQ(d.line_of({"a", "b", "c"}), 1);
  }
}

TEST(JsonLine, ReadsEscapedKeys) {
  const std::string text = R"({"a\"b": 1,
"tab\tkey": 2,
"\u0065\u20ac": 3,
"\ud83d\ude00": 4,
"back\\": 5})";
  EXPECT_EQ(json_line(text, {"a\"b"}), 1);
  EXPECT_EQ(json_line(text, {"tab\tkey"}), 2);
  EXPECT_EQ(json_line(text, {"e\xe2\x82\xac"}), 3);
  EXPECT_EQ(json_line(text, {"\xf0\x9f\x98\x80"}), 4);
  EXPECT_EQ(json_line(text, {"back\\"}), 5);
}

// Writes a value with random white space and notes the line of every path while it does: what json_line must
// find.
class Writer {
 public:
  std::string text;
  std::vector<std::pair<Path, int>> places;

  void write(const Value& value, const Path& path) {
    if (const Value::Array* items = value.as_array()) {
      text += '[';
      for (std::size_t i = 0; i < items->size(); ++i) {
        separate(i);
        write_at((*items)[i], below(path, std::to_string(i)));
      }
      space();
      text += ']';
    } else if (const Value::Object* members = value.as_object()) {
      text += '{';
      for (std::size_t i = 0; i < members->size(); ++i) {
        const auto& [key, member] = (*members)[i];
        separate(i);
        places.emplace_back(below(path, key), line_);
        text += to_json_line(Value(key));
        space();
        text += ':';
        space();
        write(member, below(path, key));
      }
      space();
      text += '}';
    } else {
      text += to_json_line(value);
    }
  }

 private:
  static Path below(Path path, std::string step) {
    path.push_back(std::move(step));
    return path;
  }

  void write_at(const Value& value, const Path& path) {
    places.emplace_back(path, line_);
    write(value, path);
  }

  void separate(std::size_t i) {
    if (i > 0) text += ',';
    space();
  }

  void space() {
    const int count = *rc::gen::inRange(0, 3);
    for (int i = 0; i < count; ++i) {
      const char c = *rc::gen::elementOf(std::string(" \t\r\n\n"));
      if (c == '\n') ++line_;
      text += c;
    }
  }

  int line_ = 1;
};

RC_GTEST_PROP(JsonLine, FindsEveryPlaceOfRandomJson, ()) {
  Value root = Value::array();
  root.push(random_value(4)).push(random_value(4));
  Writer writer;
  writer.write(root, {});
  const Document document = parse_json("x", writer.text);
  for (const auto& [path, line] : writer.places) RC_ASSERT(document.line_of(path) == line);
}

}  // namespace
}  // namespace nest::base
