"""Workers of this machine: data that travels, batches, results in order, deaths, sentences."""

from __future__ import annotations

import os

import jax.numpy as jnp
import numpy as np
import pytest
from summing_handler import Sums, ThreadedSums

from boardrl import workers
from boardrl.errors import UserError
from boardrl.workers import Job, Local, addresses, packing, text_form, versions
from boardrl.workers.batches import Batches
from boardrl.workers.text_form import Form

SHARED = np.array([1.0, 2.0, 3.0])


def sums(found):
    return [one["sum"].tolist() for one in found]


EXPECTED = [(np.random.default_rng(item).random(3) + SHARED).tolist() for item in range(9)]


# --- texts ------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("text", "form"),
    [
        ("local", Form("local")),
        ("local:3", Form("local", number=3)),
        ("ray", Form("ray")),
        ("ray:auto", Form("ray", address="auto")),
        ("ray:10.0.0.1:6379", Form("ray", address="10.0.0.1:6379")),
        ("ray:[::1]:6379", Form("ray", address="[::1]:6379")),
    ],
)
def test_texts(text, form):
    assert text_form.parse(text) == form


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("", "expected local, local:N, ray or ray:HOST:PORT"),
        ("lokal", r"did you mean 'local'\?"),
        ("4", "expected local, local:N"),
        ("local:", "expected 1 to 1024 after local:"),
        ("local:0", "expected 1 to 1024 after local:"),
        ("local:two", "expected 1 to 1024 after local:"),
        ("ray:", "expected ray:HOST:PORT"),
        ("ray:here", "expected ray:HOST:PORT"),
        ("ray:here:there", "expected ray:HOST:PORT"),
        ("ray:here:70000", "has port 70000: expected 1 to 65535"),
    ],
)
def test_bad_texts(text, words):
    with pytest.raises(UserError, match=words):
        workers.make(text)


# --- data -------------------------------------------------------------------------------------------------------------


def test_data_arrives_as_it_left():
    data = {
        "plain": [None, True, 3, -0.1, "ä", [], {}],
        "arrays": (np.arange(6, dtype=np.int16).reshape(2, 3).T, np.zeros((0, 4)), np.float32(0.1), jnp.arange(3)),
        "bytes": b"\x00\xff",
        "word": np.array([2**64 - 1], np.uint64),
        "nan": np.array([np.nan, np.inf]),
    }
    found = packing.unpack(packing.pack(data))
    assert found["plain"] == data["plain"]
    assert found["bytes"] == data["bytes"]
    for one, other in zip(found["arrays"], data["arrays"], strict=True):
        assert (one.dtype, one.shape, one.tobytes()) == (other.dtype, other.shape, np.asarray(other).tobytes())
    assert found["word"][0] == 2**64 - 1
    assert np.isnan(found["nan"][0])
    assert not found["word"].flags.writeable


@pytest.mark.parametrize("data", [{1: 2}, object(), np.array([object()]), {"a": lambda: 0}])
def test_what_is_no_data_is_refused(data):
    with pytest.raises(TypeError, match="data"):
        packing.pack(data)


def test_addresses_name_what_can_be_imported():
    assert addresses.find(addresses.of(Sums)) is Sums
    with pytest.raises(ValueError, match="top level"):
        addresses.of(lambda: 0)


def test_versions_that_differ_are_named():
    ours = versions.versions()
    assert versions.difference(ours) == ""
    assert versions.difference({**ours, "python": "3.99.0"}).endswith("but this process has python 3.99.0")
    assert "another copy of boardrl's code" in versions.difference({**ours, "source": "0" * 12})


# --- batches ----------------------------------------------------------------------------------------------------------


def test_batches_last_a_second_and_end_together():
    batches = Batches(100)
    assert batches.next(2) == [0]  # nothing is known yet
    batches.took(0.1, 1)
    assert batches.next(2) == list(range(1, 11))
    batches.took(0.001, 10)
    sizes = []
    while batches:
        sizes.append(len(batches.next(2)))
    assert sum(sizes) == 89
    assert sizes == sorted(sizes, reverse=True)
    assert sizes[:2] == [23, 17]
    assert sizes[-1] == 1
    batches.lost([3, 4])
    assert (len(batches), batches.next(2), batches.next(2)) == (2, [4], [3])


# --- this machine -----------------------------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def pair():
    """Two processes, as to start one takes seconds."""
    with Local(2) as made:
        yield made


@pytest.mark.parametrize(("handler", "marker"), [(ThreadedSums, ""), (Sums, "here"), (Sums, "")])
def test_results_come_in_order_whoever_finds_them(handler, marker, pair):
    for pool, elsewhere in ((Local(1), False), (pair, handler is Sums and not marker)):
        found = pool.map(Job(handler, (marker,), range(9), SHARED))
        assert sums(found) == EXPECTED
        assert ({one["process"] for one in found} != {os.getpid()}) == elsewhere


def test_processes_are_kept_with_what_they_have_made_and_take_what_is_shared_once(pair):
    items = pair.traffic.items
    first, second = (pair.map(Job(Sums, ("",), range(9), SHARED + more)) for more in (0, 1))
    assert {one["process"] for one in first} == {one["process"] for one in second}
    for process in {one["process"] for one in first}:
        loads = [{one["loads"] for one in found if one["process"] == process} for found in (first, second)]
        assert list(map(len, loads)) == [1, 1]
        assert max(loads[1]) == max(loads[0]) + 1
    assert sums(first) == EXPECTED
    assert np.allclose(sums(second), np.array(EXPECTED) + 1, rtol=0, atol=1e-15)
    assert pair.traffic.items == items + 18


def test_the_work_of_a_dead_process_is_done_again(pair, tmp_path, capfd):
    assert sums(pair.map(Job(Sums, (str(tmp_path / "marker"),), range(9), SHARED))) == EXPECTED
    assert pair.traffic.made_again == 1
    assert "warning: a worker process was killed by SIGKILL; doing sum" in capfd.readouterr().err


def test_mistakes_and_bugs_in_a_process_are_sentences(pair, capfd):
    with pytest.raises(UserError, match=r"^99 cannot be summed; expected less$"):
        pair.map(Job(Sums, ("",), [1, 99], SHARED))
    with pytest.raises(UserError, match=r"^a worker failed: RuntimeError: a bug; its traceback is above$"):
        pair.map(Job(Sums, ("",), [1, 98], SHARED))
    assert "in run" in capfd.readouterr().err


def test_abandoned_work_ends_at_once_and_processes_end_with_the_workers():
    with Local(2) as local:
        found = local.run(Job(Sums, ("",), [1, 97, 2, 3], SHARED))
        index, one = next(found)
        assert index in (0, 2, 3)
        found.close()
        assert os.path.exists(f"/proc/{one['process']}")
    assert not os.path.exists(f"/proc/{one['process']}")


def test_the_workers_in_use():
    assert not workers.in_use()
    with workers.opened("local:3") as local:
        assert workers.active() is local
        assert workers.active().count == 3
    assert not workers.in_use()
    assert sums(workers.active().map(Job(ThreadedSums, ("",), range(9), SHARED))) == EXPECTED
