// Files of every kind with things changed, cut off, repeated and mixed: each becomes a cluster that reads back as itself,
// or is refused in one sentence. The files are those of tests/cases/imports_*.case and the samples of the help.
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdlib>
#include <exception>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <random>
#include <string>
#include <vector>

#include "nest/base/document/document.hpp"
#include "nest/base/error.hpp"
#include "nest/cluster/cluster_file.hpp"
#include "nest/cluster/cluster_text.hpp"
#include "nest/cluster/imports/importers.hpp"
#include "support/stride.hpp"

namespace nest::cluster {
namespace {

std::vector<std::string> files() {
  std::vector<std::string> out;
  for (const ClusterImporter& importer : cluster_importers()) {
    if (!importer.formats.empty()) out.emplace_back(importer.sample);
  }
  std::vector<std::filesystem::path> cases;
  for (const auto& entry : std::filesystem::directory_iterator(NEST_SOURCE_DIR "/tests/cases")) {
    if (entry.path().filename().string().starts_with("imports_")) cases.push_back(entry.path());
  }
  std::sort(cases.begin(), cases.end());
  for (const auto& path : cases) {
    std::ifstream in(path);
    const std::string text((std::istreambuf_iterator<char>(in)), {});
    const std::string mark = "\n=== file ";
    for (std::size_t at = text.find(mark); at != std::string::npos; at = text.find(mark, at + 1)) {
      const std::size_t begin = text.find('\n', at + 1) + 1;
      const std::size_t end = std::min(text.find("\n=== ", begin), text.size());
      std::string file = text.substr(begin, end + 1 - begin);
      // A case writes a backslash before lines that look like its own marks.
      for (std::size_t mark_at = 0; (mark_at = file.find("\\===", mark_at)) != std::string::npos;)
        file.erase(mark_at, 1);
      if (cluster_importer_of(file) != nullptr) out.push_back(file);
    }
  }
  return out;
}

class Mutator {
 public:
  Mutator(const std::vector<std::string>& all, std::uint64_t seed) : all_(all), dice_(seed) {}

  std::string text() {
    std::string out = all_[below(all_.size())];
    const std::size_t changes = 1 + below(4);
    for (std::size_t i = 0; i < changes && !out.empty(); ++i) change(out);
    return out;
  }
  std::size_t below(std::size_t n) { return std::uniform_int_distribution<std::size_t>(0, n - 1)(dice_); }

 private:
  std::pair<std::size_t, std::size_t> line(const std::string& text) {
    const std::size_t at = below(text.size());
    const std::size_t before = at == 0 ? std::string::npos : text.rfind('\n', at - 1);
    const std::size_t begin = before == std::string::npos ? 0 : before + 1;
    const std::size_t end = std::min(text.find('\n', begin), text.size() - 1) + 1;
    return {begin, end - begin};
  }

  void change(std::string& text) {
    static const std::vector<std::string> kWords{"0",
                                                 "-1",
                                                 "1e9",
                                                 "99999999999999999999",
                                                 "4096",
                                                 "NaN",
                                                 "null",
                                                 "true",
                                                 "\"\"",
                                                 "[",
                                                 "]",
                                                 "{",
                                                 "}",
                                                 ":",
                                                 ",",
                                                 "=",
                                                 "/",
                                                 "gpu:h100:8",
                                                 "node[001-512]",
                                                 "node[9-1]",
                                                 "[0-99999]",
                                                 "\t",
                                                 "\xc3\xa9",
                                                 "x",
                                                 " ",
                                                 "<",
                                                 ">",
                                                 "&",
                                                 "\"",
                                                 "#",
                                                 "4xNDR",
                                                 "NV18",
                                                 "SYS",
                                                 "Switches=",
                                                 "h100",
                                                 "mi300x",
                                                 "v5p-8",
                                                 "8x8x8",
                                                 "(null)",
                                                 "\\",
                                                 "'",
                                                 "--",
                                                 "%"};
    switch (below(9)) {
      case 0: {  // a line less
        const auto [begin, length] = line(text);
        text.erase(begin, length);
        break;
      }
      case 1: {  // twice
        const auto [begin, length] = line(text);
        text.insert(begin, text.substr(begin, length));
        break;
      }
      case 2: {  // elsewhere
        const auto [begin, length] = line(text);
        const std::string moved = text.substr(begin, length);
        text.erase(begin, length);
        text.insert(text.empty() ? 0 : line(text).first, moved);
        break;
      }
      case 3:  // cut off
        text.resize(below(text.size()));
        break;
      case 4:  // a byte changed
        text[below(text.size())] = static_cast<char>(32 + below(95));
        break;
      case 5:
        text.insert(below(text.size()), kWords[below(kWords.size())]);
        break;
      case 6: {  // a number replaced
        std::size_t at = text.find_first_of("0123456789", below(text.size()));
        if (at == std::string::npos) break;
        const std::size_t end = std::min(text.find_first_not_of("0123456789", at), text.size());
        text.replace(at, end - at, kWords[below(5)]);
        break;
      }
      case 7: {  // a part of another file
        const std::string& other = all_[below(all_.size())];
        const std::size_t at = below(other.size());
        text.insert(below(text.size()), other.substr(at, 1 + below(200)));
        break;
      }
      default:
        text.erase(below(text.size()), 1 + below(30));
    }
  }

  const std::vector<std::string>& all_;
  std::mt19937_64 dice_;
};

TEST(ImportMutations, BecomeAClusterOrOneSentence) {
  constexpr std::uint64_t kAll = 100'000;
  constexpr std::uint64_t kUsual = 4'000;
  const bool all = std::getenv("NEST_ALL_SEEDS") != nullptr;
  const std::vector<std::string> from = files();
  ASSERT_GT(from.size(), 30U);
  int clusters = 0;
  for (std::uint64_t seed = 1; seed <= (all ? kAll : kUsual); seed += test::stride()) {
    Mutator mutator(from, seed);
    ClusterImport question;
    question.files.push_back({"file", mutator.text()});
    if (mutator.below(3) == 0) {
      ImportFile second{"second", mutator.text()};
      const ClusterImporter* kind = cluster_importer_of(second.text);
      const bool inside = kind != nullptr && kind->formats.front().role == ImportRole::node;
      (inside ? question.inside : question.nodes).push_back(std::move(second));
    }
    if (mutator.below(2) == 0) question.options.accelerator = "h100-sxm";
    if (question.files.front().text.empty()) continue;
    try {
      const ImportedCluster read = import_cluster(question);
      ++clusters;
      ASSERT_GT(read.cluster.devices(), 0) << "seed " << seed;
      if (read.cluster.devices() > 4096) continue;
      const Cluster again = read_cluster(parse_document("again", cluster_yaml(read.cluster)));
      ASSERT_EQ(again.levels(), read.cluster.levels()) << "seed " << seed;
      ASSERT_EQ(again.parts().device_names, read.cluster.parts().device_names) << "seed " << seed;
    } catch (const InputError& error) {
      const std::string what = error.what();
      ASSERT_FALSE(error.problem().empty()) << "seed " << seed;
      ASSERT_EQ(std::count_if(what.begin(), what.end(), [](char c) { return c >= 0 && c < ' '; }), 0)
          << "seed " << seed << ": " << what;
      ASSERT_LT(what.size(), 1200U) << "seed " << seed << ": " << what;
    } catch (const std::exception& error) {
      FAIL() << "seed " << seed << ": " << error.what();
    }
  }
  // The changes are small: many files stay what they were.
  EXPECT_GT(test::often(clusters), 100);
}

}  // namespace
}  // namespace nest::cluster
