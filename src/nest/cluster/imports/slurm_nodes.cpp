#include "nest/cluster/imports/slurm_nodes.hpp"

#include <algorithm>
#include <array>
#include <cctype>
#include <map>
#include <optional>
#include <utility>

#include "nest/base/error.hpp"
#include "nest/cluster/imports/text_lines.hpp"
#include "nest/cluster/name_list.hpp"

namespace nest::cluster {
namespace {

struct State {
  std::string_view word;  // how it begins
  std::string_view why;
};
// "powered down" and "power saving" are states of nodes in the cloud that wake up for work.
constexpr std::array kOut{State{"DRAIN", "drained"},
                          State{"DRNG", "drained"},
                          State{"DOWN", "down"},
                          State{"FAIL", "failed"},
                          State{"ERR", "failed"},
                          State{"INVAL", "its configuration is not valid"},
                          State{"NOT_RESPONDING", "not responding"},
                          State{"NO_RESPOND", "not responding"},
                          State{"FUTUR", "not there yet"},
                          State{"UNK", "unknown to Slurm"}};

// Lists of names, as many as one file may list.
class Names {
 public:
  explicit Names(const std::string& file) : file_(file) {}

  std::vector<std::string> expand(int line, std::string_view list) {
    NameList names = expand_names(list, kMostListed - listed_);
    if (!names.problem.empty()) fail_line(file_, line, names.problem);
    listed_ += names.names.size();
    return std::move(names.names);
  }

 private:
  const std::string& file_;
  std::size_t listed_ = 0;
};

bool is_key_letter(char c) {
  return std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '_';
}

// "Gres=gpu:8 State=IDLE": where a key begins, a word of letters with '=' behind it.
struct KeyValue {
  std::string key;
  std::string_view value;
};
std::vector<KeyValue> pairs_of(std::string_view text) {
  std::vector<KeyValue> out;
  for (const std::string_view word : words_of(text)) {
    std::size_t end = 0;
    while (end < word.size() && is_key_letter(word[end])) ++end;
    const bool key = end > 0 && end < word.size() && word[end] == '=';
    if (key) out.push_back({lower_case(word.substr(0, end)), word.substr(end + 1)});
  }
  return out;
}

// One node, or in slurm.conf a list of like ones.
struct Block {
  int line = 0;
  std::string names;
  std::map<std::string, std::string> fields;  // the first value of each key
};

std::vector<Block> blocks_of(const ImportFile& file) {
  std::vector<Block> out;
  for (const TextLine& line : lines_of(file.text)) {
    if (trimmed(line.text).starts_with('#')) continue;
    for (const KeyValue& pair : pairs_of(line.text)) {
      if (pair.key == "nodename") out.push_back({line.number, std::string(pair.value), {}});
      if (!out.empty()) out.back().fields.try_emplace(pair.key, pair.value);
    }
  }
  return out;
}

void set_gpus(HostFacts& host, std::string_view resources) {
  SlurmGpus gpus = gpus_of(resources);
  host.devices = gpus.count;
  host.chip = std::move(gpus.chip);
}

void take_block(const Block& block, const ImportFile& file, Names& names, ImportFacts& facts) {
  if (same_letters(block.names, "DEFAULT")) return;
  const auto field = [&](const char* key) -> std::string_view {
    const auto at = block.fields.find(key);
    return at == block.fields.end() ? std::string_view() : std::string_view(at->second);
  };
  // In slurm.conf UNKNOWN is what a node begins with.
  const bool live =
      block.fields.contains("cpualloc") || block.fields.contains("arch") || block.fields.contains("nodeaddr");
  for (const std::string& name : names.expand(block.line, block.names)) {
    HostFacts& host = facts.host(name, file.name, block.line);
    host.listed = true;
    set_gpus(host, field("gres"));
    if (live || !same_letters(field("state"), "UNKNOWN")) host.out = out_of_service(field("state"));
    const std::string_view partitions = field("partitions");
    for (std::size_t at = 0; at < partitions.size();) {
      const std::size_t comma = std::min(partitions.find(',', at), partitions.size());
      if (comma > at) host.groups.emplace_back(partitions.substr(at, comma - at));
      at = comma + 1;
    }
  }
}

void say(ImportFacts& facts, const ImportFile& file, const char* tool) {
  facts.sources.push_back(own_name(file.name) + " (" + tool + ")");
  facts.notes.known.push_back(count_of(static_cast<std::int64_t>(facts.hosts.size()), "host") + " (" +
                              own_name(file.name) + ")");
}

// Columns of a table of sinfo by the words of its head.
struct Columns {
  std::optional<std::size_t> names;
  std::optional<std::size_t> state;
  std::optional<std::size_t> gres;
  std::optional<std::size_t> partition;
  std::size_t count = 0;
};

std::optional<Columns> columns_of(std::string_view line) {
  Columns out;
  const std::vector<std::string_view> words = words_of(line);
  out.count = words.size();
  for (std::size_t i = 0; i < words.size(); ++i) {
    const std::string_view word = words[i];
    if (word == "NODELIST" || word == "HOSTNAMES" || word == "NODEHOST") out.names = i;
    if (word == "STATE" || word == "STATECOMPACT" || word == "STATELONG") out.state = i;
    if (word == "GRES") out.gres = i;
    if (word == "PARTITION" || word == "PARTITIONNAME") out.partition = i;
  }
  if (!out.names || (!out.state && !out.gres)) return std::nullopt;
  return out;
}

}  // namespace

SlurmGpus gpus_of(std::string_view resources) {
  SlurmGpus out;
  std::size_t at = 0;
  while (at < resources.size()) {
    // Commas inside "(S:0,2)" are its own.
    std::size_t end = at;
    for (int inside = 0; end < resources.size() && (inside > 0 || resources[end] != ','); ++end) {
      if (resources[end] == '(') ++inside;
      if (resources[end] == ')') --inside;
    }
    std::string_view one = resources.substr(at, end - at);
    at = end + 1;
    one = one.substr(0, one.find('('));
    if (!one.starts_with("gpu")) continue;
    one.remove_prefix(3);
    if (!one.empty() && one.front() != ':' && one.front() != '=') continue;
    const std::size_t last = one.find_last_of(":=");
    const auto count = last == std::string_view::npos ? std::nullopt : digits_of(one.substr(last + 1));
    out.count += static_cast<std::int32_t>(std::min<std::int64_t>(count.value_or(1), kMostOfAHost + 1));
    std::string_view chip = count ? one.substr(0, last) : one;
    if (chip.starts_with(':')) chip.remove_prefix(1);
    if (out.chip.empty()) out.chip = chip;
  }
  return out;
}

std::string out_of_service(std::string_view state) {
  // Flags of sinfo: '*' does not respond; '~', '#', '%', '!' save power or wake up; '$', '@', '^', '-' are plans.
  bool silent = false;
  while (!state.empty()) {
    const std::size_t plus = std::min(state.find('+'), state.size());
    std::string word = lower_case(state.substr(0, plus));
    state.remove_prefix(std::min(plus + 1, state.size()));
    for (char& c : word) c = static_cast<char>(std::toupper(static_cast<unsigned char>(c)));
    for (const State& out : kOut) {
      if (word.starts_with(out.word)) return std::string(out.why);
    }
    silent = silent || word.ends_with('*');
  }
  return silent ? "not responding" : "";
}

bool is_scontrol_nodes(std::string_view text) {
  const std::vector<TextLine> lines = lines_of(text.substr(0, 1 << 16));
  return std::any_of(lines.begin(), lines.end(), [](const TextLine& line) {
    return lower_case(trimmed(line.text).substr(0, 9)) == "nodename=";
  });
}

ImportFacts read_scontrol_nodes(const ImportFile& file) {
  ImportFacts facts;
  Names names(file.name);
  for (const Block& block : blocks_of(file)) take_block(block, file, names, facts);
  if (facts.hosts.empty())
    throw InputError(file.name, "", "no nodes are described",
                     "'scontrol show nodes' prints NodeName=.. for each");
  const bool gres =
      std::any_of(facts.hosts.begin(), facts.hosts.end(), [](const HostFacts& h) { return *h.devices > 0; });
  if (!gres) {
    for (HostFacts& host : facts.hosts) host.devices.reset();
    facts.notes.assumed.push_back("every host of " + own_name(file.name) +
                                  " has accelerators: Slurm counts none (no Gres=gpu)");
  }
  say(facts, file, "scontrol");
  return facts;
}

bool is_sinfo(std::string_view text) {
  const std::vector<TextLine> lines = lines_of(text.substr(0, 4096));
  return std::any_of(lines.begin(), lines.end(),
                     [](const TextLine& line) { return columns_of(line.text).has_value(); });
}

ImportFacts read_sinfo(const ImportFile& file) {
  ImportFacts facts;
  std::optional<Columns> columns;
  Names names(file.name);
  for (const TextLine& line : lines_of(file.text)) {
    if (auto head = columns_of(line.text)) {
      columns = head;
      continue;
    }
    if (!columns) continue;
    const std::vector<std::string_view> words = words_of(line.text);
    if (words.empty() || words.size() <= *columns->names) continue;  // a partition without nodes
    for (const std::string& name : names.expand(line.number, words[*columns->names])) {
      HostFacts& host = facts.host(name, file.name, line.number);
      host.listed = true;
      if (columns->state && *columns->state < words.size() && host.out.empty())
        host.out = out_of_service(words[*columns->state]);
      if (columns->gres && *columns->gres < words.size()) set_gpus(host, words[*columns->gres]);
      if (columns->partition && *columns->partition < words.size()) {
        std::string_view partition = words[*columns->partition];
        if (partition.ends_with('*')) partition.remove_suffix(1);
        host.groups.emplace_back(partition);
      }
    }
  }
  if (facts.hosts.empty())
    throw InputError(file.name, "", "no table of sinfo with the columns NODELIST and STATE or GRES",
                     "sinfo -N -o '%N %T %G' prints one");
  say(facts, file, "sinfo");
  return facts;
}

}  // namespace nest::cluster
