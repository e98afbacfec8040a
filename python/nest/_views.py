"""What notebooks show: pages of the library in a frame of their own, and drawings."""

from __future__ import annotations

import html
import os
from pathlib import Path
from typing import Any


class Report:
    """One HTML page with drawings of a plan, which needs no network.

    A notebook shows it in a frame; `save` writes it to a file.
    """

    def __init__(self, page: str, height: int = 900) -> None:
        self.html = page
        """The whole page."""
        self._height = height

    def save(self, file: str | os.PathLike[str]) -> Path:
        """Writes the page to a file."""
        path = Path(file)
        path.write_text(self.html, encoding="utf-8")
        return path

    def _repr_html_(self) -> str:
        return (
            f'<iframe srcdoc="{html.escape(self.html)}" sandbox="allow-scripts" '
            f'style="width: 100%; height: {self._height}px; border: 0"></iframe>'
        )

    def __repr__(self) -> str:
        return f"<nest.Report, {len(self.html):,} bytes of HTML; save(file) keeps it>"


class Drawing:
    """A drawing as SVG, which notebooks show as it is."""

    def __init__(self, svg: str) -> None:
        self.svg = svg
        """The drawing's text."""

    def save(self, file: str | os.PathLike[str]) -> Path:
        """Writes the drawing to a file."""
        path = Path(file)
        path.write_text(self.svg, encoding="utf-8")
        return path

    def _repr_svg_(self) -> str:
        return self.svg

    def __repr__(self) -> str:
        return f"<nest.Drawing, {len(self.svg):,} bytes of SVG; save(file) keeps it>"


# Sections of a report by the name of the view, with the height that they take.
VIEWS = {"placement": 620, "timeline": 420, "memory": 640}


def data_frame(rows: Any) -> Any:
    """Rows as a DataFrame of pandas."""
    try:
        import pandas
    except ImportError as error:
        raise ImportError("tables are DataFrames of pandas: pip install pandas") from error
    return pandas.DataFrame(rows)


def axes(given: Any) -> Any:
    """Axes of matplotlib to draw into."""
    if given is not None:
        return given
    try:
        from matplotlib import pyplot
    except ImportError as error:
        raise ImportError("plots are made by matplotlib: pip install matplotlib") from error
    return pyplot.subplots()[1]
