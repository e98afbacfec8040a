"""Several threads ask at once, and each gets its own answer; Python runs on while a search does."""

import concurrent.futures
import threading
import time

import nest


def test_the_same_question_from_many_threads(small, answer):
    expected = answer.to_dict()
    with concurrent.futures.ThreadPoolExecutor(8) as pool:
        for found in pool.map(lambda _: small.solve().to_dict(), range(16)):
            assert found == expected


def test_different_questions_and_prices_side_by_side():
    models = ["gpt2", "gpt2-medium", "llama3.2-1b", "bert-large"]
    questions = [nest.Question(model, devices=8, global_batch=64) for model in models]
    alone = [(q.solve().step, q.price(tensor=[1, 2, 4], zero=1).step.tolist()) for q in questions]

    def ask(index):
        q = questions[index % len(models)]
        return (
            index % len(models),
            (q.solve().step, q.price(tensor=[1, 2, 4], zero=1).step.tolist()),
        )

    with concurrent.futures.ThreadPoolExecutor(6) as pool:
        for which, found in pool.map(ask, range(24)):
            assert repr(found) == repr(alone[which])


def test_python_runs_while_a_search_does():
    # Without the GIL released, the counter would stand still until the search is over.
    q = nest.Question("llama3.1-70b", devices=256, global_batch=512)
    counted = 0
    done = threading.Event()

    def search():
        q.solve(advise=False)
        done.set()

    worker = threading.Thread(target=search)
    worker.start()
    while not done.is_set():
        counted += 1
        time.sleep(0.001)
    worker.join()
    assert counted > 10
