"""Fields of dataclasses, read from sources as text: nothing of them is run or imported. Names are followed
through imports, also those of a package's __init__, and bases come before the class itself.

    classes = Sources([checkout / "src"])
    classes.fields("package.module", "Config")   ->   {"steps": ("int?", "")}
"""
import ast

SIMPLE = ("int", "float", "str", "bool", "list", "dict", "dtype")


def title(node):
    """The last name of `a.b.C`."""
    return node.attr if isinstance(node, ast.Attribute) else node.id if isinstance(node, ast.Name) else ""


class Sources:
    def __init__(self, roots):
        self.roots = roots
        self.modules = {}

    def module(self, name):
        """(path, tree) of a module; (None, None) where it is not in the sources."""
        if name not in self.modules:
            self.modules[name] = (None, None)
            for root in self.roots:
                stem = root.joinpath(*name.split("."))
                for file in (stem.with_suffix(".py"), stem / "__init__.py"):
                    if file.is_file():
                        self.modules[name] = (file, ast.parse(file.read_text()))
                        return self.modules[name]
        return self.modules[name]

    def find(self, module, name, seen=()):
        """(module, node) of a class by the name that it has in a module; none where it is not found."""
        file, tree = self.module(module)
        if tree is None or (module, name) in seen:
            return None
        seen = (*seen, (module, name))
        for node in ast.walk(tree):
            if isinstance(node, ast.ClassDef) and node.name == name:
                return module, node
            if not isinstance(node, ast.ImportFrom):
                continue
            for alias in node.names:
                if (alias.asname or alias.name) in (name, "*"):
                    source = node.module or ""
                    if node.level:
                        package = module.split(".")
                        drop = node.level - (1 if file.name == "__init__.py" else 0)
                        package = package[:len(package) - drop]
                        source = ".".join([*package, *([source] if source else [])])
                    found = self.find(source, name if alias.name == "*" else alias.name, seen)
                    if found is not None:
                        return found
        return None

    def fields(self, module, name):
        """{field: (annotation, module of the class)}, those of bases first; a later base yields."""
        found = self.find(module, name)
        if found is None:
            return {}
        module, node = found
        fields = {}
        for base in reversed(node.bases):
            inner = base.value if isinstance(base, ast.Subscript) else base
            fields.update(self.fields(module, title(inner)))
        for item in node.body:
            if isinstance(item, ast.AnnAssign) and not item.target.id.startswith("_"):
                fields[item.target.id] = (item.annotation, module)
        return fields

    def read_type(self, node):
        """An annotation as a type, with a question mark where it may be null, and its choices."""
        if isinstance(node, ast.Constant) and isinstance(node.value, str):
            return self.read_type(ast.parse(node.value, mode="eval").body)
        if isinstance(node, ast.BinOp):
            return self.union([node.left, node.right])
        if isinstance(node, ast.Subscript):
            inner = node.slice.elts if isinstance(node.slice, ast.Tuple) else [node.slice]
            outer = title(node.value).lower()
            if outer == "literal":
                values = [ast.literal_eval(e) for e in inner]
                texts = [str(v) for v in values if v is not None]
                return "str" + ("?" if None in values else ""), texts
            if outer == "optional":
                kind, choices = self.read_type(inner[0])
                return kind.rstrip("?") + "?", choices
            if outer == "union":
                return self.union(inner)
            return ("list" if outer in ("list", "tuple", "sequence") else outer), []
        return title(node) or "None", []

    def union(self, nodes):
        """The first simple type of a union, with `null` and lists beside it: int|list?"""
        kinds, choices, null = [], [], False
        for node in nodes:
            if isinstance(node, ast.Constant) and node.value is None:
                null = True
                continue
            kind, more = self.read_type(node)
            null = null or kind.endswith("?")
            choices += more
            kinds += [k for k in kind.rstrip("?").split("|") if k not in kinds]
        simple = [k for k in kinds if k in SIMPLE]
        return "|".join(simple or kinds[:1]) + ("?" if null else ""), choices


def is_simple(kind):
    return all(part in SIMPLE for part in kind.rstrip("?").split("|"))


def told(said):
    kind, choices = said
    return f"{kind} of {choices}" if choices else kind
