"""Tables of what releases of a framework know, and how a checkout differs from them. A row holds for the
releases from `since` to `until`; comments at the top name the releases, oldest first, with their days:

    # v0.2.2 2026-02-20
    # main 2026-08-21
    option,type,choices,since,until
    training.seq_len,int,,v0.2.2,v0.2.2
"""
import csv


class Table:
    """`columns`: the name of an entry, then what is said of it."""

    def __init__(self, path, heading, columns):
        self.path = path
        self.heading = heading
        self.columns = columns

    def read(self):
        """The days of the releases, oldest first, and {name: {release: (what is said)}}."""
        days, entries = {}, {}
        lines = self.path.read_text().splitlines() if self.path.exists() else []
        for line in lines:
            words = line.split()
            if line.startswith("# ") and len(words) == 3 and words[2][:2] == "20":
                days[words[1]] = words[2]
        order = list(days)
        for row in csv.DictReader(line for line in lines if not line.startswith("#")):
            said = tuple(row[column] for column in self.columns[1:])
            for release in order[order.index(row["since"]) : order.index(row["until"]) + 1]:
                entries.setdefault(row[self.columns[0]], {})[release] = said
        return days, entries

    def write(self, days, entries):
        order = list(days)
        rows = []
        for name in sorted(entries):
            last = None
            for release in order:
                said = entries[name].get(release)
                if said is not None and last is not None and tuple(last[1:-2]) == said:
                    last[-1] = release
                elif said is not None:
                    last = [name, *said, release, release]
                    rows.append(last)
                else:
                    last = None
        with self.path.open("w", newline="") as out:
            for line in self.heading:
                out.write(f"# {line}\n")
            for release, day in days.items():
                out.write(f"# {release} {day}\n")
            writer = csv.writer(out, lineterminator="\n")
            writer.writerow([*self.columns, "since", "until"])
            writer.writerows(rows)


def add_arguments(parser):
    parser.add_argument("--release", help="compare with this release of the table (default: the newest)")
    parser.add_argument("--write", metavar="RELEASE", help="put the checkout into the table as this release")
    parser.add_argument("--date", help="the day of the release that is written")


def compare(parser, args, table, now):
    """Prints how {name: (what is said)} of a checkout differs; the exit status."""
    days, entries = table.read()
    if args.write:
        if not args.date:
            parser.error("--write needs --date")
        days[args.write] = args.date
        for name in set(entries) | set(now):
            entry = entries.setdefault(name, {})
            entry.pop(args.write, None)
            if name in now:
                entry[args.write] = now[name]
        table.write(days, {name: entry for name, entry in entries.items() if entry})
        print(f"{len(now)} of {args.write}")
        return 0
    release = args.release or list(days)[-1]
    if release not in days:
        parser.error(f"the table has no {release}, it has {', '.join(days)}")
    before = {name: entry[release] for name, entry in entries.items() if release in entry}
    for name in sorted(set(now) - set(before)):
        print(f"new:     {name} ({now[name][0]})")
    for name in sorted(set(before) - set(now)):
        print(f"gone:    {name}")
    for name in sorted(set(before) & set(now)):
        if before[name] != now[name]:
            print(f"changed: {name}: {' '.join(before[name])} -> {' '.join(now[name])}")
    same = before == now
    print(f"{len(now)}, {'as' if same else 'not as'} in {release} of {days[release]}")
    return 0 if same else 1
