"""Hooks of mkdocs (mkdocs.yml): pages that lie outside of docs/, links between both, and the Python
reference."""

import ast
import importlib.util
import pathlib
import re

from mkdocs.plugins import event_priority
from mkdocs.structure.files import File

ROOT = pathlib.Path(__file__).resolve().parent.parent
# A file of the root and its page.
PAGES = {
    "README.md": "index.md",
    "ARCHITECTURE.md": "ARCHITECTURE.md",
    "CONTRIBUTING.md": "CONTRIBUTING.md",
    "CHANGELOG.md": "CHANGELOG.md",
}
LINK = re.compile(r"(!?)\[([^\]]*)\]\((?!https?:|#|mailto:)([^)\s#]*)(#[^)]*)?\)")


def public_names():
    """The names of nest.__all__, in groups: classes first."""
    text = (ROOT / "python" / "nest" / "__init__.py").read_text(encoding="utf-8")
    for node in ast.parse(text).body:
        if isinstance(node, ast.Assign) and node.targets[0].id == "__all__":
            names = [element.value for element in node.value.elts]
    native = {
        alias.name
        for node in ast.parse(text).body
        if isinstance(node, ast.ImportFrom) and node.module == "_core"
        for alias in node.names
    }
    return names, native


def reference():
    """The page with every public name; those of the extension only where the package is installed."""
    names, native = public_names()
    installed = importlib.util.find_spec("nest") is not None
    text = ["# Python reference", "", "Everything that `import nest` gives.", ""]
    for heading, wanted in [("Classes", str.isupper), ("Functions", str.islower)]:
        text += [f"## {heading}", ""]
        for name in names:
            if wanted(name[0]) and (installed or name not in native):
                text += [f"::: nest.{name}", "    options: {heading_level: 3}", ""]
    text += ["## With other packages", ""]
    for name in ("torch", "accelerate", "callbacks"):
        text += [f"::: nest.{name}", "    options: {heading_level: 3, show_root_full_path: true}", ""]
    return "\n".join(text)


@event_priority(100)  # before mkdocstrings reads its own
def on_config(config):
    """The installed package has the extension's stubs; without it the source is read."""
    found = importlib.util.find_spec("nest")
    if found is not None:
        config.plugins["mkdocstrings"].config["handlers"]["python"]["paths"] = [
            str(pathlib.Path(found.origin).parents[1])
        ]
    return config


def on_files(files, config):
    """Adds the pages."""
    for source, page in PAGES.items():
        files.append(File.generated(config, page, content=(ROOT / source).read_text(encoding="utf-8")))
    files.append(File.generated(config, "python-reference.md", content=reference()))
    return files


def on_page_markdown(markdown, page, config, files):
    """Links as they are in the repository, as the site has them; what is no page becomes plain text."""
    of_root = page.file.src_uri in PAGES.values()
    folder = ROOT if of_root else (ROOT / "docs" / page.file.src_uri).parent
    pages = {file.src_uri for file in files}

    def link(match):
        image, text, target, anchor = match.groups()
        path = (folder / target).resolve()
        if not path.is_relative_to(ROOT) or not target:
            return match[0]
        place = path.relative_to(ROOT).as_posix()
        uri = PAGES.get(place, place.removeprefix("docs/"))
        if uri not in pages:
            return f"`{text}`" if not image else text
        up = "../" * page.file.src_uri.count("/")
        return f"{image}[{text}]({up}{uri}{anchor or ''})"

    return LINK.sub(link, markdown)
