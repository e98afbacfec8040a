"""What notebooks show."""

import html
import re

import pytest

import nest


def page_of(shown):
    """The page inside of a frame."""
    return html.unescape(re.search(r'srcdoc="([^"]*)"', shown)[1])


def test_an_answer_shows_its_report(answer):
    page = page_of(answer._repr_html_())
    assert page.startswith("<!DOCTYPE html>") and "placementMap" in page
    assert "http://" not in page.replace("http://www.w3.org", "")
    assert page_of(answer.plan._repr_html_()).startswith("<!DOCTYPE html>")
    assert (
        "nothing" not in answer.report(title="Mine").html[:50]
        and "Mine" in answer.report(title="Mine").html
    )


def test_views_are_sections_of_the_same_page(answer):
    whole = answer.plan.report().html
    for view in (answer.plan.placement(), answer.plan.timeline(), answer.plan.memory()):
        assert "visibility:hidden" in view.html and "visibility:hidden" not in whole
        assert "<iframe" in view._repr_html_()
    assert answer.plan.report(sections=nest.report_sections()).html
    with pytest.raises(nest.InputError, match="did you mean 'placement'"):
        answer.plan.report(sections=["placment"])


def test_the_page_is_the_commands(answer, program, tmp_path):
    file = answer.plan.save(tmp_path / "plan.json")
    program.run("report", file, "-o", tmp_path / "report.html")
    by_command = (tmp_path / "report.html").read_text()
    by_python = answer.plan.report().save(tmp_path / "mine.html").read_text()

    def rest(page):
        return re.sub(r'"(command|file)": ?"[^"]*"', "", page)

    assert rest(by_python) == rest(by_command)
    assert answer.plan.report_data()["headline"] == program.json("report", file)["headline"]


def test_reports_and_drawings_show_and_save_themselves(answer, tmp_path):
    report = answer.report()
    assert "bytes of HTML" in repr(report)
    drawing = answer.plan.simulate().drawing()
    assert drawing._repr_svg_() == drawing.svg == drawing.save(tmp_path / "step.svg").read_text()
    assert "bytes of SVG" in repr(drawing)
    assert answer.plan.simulate()._repr_svg_() == drawing.svg
    assert answer.plan.simulate(timeline=False)._repr_svg_() is None


def test_without_pandas_and_matplotlib_it_says_what_to_install(answer, monkeypatch):
    import builtins

    real = builtins.__import__

    def importing(name, *args, **kwargs):
        if name.partition(".")[0] in ("pandas", "matplotlib"):
            raise ImportError(name)
        return real(name, *args, **kwargs)

    monkeypatch.setattr(builtins, "__import__", importing)
    with pytest.raises(ImportError, match="pip install pandas"):
        answer.to_pandas()
    with pytest.raises(ImportError, match="pip install matplotlib"):
        answer.plan.price().plot()
    prices = nest.Question("gpt2", devices=8, global_batch=64).price(tensor=[1, 2])
    assert prices._repr_html_().startswith("<pre>")
