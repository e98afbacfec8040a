"""What-if studies."""

import pytest

import nest


@pytest.fixture(scope="module")
def study():
    q = nest.Question("gpt2", global_batch=64, price="2.5/h")
    vary = {"cluster.levels.node.bandwidth": ["50GB/s", "450GB/s"]}
    return nest.sweep(q, vary, devices=[8, 16])


def test_every_combination_is_a_row(study, program, tmp_path):
    assert len(study) == 4
    rows = [{**row, "search_s": 0} for row in study.rows]
    said = program.json(
        "sweep", "--model", "gpt2", "--global-batch", 64, "--price", "2.5/h", "--out", tmp_path,
        "--vary", "cluster.levels.node.bandwidth=50GB/s,450GB/s", "--vary", "devices=8,16",
    )  # fmt: skip
    assert rows == [{**row, "search_s": 0} for row in said["rows"]]
    assert study.to_dict()["points"] == said["points"] == 4


def test_what_it_shows(study, tmp_path):
    assert study.findings
    assert 0 < len(study.front) <= 4
    assert study.report().html.startswith("<!doctype html>")
    assert study.drawing().svg.startswith("<svg")
    folder = study.save(tmp_path / "out")
    assert (folder / "results.csv").exists() and (folder / "sweep.html").exists()
    assert "4 points" in repr(study)
    assert "<iframe" in study._repr_html_()


def test_tables_and_plots(study):
    pytest.importorskip("pandas")
    frame = study.to_pandas()
    assert list(frame["devices"]) == [8, 16, 8, 16] or list(frame["devices"]) == [8, 8, 16, 16]
    assert "cost_per_trillion_tokens" in frame.columns
    matplotlib = pytest.importorskip("matplotlib")
    matplotlib.use("Agg")
    assert len(study.plot().lines) == 2
    one = nest.sweep(nest.Question("gpt2", devices=8, global_batch=64), zero=[0, 1])
    assert one.plot(y="step_s").get_ylabel() == "step_s"


def test_texts_of_values_are_the_commands():
    study = nest.sweep(nest.Question("gpt2", global_batch=64), devices="8..32:log3")
    assert [row["values"]["devices"] for row in study.rows] == ["8", "16", "32"]


def test_what_is_wrong_is_told_before_any_search(small):
    for fields, what in [
        ({}, "nothing is varied"),
        (dict(devises=[8]), "did you mean 'devices'"),
        (dict(devices=[]), "a list of values is expected"),
        (dict(tensor=["eight"]), "eight"),
    ]:
        with pytest.raises(nest.InputError, match=what):
            nest.sweep(small, **fields)
