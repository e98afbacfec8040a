"""The sections of launches.py, how they share the time, and the document of their rows. No torch here.

    {"format": "nest-launch-measurements", "version": 1, "date": "2026-08-21", "command": "...",
     "environment": {"torch": "2.11.0", ...},
     "sections": {
      "issue": {"state": "complete", "seconds": 31.2, "rows": [
        {"kind": "add", "pass": "forward", "host_us": 4.1, ...}]}}}
"""
import json
import os

FORMAT = "nest-launch-measurements"
VERSION = 1
# Section, the module that measures it, and its share of the time. Order is importance.
SECTIONS = (
    ("issue", "launch_issue", 50),
    ("layers", "launch_layers", 110),
    ("whole", "launch_whole", 125),
    ("trainer", "launch_trainer", 135),
    ("memory", "launch_memory", 20),
    ("eight_bit", "launch_eight_bit", 45),
)
NAMES = tuple(name for name, _, _ in SECTIONS)
MODULES = {name: module for name, module, _ in SECTIONS}
WEIGHTS = {name: weight for name, _, weight in SECTIONS}
LETTERS = dict(zip("ABCDEF", NAMES))
GRACE_S = 10.0  # what a section may take over its share before it is ended: one measurement or compilation


def chosen_sections(text):
    """Names or letters separated by commas, in the order of importance; None is all of them."""
    if not text:
        return NAMES
    wanted = set()
    for word in (part.strip() for part in text.split(",")):
        name = LETTERS.get(word.upper(), word)
        if name not in NAMES:
            raise ValueError(f"unknown section '{word}'; there are {', '.join(NAMES)}")
        wanted.add(name)
    return tuple(name for name in NAMES if name in wanted)


def share_of(name, remaining, left_s):
    """Seconds for a section that runs next, where `remaining` (itself among them) share what is left."""
    usable = max(0.0, left_s - GRACE_S)
    return usable * WEIGHTS[name] / sum(WEIGHTS[other] for other in remaining)


def rounded(value):
    """Five digits: more is noise."""
    if isinstance(value, float):
        return float(f"{value:.5g}")
    if isinstance(value, dict):
        return {name: rounded(entry) for name, entry in value.items()}
    if isinstance(value, (list, tuple)):
        return [rounded(entry) for entry in value]
    return value


class Gathered:
    """Rows of all sections. Fields that come later for the same key are added to its row."""

    def __init__(self, header):
        self.header = dict(header)
        self.sections = {}

    def _section(self, name):
        return self.sections.setdefault(name, {"state": "started", "seconds": 0.0, "rows": {}})

    def add(self, section, key, fields):
        row = self._section(section)["rows"].setdefault(json.dumps(key, sort_keys=True), dict(key))
        row.update(rounded(fields))

    def close(self, section, state, seconds):
        self._section(section).update(state=state, seconds=round(seconds, 1))

    def counts(self, section):
        """(rows with numbers, rows with an error, rows for which no time was left)."""
        rows = self._section(section)["rows"].values()
        errors, skipped = (sum(word in row for row in rows) for word in ("error", "skipped"))
        return len(rows) - errors - skipped, errors, skipped

    def text(self):
        lines = [f"{json.dumps(name)}: {json.dumps(value)}," for name, value in
                 {"format": FORMAT, "version": VERSION, **self.header}.items()]
        parts = []
        for name, section in self.sections.items():
            rows = ",\n".join("   " + json.dumps(row) for row in section["rows"].values())
            head = f'"state": {json.dumps(section["state"])}, "seconds": {section["seconds"]}'
            parts.append(f'  {json.dumps(name)}: {{{head}, "rows": [\n{rows}]}}')
        return "{" + "\n ".join(lines) + '\n "sections": {\n' + ",\n".join(parts) + "}}\n"

    def write(self, path):
        """Atomic: a reader sees the old document or the new one."""
        beside = f"{path}.part"
        with open(beside, "w", encoding="utf-8") as file:
            file.write(self.text())
        os.replace(beside, path)
