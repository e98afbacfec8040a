"""Tables of what releases of a framework know, and how a checkout differs from them. A row holds for the
releases from `since` to `until`; comments at the top name the releases, oldest first, with their days:

    # v0.2.2 2026-02-20
    # main 2026-08-21
    option,type,choices,since,until
    training.seq_len,int,,v0.2.2,v0.2.2
"""
import argparse
import csv


class Table:
    """`columns`: the name of an entry, then what is said of it. `head`: comments, each with a full stop."""

    def __init__(self, path, head, columns):
        self.path = path
        self.head = head
        self.columns = columns
        self.releases = []  # (name, date)
        self.entries = {}  # release -> name -> what is said, in the order of the columns
        if not path.exists():
            return
        lines = path.read_text().splitlines()
        heads = [line[2:].split() for line in lines if line.startswith("# ") and not line.endswith(".")]
        self.releases = [tuple(head) for head in heads]
        order = [name for name, _ in self.releases]
        self.entries = {name: {} for name in order}
        for row in csv.DictReader(line for line in lines if not line.startswith("#")):
            said = tuple(row[column] for column in columns[1:])
            for name in order[order.index(row["since"]):order.index(row["until"]) + 1]:
                self.entries[name][row[columns[0]]] = said

    def put(self, name, date, entries):
        if name not in self.entries:
            before_main = len(self.releases) - (1 if "main" in self.entries else 0)
            self.releases.insert(before_main, (name, date))
        self.releases = [(n, date if n == name else d) for n, d in self.releases]
        self.entries[name] = entries

    def write(self):
        order = [name for name, _ in self.releases]
        with self.path.open("w") as out:
            out.write(self.head)
            for name, date in self.releases:
                out.write(f"# {name} {date}\n")
            writer = csv.writer(out, lineterminator="\n")
            writer.writerow([*self.columns, "since", "until"])
            for entry in sorted(set().union(*self.entries.values())):
                since = None
                for i, name in enumerate(order):
                    said = self.entries[name].get(entry)
                    since = since or name
                    if i + 1 < len(order) and self.entries[order[i + 1]].get(entry) == said:
                        continue
                    if said is not None:
                        writer.writerow([entry, *said, since, name])
                    since = None


def changes(ours, theirs, told):
    for entry in sorted(ours.keys() | theirs.keys()):
        if entry not in ours:
            yield f"new      {entry}: {told(theirs[entry])}"
        elif entry not in theirs:
            yield f"gone     {entry}: {told(ours[entry])}"
        elif ours[entry] != theirs[entry]:
            yield f"changed  {entry}: {told(ours[entry])} -> {told(theirs[entry])}"


def run(description, framework, read, table, told):
    """The command of a tool: `read` makes entries of a checkout's folder, `told` a text of what is said."""
    parser = argparse.ArgumentParser(description=description,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--checkout", required=True, metavar="DIR", help=f"the folder of {framework}")
    parser.add_argument("--release", metavar="NAME", help="the release to compare with (default: the newest)")
    parser.add_argument("--write", metavar="NAME", help="put the checkout into the table as this release")
    parser.add_argument("--date", metavar="DAY", help="the day of the release that is written, as 2026-10-01")
    options = parser.parse_args()
    theirs = read(options.checkout)
    noun = table.columns[0] + "s"
    if options.write:
        if not options.date:
            parser.error("--write needs --date")
        table.put(options.write, options.date, theirs)
        table.write()
        print(f"{table.path.name}: {len(theirs)} {noun} of {options.write}")
        return 0
    name = options.release or (table.releases[-1][0] if table.releases else "")
    if name not in table.entries:
        parser.error(f"the table has no release '{name}', only {', '.join(table.entries)}")
    lines = list(changes(table.entries[name], theirs, told))
    print("\n".join([*lines, f"{len(theirs)} {noun}, {len(lines)} differ from {name}"]))
    return 1 if lines else 0
