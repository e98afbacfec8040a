"""The profile as a document: rows collected, merged with other documents, written as JSON, one row a line.

    {"format": "nest-accelerator-profile", "version": 1,
     "accelerator": "h200",
     ...
     "points": {
      "matmul": {"columns": ["layout", "m", "n", "k", "dtype", "time_s", "samples", "graph", "split"],
       "rows": [
       ["forward", 256, 768, 768, "bf16", 4.12e-06, 3, 1, "fit"]]}},
     "layers": [...], "steps": [...], "failed": [...]}
"""
import json
import os

FORMAT = "nest-accelerator-profile"
VERSION = 1
# Columns of a table that are measured; the others are its key.
MEASURED = ("time_s", "samples", "graph", "backend", "method", "split")


def rounded(value):
    """Four digits: more is noise."""
    return float(f"{value:.4g}") if isinstance(value, float) else value


class Document:
    def __init__(self, header):
        self.header = dict(header)
        self.tables = {}  # kind -> (columns, {key: row})
        self.layers = {}
        self.steps = {}
        self.failed = {}

    def add(self, kind, record):
        """A row of an operator's table; the first fixes the columns. A row measured again is replaced."""
        record = {name: rounded(value) for name, value in record.items()}
        columns, rows = self.tables.setdefault(kind, (list(record), {}))
        if list(record) != columns:
            raise ValueError(f"{kind}: columns {list(record)} differ from {columns}")
        key = tuple(record[c] for c in columns if c not in MEASURED)
        rows[key] = [record[c] for c in columns]

    def add_whole(self, section, key, record):
        getattr(self, section)[key] = {name: rounded(value) for name, value in record.items()}

    def fail(self, kind, key, reason):
        self.failed[(kind,) + tuple(key)] = {"kind": kind, "key": dict(key), "reason": reason}

    def row_count(self):
        return sum(len(rows) for _, rows in self.tables.values()) + len(self.layers) + len(self.steps)

    def absorb(self, data):
        """Rows and runs of an earlier document come in; what this one measured anew stays."""
        if data.get("format") != FORMAT or data.get("version") != VERSION:
            raise ValueError(f"not a {FORMAT} of version {VERSION}")
        if data.get("device_name") != self.header.get("device_name"):
            names = data.get("device_name"), self.header.get("device_name")
            raise ValueError("of another device: '%s', not '%s'" % names)
        for kind, table in data["points"].items():
            mine = self.tables.get(kind, (table["columns"], {}))[1]
            fresh = dict(mine)
            for row in table["rows"]:
                self.add(kind, dict(zip(table["columns"], row)))
            self.tables[kind][1].update(fresh)
        for section in ("layers", "steps"):
            kept = getattr(self, section)
            for record in data[section]:
                kept.setdefault(whole_key(section, record), record)
        for entry in data["failed"]:
            self.failed.setdefault((entry["kind"],) + tuple(entry["key"].items()), entry)
        self.header["runs"] = data.get("runs", []) + self.header.get("runs", [])
        self.header["complete"] = all(run["complete"] for run in self.header["runs"])

    def text(self):
        lines = []
        head = {"format": FORMAT, "version": VERSION, **self.header}
        for name, value in head.items():
            lines.append(f'{json.dumps(name)}: {_value(value)},')
        tables = []
        for kind in sorted(self.tables):
            columns, rows = self.tables[kind]
            body = ",\n".join("   " + json.dumps(row) for row in sorted(rows.values(), key=_order))
            tables.append(f'  {json.dumps(kind)}: {{"columns": {json.dumps(columns)}, "rows": [\n{body}]}}')
        lines.append('"points": {\n' + ",\n".join(tables) + "},")
        for section in ("layers", "steps", "failed"):
            records = getattr(self, section)
            body = ",\n".join("  " + json.dumps(records[key]) for key in sorted(records, key=_order))
            end = "]" if section == "failed" else "],"
            lines.append(f'"{section}": [' + ("\n" + body if body else "") + end)
        return "{" + "\n ".join(lines) + "}\n"

    def write(self, path):
        """Atomic: a reader sees the old document or the new one."""
        beside = f"{path}.part"
        with open(beside, "w", encoding="utf-8") as file:
            file.write(self.text())
            file.flush()
            os.fsync(file.fileno())
        os.replace(beside, path)


WHOLE_KEYS = {"layers": ("model", "t", "micro_batch", "sequence", "mode"),
              "steps": ("model", "variant", "micro_batch", "sequence", "micro_batches", "recompute")}


def whole_key(section, record):
    return tuple(record[name] for name in WHOLE_KEYS[section])


def _value(value):
    if isinstance(value, list) and value and isinstance(value[0], dict):
        return "[\n" + ",\n".join("  " + json.dumps(entry) for entry in value) + "]"
    return json.dumps(value)


def _order(row):
    """Numbers before texts, so that rows of mixed types have one order."""
    return [(1, str(v)) if isinstance(v, str) else (0, v if v is not None else -1) if not isinstance(v, tuple)
            else (2, str(v)) for v in row]


def load(path):
    with open(path, encoding="utf-8") as file:
        return json.load(file)


def merged(paths):
    """One document of several: rows of later files win."""
    datas = [load(path) for path in paths]
    last = datas[-1]
    sections = ("format", "version", "points", "layers", "steps", "failed", "runs")
    document = Document({name: value for name, value in last.items() if name not in sections})
    document.header["runs"] = []
    for data in reversed(datas):
        document.absorb(data)
    return document
