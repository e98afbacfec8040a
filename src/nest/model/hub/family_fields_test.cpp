#include "nest/model/hub/family_fields.hpp"

#include <gtest/gtest.h>

#include "nest/base/document/document.hpp"
#include "nest/base/error.hpp"

namespace nest::model {
namespace {

// The fields `section` of a family with one default and one name, for a config.
class FieldsOf {
 public:
  FieldsOf(const std::string& config, std::map<std::string, std::string> section,
           std::map<std::string, std::string> names = {})
      : document_(parse_json("config.json", config)), reader_(document_) {
    family_.defaults["width"] = Value(64);
    family_.names.emplace("double", Expression::parse("2 * width"));
    for (const auto& [key, text] : names) family_.names.insert_or_assign(key, Expression::parse(text));
    for (const auto& [key, text] : section) section_.emplace(key, Expression::parse(text));
    fields_.emplace(reader_, family_, section_);
  }
  Fields* operator->() { return &*fields_; }

  std::string message(const std::string& field) {
    try {
      static_cast<void>(fields_->size(field));
    } catch (const InputError& e) {
      return e.what();
    }
    return "no error";
  }

 private:
  Document document_;
  Reader reader_;
  Described family_;
  Described::Section section_;
  std::optional<Fields> fields_;
};

TEST(FamilyFields, KeysDefaultsAndNames) {
  EXPECT_EQ(FieldsOf(R"({"width": 8})", {{"hidden", "width"}})->size("hidden"), 8);
  EXPECT_EQ(FieldsOf("{}", {{"hidden", "width"}})->size("hidden"), 64);
  EXPECT_EQ(FieldsOf("{}", {{"hidden", "double"}})->size("hidden"), 128);
  EXPECT_EQ(FieldsOf(R"({"width": null})", {{"hidden", "width ?? 7"}})->size("hidden"), 7);
  EXPECT_EQ(FieldsOf("{}", {})->count("window"), 0);
  EXPECT_TRUE(FieldsOf("{}", {{"tied", "width > 3"}})->flag("tied"));
  EXPECT_EQ(FieldsOf("{}", {{"norm", "'rms'"}})->word("norm"), "rms");
}

TEST(FamilyFields, SharedLayers) {
  FieldsOf f("{}", {{"shares", "layer > 0 ? 0 : null"}});
  f->set_layer(0);
  EXPECT_FALSE(f->shared_layer());
  f->set_layer(3);
  EXPECT_EQ(f->shared_layer(), 0);
}

TEST(FamilyFields, MistakesNameTheKeyThatWasGiven) {
  EXPECT_EQ(FieldsOf(R"({"width": -8})", {{"hidden", "width"}}).message("hidden"),
            "config.json: line 1, width: -8 is outside 1 to 10000000 for hidden");
  EXPECT_EQ(FieldsOf(R"({"width": "big"})", {{"hidden", "width"}}).message("hidden"),
            "config.json: line 1, width: expected a whole number for hidden, found a text");
  EXPECT_EQ(FieldsOf(R"({"other": 1})", {{"hidden", "missing"}}).message("hidden"),
            "config.json: line 1: nothing says how large hidden is; it depends on missing");
  EXPECT_EQ(FieldsOf(R"({"width": 0})", {{"hidden", "double"}}).message("hidden"),
            "config.json: line 1, width: 0 is outside 1 to 10000000 for hidden");
}

// Of several keys: the one with the value that is wrong, else the one that is not as in the family.
TEST(FamilyFields, MistakesNameTheKeyToBlame) {
  EXPECT_EQ(
      FieldsOf(R"({"width": 64, "depth": []})", {{"hidden", "width > 0 ? depth : width"}}).message("hidden"),
      "config.json: line 1, depth: expected a whole number for hidden, found a list");
  EXPECT_EQ(FieldsOf(R"({"parts": 3, "width": 32})", {{"hidden", "width / parts"}}).message("hidden"),
            "config.json: line 1, width: 32 is not a multiple of 3");
}

TEST(FamilyFields, ANameThatIsDefinedByItself) {
  FieldsOf f("{}", {{"hidden", "a"}}, {{"a", "b + 1"}, {"b", "a"}});
  EXPECT_EQ(f.message("hidden"), "data/families: names.a: 'a' is defined by itself");
}

// Of a group of keys the one inside, also where the family has a name for the group.
TEST(FamilyFields, MistakesNameTheKeyInsideAGroup) {
  const std::string config = R"({"part": {"wide": 12000000, "deep": 2}})";
  EXPECT_EQ(FieldsOf(config, {{"hidden", "part.deep * part.wide"}}).message("hidden"),
            "config.json: line 1, part.wide: 24000000 is outside 1 to 10000000 for hidden");
  EXPECT_EQ(FieldsOf(config, {{"hidden", "given.wide"}}, {{"given", "part"}}).message("hidden"),
            "config.json: line 1, part.wide: 12000000 is outside 1 to 10000000 for hidden");
  EXPECT_EQ(FieldsOf(config, {{"hidden", "part.missing"}}).message("hidden"),
            "config.json: line 1, part: nothing says how large hidden is; it depends on part.missing");
}

TEST(FamilyFields, AFamilyTakesOverWhatItIsLike) {
  const Described glm = describe_family("glm4_moe");
  EXPECT_TRUE(glm.model.contains("hidden")) << "of decoder";
  EXPECT_TRUE(glm.block.contains("expert_ffn")) << "its own";
  EXPECT_THROW(static_cast<void>(describe_family("no such family")), InputError);
}

}  // namespace
}  // namespace nest::model
