#include "nest/base/document/reader.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "support/message_of.hpp"

namespace nest::base {
namespace {

using ::testing::ElementsAre;

// The message of reading something from a YAML text.
template <class Call>
std::string reading(const std::string& yaml, Call call) {
  const Document document = parse_yaml("x.yaml", yaml);
  return message_of([&] {
    Reader reader(document);
    static_cast<void>(call(reader));
  });
}

TEST(Reader, ReadsEveryKind) {
  const Document d = parse_yaml("x.yaml", R"(
name: pod
size: 8
share: 0.5
wrap: true
memory: 80 GiB
latency: 5 us
rate: 400 Gb/s
peak: 989 TFLOP/s
dims: [4, 4.0, 8]
wraps: [true, false]
inner: {a: 1}
list: [{a: 1}, {a: 2}]
nothing: null
)");
  Reader r(d);
  EXPECT_EQ(r.text("name"), "pod");
  EXPECT_EQ(r.text_or("title", "none"), "none");
  EXPECT_EQ(r.whole("size"), 8);
  EXPECT_EQ(r.whole_or("sizes", 3), 3);
  EXPECT_EQ(r.number("share"), 0.5);
  EXPECT_EQ(r.number("size"), 8.0);
  EXPECT_EQ(r.number_or("part", 0.25), 0.25);
  EXPECT_TRUE(r.boolean_or("wrap", false));
  EXPECT_TRUE(r.boolean_or("fold", true));
  EXPECT_EQ(r.bytes("memory"), Bytes{85899345920});
  EXPECT_EQ(r.bytes("size"), Bytes{8});
  EXPECT_EQ(r.time("latency"), Seconds{5e-6});
  EXPECT_EQ(r.bandwidth("rate"), BytesPerSecond{5e10});
  EXPECT_EQ(r.compute_rate("peak"), FlopsPerSecond{989e12});
  EXPECT_THAT(r.wholes("dims"), ElementsAre(4, 4, 8));
  EXPECT_THAT(r.booleans("wraps"), ElementsAre(true, false));
  EXPECT_EQ(r.object("inner").whole("a"), 1);
  EXPECT_EQ(r.objects("list").at(1).whole("a"), 2);
  EXPECT_FALSE(r.has("nothing"));  // null is absent
  EXPECT_FALSE(r.object_if("outer").has_value());
  EXPECT_TRUE(r.object_if("inner").has_value());
  EXPECT_EQ(message_of([&] { r.done(); }), "(no error)");
}

TEST(Reader, WantsAGroupOfKeys) {
  EXPECT_EQ(reading("[1, 2]", [](Reader&) { return 0; }),
            "x.yaml: line 1: a group of keys is expected here, not a list");
  EXPECT_EQ(reading("a: 1\nb: text", [](Reader& r) { return r.object("b").has("c"); }),
            "x.yaml: line 2, b: a group of keys is expected here, not a text");
  EXPECT_EQ(reading("a:\n  - {}\n  - 3", [](Reader& r) { return r.objects("a").size(); }),
            "x.yaml: line 3, a[1]: a group of keys is expected here, not a whole number");
  EXPECT_EQ(reading("a: 3", [](Reader& r) { return r.objects("a").size(); }),
            "x.yaml: line 1, a: a list is expected, not a whole number");
}

TEST(Reader, SaysWhatAMissingKeyHolds) {
  EXPECT_EQ(reading("a: 1", [](Reader& r) { return r.text("name"); }),
            "x.yaml: line 1: the key 'name' is missing; it holds a text");
  EXPECT_EQ(reading("\n\na: {b: 1}", [](Reader& r) { return r.object("a").bandwidth("rate"); }),
            "x.yaml: line 3, a: the key 'rate' is missing; it holds a bandwidth");
  EXPECT_EQ(reading("a: null", [](Reader& r) { return r.whole("a"); }),
            "x.yaml: line 1: the key 'a' is missing; it holds a whole number");
}

TEST(Reader, TakesANearMissForTheMissingKey) {
  EXPECT_EQ(reading("name: x\nbandwith: 1", [](Reader& r) { return r.bandwidth("bandwidth"); }),
            "x.yaml: line 2: unknown key 'bandwith'; did you mean 'bandwidth'?");
  // A key that was asked for is no misspelling.
  EXPECT_EQ(reading("sizes: [1]", [](Reader& r) { return r.has("sizes") ? r.whole("size") : 0; }),
            "x.yaml: line 1: the key 'size' is missing; it holds a whole number");
}

TEST(Reader, SaysWhatIsExpected) {
  const std::string yaml = "t: x\nn: 1.5\nl: [1, x]\nb: [true, 1]\ng: {k: 1}";
  EXPECT_EQ(reading(yaml, [](Reader& r) { return r.text("n"); }),
            "x.yaml: line 2, n: a text is expected, not '1.5'");
  EXPECT_EQ(reading(yaml, [](Reader& r) { return r.text("g"); }),
            "x.yaml: line 5, g: a text is expected, not '{\"k\": 1}'");
  EXPECT_EQ(reading(yaml, [](Reader& r) { return r.whole("n"); }),
            "x.yaml: line 2, n: a whole number is expected, not '1.5'");
  EXPECT_EQ(reading(yaml, [](Reader& r) { return r.number("t"); }),
            "x.yaml: line 1, t: a number is expected, not 'x'");
  EXPECT_EQ(reading(yaml, [](Reader& r) { return r.boolean_or("t", true); }),
            "x.yaml: line 1, t: true or false is expected, not 'x'");
  EXPECT_EQ(reading(yaml, [](Reader& r) { return r.wholes("l"); }),
            "x.yaml: line 3, l[1]: a whole number is expected, not 'x'");
  EXPECT_EQ(reading(yaml, [](Reader& r) { return r.wholes("t"); }),
            "x.yaml: line 1, t: a list of whole numbers is expected, not 'x'");
  EXPECT_EQ(reading(yaml, [](Reader& r) { return r.numbers("l"); }),
            "x.yaml: line 3, l[1]: a number is expected, not 'x'");
  EXPECT_EQ(reading(yaml, [](Reader& r) { return r.numbers("t"); }),
            "x.yaml: line 1, t: a list of numbers is expected, not 'x'");
  EXPECT_EQ(reading(yaml, [](Reader& r) { return r.booleans("b"); }),
            "x.yaml: line 4, b[1]: true or false is expected, not '1'");
  EXPECT_EQ(reading(yaml, [](Reader& r) { return r.booleans("t"); }),
            "x.yaml: line 1, t: a list of true and false is expected, not 'x'");
}

TEST(Reader, SaysThatQuotesMakeTexts) {
  EXPECT_EQ(reading("n: '256'", [](Reader& r) { return r.whole("n"); }),
            "x.yaml: line 1, n: a whole number is expected, not the text '256'; remove the quotes");
  EXPECT_EQ(reading("n: '2.5'", [](Reader& r) { return r.whole("n"); }),
            "x.yaml: line 1, n: a whole number is expected, not '2.5'");
  EXPECT_EQ(reading("n: '2.5'", [](Reader& r) { return r.number("n"); }),
            "x.yaml: line 1, n: a number is expected, not the text '2.5'; remove the quotes");
  EXPECT_EQ(reading("n: 'true'", [](Reader& r) { return r.boolean_or("n", false); }),
            "x.yaml: line 1, n: true or false is expected, not the text 'true'; remove the quotes");
  EXPECT_EQ(reading("n: 8,000", [](Reader& r) { return r.whole("n"); }),
            "x.yaml: line 1, n: a whole number is expected, not '8,000'; write 8000");
}

TEST(Reader, RefusesControlCharactersInTexts) {
  for (const char* text : {R"("a\nb")", R"("\e[31m")", R"("tab\t")", R"("\x9b")"}) {
    EXPECT_EQ(reading(std::string("name: ") + text, [](Reader& r) { return r.text("name"); }),
              "x.yaml: line 1, name: a text without control characters is expected")
        << text;
  }
  const Document d = parse_yaml("x.yaml", "note: |\n  two\n  lines\nbad: \"\\e[0m\"\n");
  Reader r(d);
  EXPECT_EQ(r.prose_or("note", ""), "two lines");
  EXPECT_EQ(r.prose_or("none", "-"), "-");
  EXPECT_EQ(message_of([&] { static_cast<void>(r.prose_or("bad", "")); }),
            "x.yaml: line 4, bad: a text without control characters is expected");
}

TEST(Reader, BoundsWholeNumbers) {
  const auto whole = [](Reader& r) { return r.whole("n", {1, 100}); };
  EXPECT_EQ(reading("n: 1", whole), "(no error)");
  EXPECT_EQ(reading("n: 100", whole), "(no error)");
  EXPECT_EQ(reading("n: 0", whole), "x.yaml: line 1, n: 0 is outside 1 to 100");
  EXPECT_EQ(reading("n: 101", whole), "x.yaml: line 1, n: 101 is outside 1 to 100");
  EXPECT_EQ(reading("n: [5, 101]", [](Reader& r) { return r.wholes("n", {1, 100}); }),
            "x.yaml: line 1, n[1]: 101 is outside 1 to 100");
  EXPECT_EQ(reading("n: 1e30", whole), "x.yaml: line 1, n: 1e30 is outside 1 to 100");
  EXPECT_EQ(reading("n: 1e18", whole), "x.yaml: line 1, n: 1e18 is outside 1 to 100");
  EXPECT_EQ(reading("n: 123456789012345678901234567890", whole),
            "x.yaml: line 1, n: 123456789012345678901234567890 is outside 1 to 100");
  EXPECT_EQ(reading("n: -5", [](Reader& r) { return r.whole("n", {0, 10'000'000}); }),
            "x.yaml: line 1, n: -5 is outside 0 to 10,000,000");
}

TEST(Reader, SaysHowToWriteAQuantity) {
  EXPECT_EQ(reading("m: 80 gib", [](Reader& r) { return r.bytes("m"); }),
            "x.yaml: line 1, m: '80 gib' is not a size in bytes; did you mean 'GiB'?");
  EXPECT_EQ(reading("m: [1]", [](Reader& r) { return r.bytes("m"); }),
            "x.yaml: line 1, m: '[1]' is not a size in bytes; write it like '80 GiB'");
  EXPECT_EQ(reading("m: -1 us", [](Reader& r) { return r.time("m"); }),
            "x.yaml: line 1, m: '-1 us' is negative");
  EXPECT_EQ(reading("m: -1", [](Reader& r) { return r.bytes("m"); }), "x.yaml: line 1, m: '-1' is negative");
  EXPECT_EQ(reading("m: 1e19", [](Reader& r) { return r.bytes("m"); }),
            "x.yaml: line 1, m: '1e+19' is larger than any memory");
  EXPECT_EQ(reading("m: fast", [](Reader& r) { return r.bandwidth("m"); }),
            "x.yaml: line 1, m: 'fast' is not a bandwidth; write it like '50 GB/s'");
  EXPECT_EQ(reading("m: 5 TFLOP", [](Reader& r) { return r.compute_rate("m"); }),
            "x.yaml: line 1, m: '5 TFLOP' is not a compute rate; did you mean 'TFLOPS'?");
}

TEST(Reader, QuotesOnlyTheBeginningOfALongText) {
  const std::string euro = "\xe2\x82\xac";
  std::string text = "a: ";
  for (int i = 0; i < 20; ++i) text += euro;
  std::string shown;
  for (int i = 0; i < 12; ++i) shown += euro;  // 36 bytes: the thirteenth would be cut in the middle
  EXPECT_EQ(reading(text, [](Reader& r) { return r.number("a"); }),
            "x.yaml: line 1, a: a number is expected, not '" + shown + "...'");
}

TEST(Reader, NamesTheChoices) {
  const std::vector<std::string> kinds{"switch", "ring", "mesh"};
  const auto choice = [&](Reader& r) { return r.choice("kind", kinds); };
  EXPECT_EQ(reading("kind: ring", choice), "(no error)");
  EXPECT_EQ(reading("kind: rign", choice),
            "x.yaml: line 1, kind: 'rign' is none of switch, ring, mesh; did you mean 'ring'?");
  EXPECT_EQ(reading("kind: cloud", choice), "x.yaml: line 1, kind: 'cloud' is none of switch, ring, mesh");
}

TEST(Reader, RefusesKeysNobodyAskedFor) {
  const auto done = [](Reader& r) {
    static_cast<void>(r.has("name"));
    static_cast<void>(r.has("latency"));
    r.done();
    return 0;
  };
  EXPECT_EQ(reading("name: x\nlatancy: 1", done),
            "x.yaml: line 2: unknown key 'latancy'; did you mean 'latency'?");
  EXPECT_EQ(reading("name: x\ncolour: 1", done),
            "x.yaml: line 2: unknown key 'colour'; known here: name, latency");
  EXPECT_EQ(reading("{name: x, latency: 8,000}", done),
            "x.yaml: line 1: unknown key '000'; a comma inside a number? write 8000");
  EXPECT_EQ(reading("levels:\n  - {name: x}\n  - {nam: x}",
                    [&](Reader& r) {
                      for (Reader& level : r.objects("levels")) done(level);
                      return 0;
                    }),
            "x.yaml: line 3, levels[1]: unknown key 'nam'; did you mean 'name'?");
}

TEST(Reader, FindsLinesInJsonToo) {
  const Document d = parse_json("x.json", "{\"levels\": [\n{\"size\": 8},\n{\"size\":\n\"8\"}]}");
  EXPECT_EQ(
      message_of([&] {
        for (Reader& level : Reader(d).objects("levels")) static_cast<void>(level.whole("size"));
      }),
      "x.json: line 3, levels[1].size: a whole number is expected, not the text '8'; remove the quotes");
}

TEST(Reader, KeysAreAllKnown) {
  const Document d = parse_yaml("x.yaml", "b: 1\na: 2");
  Reader r(d);
  EXPECT_THAT(r.keys(), ElementsAre("b", "a"));
  EXPECT_EQ(message_of([&] { r.done(); }), "(no error)");
}

TEST(Reader, WarnsOfKeysCloseToKnownOnes) {
  const Document d = parse_yaml("x.yaml", "hidden_sise: 1\nauthor: me\nlayers: 2\nlayer: 3");
  Reader r(d);
  static_cast<void>(r.has("hidden_size"));
  static_cast<void>(r.has("layers"));
  Warnings warnings;
  r.warn_unknown(warnings);
  EXPECT_THAT(
      warnings,
      ElementsAre("x.yaml: line 1: the key 'hidden_sise' is not known and was passed over; did you mean "
                  "'hidden_size'?",
                  "x.yaml: line 4: the key 'layer' is not known and was passed over; did you mean 'layers', "
                  "which is given too?"));
}

TEST(Reader, KeepsControlCharactersOutOfWarnings) {
  const Document d = parse_json("x.json", R"({"hidden_size\n": 1})");
  Reader r(d);
  static_cast<void>(r.has("hidden_size"));
  Warnings warnings;
  r.warn_unknown(warnings);
  EXPECT_THAT(warnings,
              ElementsAre("x.json: line 1: the key 'hidden_size?' is not known and was passed over; "
                          "did you mean 'hidden_size'?"));
}

// Each of 300,000 unknown keys is looked at once, and none is compared with the others.
TEST(Reader, GivesUpAfterManyUnknownKeys) {
  std::string text = "{\"hiden_size\": 1";
  for (int i = 0; i < 300'000; ++i) text += ",\"key" + std::to_string(i) + "\":1";
  const Document d = parse_json("x.json", text + ",\"hidden_siz\": 1}");
  Reader r(d);
  static_cast<void>(r.has("hidden_size"));
  Warnings warnings;
  r.warn_unknown(warnings);
  EXPECT_THAT(warnings, ElementsAre("x.json: line 1: the key 'hiden_size' is not known and was passed over; "
                                    "did you mean 'hidden_size'?"));
}

TEST(Reader, FailsWithAPlace) {
  const auto fail = [](Reader& r) -> int { r.object("a").fail("is odd", "make it even"); };
  EXPECT_EQ(reading("z: 1\na: {}", fail), "x.yaml: line 2, a: is odd; make it even");
  const auto fail_at = [](Reader& r) -> int { r.fail_at("a", "is odd"); };
  EXPECT_EQ(reading("z: 1\na: {}", fail_at), "x.yaml: line 2, a: is odd");
}

}  // namespace
}  // namespace nest::base
