"""What tools/pin_constants changes: the fitted constants of the tree, found by rules, and how they change."""
import dataclasses
import pathlib
import re
import typing

DATA = ("data/profiles/*.fit.yaml", "data/fabrics.yaml", "data/recipes/*.yaml", "data/accelerators.yaml")
SOURCES = ("src/nest/estimate/**/*.?pp", "src/nest/price/**/*.?pp", "src/nest/validate/runs/fitted.cpp")
RECIPES = "data/recipes/*.yaml"
RECIPE_DEFAULTS = "src/nest/recipe/recipe.hpp"

# Numbers that the rules find and that are no fitted constants: file, name, reason.
LEFT_OUT = [
    (r"data/accelerators\.yaml",
     r"accelerators\.[^.]+\.(peak\.\w+|memory|\w+_bandwidth|multiprocessors)",
     "a figure of the vendor, not a fitted one"),
    (r"data/accelerators\.yaml", r"accelerators\.[^.]+\.scale_up\.(domain|torus)", "how links are laid"),
    (r"src/.*\.hpp", r"k(MostSizes|Coordinates|KernelKinds|CollectivePasses|Terms|MostKinds)",
     "the size of an array"),
    (r"src/.*\.cpp", r"k(MostKept|MostModels|MostListed|MostKnown|MostCells)",
     "a limit of what is kept or looked at, on which no result depends"),
    (r"src/.*/operator_text\.cpp", r"k(Largest|MostElements|Forms)",
     "limits and spelling of what users write"),
    (r"src/.*/kernel_constants\.cpp", r"k(Matmul|Grouped|Attention|Stream)",
     "the range in which a fit looks for a constant"),
    (r"src/.*/kernel_time\.hpp", r"kNewestFlash", "the name of a generation; its times are data"),
    (r"src/.*/fixed_memory\.cpp", r"kMiB", "a unit"),
]

NUMBER = r"\d[\d']*(?:\.\d*)?(?:e[+-]?\d+)?"


@dataclasses.dataclass
class Constant:
    file: str
    line: int
    name: str
    value: str  # as it is written
    unit: str
    # From the changed value to what it does to the text of each file.
    edits: typing.Callable
    whole: bool = False  # of a type without fractions
    of_data: bool = True  # else of C++

    def __str__(self):
        return f"{self.file}:{self.line} {self.name} {self.value}{self.unit}"


def attempts(constant):
    """Texts to write for the value, the likeliest first: a tenth more, or less where that may be too much."""
    text = constant.value.replace("'", "")
    value = float(text)
    if value == 0:
        ways = ["0.1", "1"] + (["0.1 GiB"] if constant.of_data and not constant.unit else [])
        return [way + constant.unit for way in ways]
    factors = (0.9, 1.1) if 1 / 1.1 < value <= 1 else (1.1, 0.9)
    ways = [f"{value * factor:.6g}" for factor in factors]
    if re.fullmatch(r"\d+", text):
        steps = [str(max(int(value) + 1, round(value * 1.1))), str(min(int(value) - 1, round(value * 0.9)))]
        ways = steps if constant.whole or value >= 10 else ways + steps
    return [way + constant.unit for way in ways]


def replaced(start, end):
    return lambda new: lambda text: text[:start] + new + text[end:]


def blank(text, pattern):
    """The same text with spaces in place of what matches, so that places stay as they are."""
    return re.sub(pattern, lambda match: re.sub(r"[^\n]", " ", match[0]), text)


def in_yaml(file, text):
    """Numbers that stand behind a key, with their units; the name is the path of keys."""
    plain = blank(text, r'"[^"\n]*"|(?:^|(?<=\s))#[^\n]*')
    pattern = re.compile(rf"[{{}}]|([\w./-]+):(?=[ \n])(?: *({NUMBER})( [A-Za-z/]+)?(?= *(?:[,}}\n]|$)))?")
    block, flow, last = [], [], ""
    for match in pattern.finditer(plain):
        if match[0] == "{":
            flow.append(last)
        elif match[0] == "}":
            flow.pop()
        else:
            if not flow:
                indent = match.start() - plain.rfind("\n", 0, match.start()) - 1
                while block and block[-1][0] >= indent:
                    block.pop()
                block.append((indent, match[1]))
                last = ""
            else:
                last = match[1]
            if match[2]:
                keys = [key for _, key in block] + [key for key in flow + [last] if key]
                yield Constant(file, plain.count("\n", 0, match.start()) + 1, ".".join(keys), match[2],
                               match[3] or "",
                               lambda new, change=replaced(match.start(2), match.end(3 if match[3] else 2)):
                               {file: change(new)})


def in_source(file, text):
    """Numbers in the initialisers of `constexpr T kName`."""
    plain = blank(text, r'//[^\n]*|"[^"\n]*"')
    for match in re.finditer(r"\bconstexpr ([^;(){}=]*?)\b(k[A-Z]\w*)\s*(?=[={])", plain):
        end = plain.index(";", match.end())
        body = plain[match.end():end]
        for place, number in enumerate(re.finditer(rf"(?<![\w.])({NUMBER})F?(?![\w.])", body), 1):
            start = match.end() + number.start(1)
            yield Constant(file, plain.count("\n", 0, start) + 1, f"{match[2]}[{place}]", number[1], "",
                           lambda new, change=replaced(start, start + len(number[1])): {file: change(new)},
                           whole=bool(re.search(r"\bu?int|size_t|FusedRow", match[1])), of_data=False)


def written_into(name, overlap):
    """Adds a field to a recipe that leaves it out."""
    def edit(new):
        def change(text):
            if overlap:
                return text.replace("overlap: {", f"overlap: {{{name}: {new}, ", 1)
            return f"{text}{name}: {new}\n"
        return change
    return edit


def in_defaults(file, text, recipes):
    """Defaults of numbers of a recipe. To change one is to write it into the recipes that leave it out, which
    spares compiling all that includes the header. What every recipe writes has no default to change."""
    plain = blank(text, r"//[^\n]*")
    for struct in re.finditer(r"\nstruct (Overlap|Recipe) \{(.*?)\n\};", plain, re.S):
        for match in re.finditer(rf"\n  (double|int|std::int64_t|Bytes) (\w+)(?: = ({NUMBER}))?;", struct[2]):
            overlap = struct[1] == "Overlap"
            without = [name for name, own in recipes.items() if not re.search(rf"\b{match[2]}:", own)]
            if not without:
                continue
            edit = written_into(match[2], overlap)
            line = plain.count("\n", 0, struct.start(2) + match.start() + 1) + 1
            yield Constant(file, line, f"{struct[1]}.{match[2]}", match[3] or "0", "",
                           lambda new, names=tuple(without), edit=edit: {name: edit(new) for name in names})


def reason_for(constant, rules):
    name = constant.name.split("[")[0]
    for file, pattern, reason in rules:
        if re.fullmatch(file, constant.file) and re.fullmatch(pattern, name):
            return reason
    return None


def all_numbers(root):
    def files(patterns):
        names = {str(path.relative_to(root)) for pattern in patterns for path in root.glob(pattern)}
        names = {name for name in names if not re.search(r"_test\.cpp$|/test_\w+\.hpp$", name)}
        return {name: (root / name).read_text(encoding="utf-8") for name in sorted(names)}
    found = []
    for file, text in files(DATA).items():
        found += in_yaml(file, text)
    for file, text in files(SOURCES).items():
        found += in_source(file, text)
    return found + list(in_defaults(RECIPE_DEFAULTS, (root / RECIPE_DEFAULTS).read_text(encoding="utf-8"),
                                    files([RECIPES])))


def constants(root):
    """(those to change, [(number, why it is left out)])"""
    numbers = all_numbers(root)
    left_out = [(c, reason_for(c, LEFT_OUT)) for c in numbers]
    return [c for c, reason in left_out if not reason], [(c, reason) for c, reason in left_out if reason]


def stale(root):
    """Sentences about entries of LEFT_OUT that leave nothing out."""
    numbers = all_numbers(root)
    return [f"tools/pinned_constants.py: LEFT_OUT names '{rule[1]}' of {rule[0]}, which is not there"
            for rule in LEFT_OUT if not any(reason_for(c, [rule]) for c in numbers)]


YAML = """# 1: one
date: 2026-11
library: {launch: 20 us}
rows:
  a/b: {x: 0.5, deep: {y: 1e-07, 2: 3}, source: "x: 5 of 6"}  # 7 points
  b:
    z: 0
    more: {u: 1,
           v: 2 GiB}
"""
SOURCE = """constexpr std::array<Row, 2> kRows{{{a, 4},  // 5
    {b, 1'000}}};
constexpr double kShare = 1 / 1.55;
constexpr float kReach = 2.0F;
inline constexpr std::size_t kSize = 3;
const double x = 7;
constexpr std::string_view kText = "8";
"""
HEADER = """
struct Overlap {
  double tensor = 0;
};
struct Recipe {
  double share = 0.04;  // 5
  Bytes buckets;
  std::optional<double> none;
  double everywhere = 1;
  int generation = 3;
};
"""


def self_test():
    wrong = []

    def expect(what, found, wanted):
        if found != wanted:
            wrong.append(f"self-test: {what}: expected {wanted}, found {found}")

    def changed(constant, text, new):
        return constant.edits(new)[constant.file](text)
    found = list(in_yaml("a.yaml", YAML))
    expect("yaml", [(c.line, c.name, c.value + c.unit) for c in found],
           [(3, "library.launch", "20 us"), (5, "rows.a/b.x", "0.5"), (5, "rows.a/b.deep.y", "1e-07"),
            (5, "rows.a/b.deep.2", "3"), (7, "rows.b.z", "0"), (8, "rows.b.more.u", "1"),
            (9, "rows.b.more.v", "2 GiB")])
    expect("a changed file", changed(found[0], YAML, "22 us"), YAML.replace("20 us", "22 us"))
    found = list(in_source("a.cpp", SOURCE))
    expect("source", [(c.line, c.name, c.value, c.whole) for c in found],
           [(1, "kRows[1]", "4", False), (2, "kRows[2]", "1'000", False), (3, "kShare[1]", "1", False),
            (3, "kShare[2]", "1.55", False), (4, "kReach[1]", "2.0", False), (5, "kSize[1]", "3", True)])
    expect("a changed source", changed(found[4], SOURCE, "2.2"), SOURCE.replace("2.0F", "2.2F"))
    recipes = {"r": "everywhere: 2\noverlap: {x: 1}\n",
               "s": "share: 0\neverywhere: 1\noverlap: {tensor: 1}\n"}
    found = list(in_defaults("recipe.hpp", HEADER, recipes))
    expect("defaults", [(c.line, c.name, c.value, sorted(c.edits("1"))) for c in found],
           [(3, "Overlap.tensor", "0", ["r"]), (6, "Recipe.share", "0.04", ["r"]),
            (7, "Recipe.buckets", "0", ["r", "s"]), (10, "Recipe.generation", "3", ["r", "s"])])
    expect("a default written", [c.edits("0.1")["r"](recipes["r"]) for c in found[:2]],
           ["everywhere: 2\noverlap: {tensor: 0.1, x: 1}\n", recipes["r"] + "share: 0.1\n"])
    for value, unit, whole, wanted in (
            ("20", " us", False, ["22 us", "18 us"]), ("0", "", False, ["0.1", "1", "0.1 GiB"]),
            ("0", " s", False, ["0.1 s", "1 s"]), ("1", "", False, ["0.9", "1.1", "2", "0"]),
            ("0.5", "", False, ["0.55", "0.45"]), ("1e-07", "", False, ["1.1e-07", "9e-08"]),
            ("4", "", True, ["5", "3"])):
        expect(f"attempts at {value}{unit}", attempts(Constant("", 1, "", value, unit, None, whole)), wanted)
    root = pathlib.Path(__file__).resolve().parent.parent
    wrong += stale(root)
    fitted = {c.file for c in constants(root)[0]}
    for pattern in DATA:
        if not any(pathlib.PurePath(file).match(pattern) for file in fitted):
            wrong.append(f"self-test: no constant in {pattern}")
    print(*wrong, sep="\n", end="\n" if wrong else "")
    return not wrong
