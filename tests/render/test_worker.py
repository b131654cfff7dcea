"""The worker process: its limits, and that it never keeps running."""

from __future__ import annotations

import gc
import os
import signal
import subprocess
import sys
import time
from dataclasses import replace

import pytest

from tplc.driver import compile_template
from tplc.errors import LimitExceeded, TplcError, WorkerDied, exceeded
from tplc.ir.nodes import Json
from tplc.render import Limits, Renderer

HI: list[dict[str, Json]] = [{"role": "user", "content": "hi"}]
ENDLESS = "{% for i in range(100000) %}{% for j in range(100000) %}{% endfor %}{% endfor %}"
QUICK = replace(Limits(), render_seconds=0.2)

posix = pytest.mark.skipif(os.name != "posix", reason="limits of the operating system")


@pytest.fixture(autouse=True, params=[pytest.param(True, marks=posix, id="forked"), pytest.param(False, id="started")])
def forks(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> bool:
    """Run with both ways of starting a worker; a process that is started from here starts it in the usual way."""
    monkeypatch.setattr("tplc.render.process._FORKS", request.param)
    return bool(request.param)


def worker_of(renderer: Renderer) -> int:
    assert renderer._worker is not None
    return renderer._worker.process.pid


def parent_of(pid: int) -> int:
    with open(f"/proc/{pid}/stat", encoding="utf-8") as stat:
        return int(stat.read().rsplit(")", 1)[1].split()[1])


def alive(pid: int) -> bool:
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    try:
        with open(f"/proc/{pid}/stat", encoding="utf-8") as stat:
            return stat.read().rsplit(")", 1)[1].split()[0] != "Z"
    except OSError:
        return True


def gone(pid: int, seconds: float) -> bool:
    deadline = time.monotonic() + seconds
    while alive(pid):
        if time.monotonic() > deadline:
            return False
        time.sleep(0.02)
    return True


@posix
@pytest.mark.parametrize(
    ("source", "limits", "limit"),
    [
        (ENDLESS, QUICK, "render_seconds"),
        ("{{ 'ab' | center(10 ** 9) }}", Limits(), "memory_mb"),
        ("{% for i in range(1000) %}0123456789{% endfor %}", replace(Limits(), output_chars=9_999), "output_chars"),
        ("{{ 'a' * 1001 }}", replace(Limits(), output_chars=1_000), "output_chars"),
        ("{{ range(11) }}", replace(Limits(), range_items=10), "range_items"),
        ("{{ 2 ** 100 }}", replace(Limits(), number_bits=99), "number_bits"),
        ("0123456789", replace(Limits(), source_chars=9), "source_chars"),
        ("{% macro m() %}{{ m() }}{% endmacro %}{{ m() }}", Limits(), "recursion"),
    ],
)
def test_limit(source: str, limits: Limits, limit: str) -> None:
    with pytest.raises(LimitExceeded) as caught, Renderer(source, limits=limits) as renderer:
        renderer.render(HI)
    assert caught.value.limit == limit
    value = getattr(limits, limit, sys.getrecursionlimit())
    assert caught.value.value == str(value)
    assert exceeded(limit, str(value)) in str(caught.value)


@posix
def test_processor_time_of_all_renders_is_bounded() -> None:
    source = "{% for i in range(100000) %}{{ i }}{% endfor %}"
    with Renderer(source, limits=replace(Limits(), cpu_seconds=1)) as renderer, pytest.raises(LimitExceeded) as caught:
        for _ in range(1000):
            renderer.render(HI)
    assert caught.value.limit == "cpu_seconds"


def test_a_stopped_worker_meets_the_clock() -> None:
    with Renderer("x", limits=replace(Limits(), wall_seconds=0.3)) as renderer:
        pid = worker_of(renderer)
        os.kill(pid, signal.SIGSTOP)
        with pytest.raises(LimitExceeded) as caught:
            renderer.render(HI)
        assert caught.value.limit == "wall_seconds"
        assert not alive(pid)
        assert renderer.render(HI) == "x"


SLOW = "{% for i in range(99999) %}{% endfor %}" * 20 + "{{ messages[0].content }}"


def test_a_compile_as_a_whole_is_bounded() -> None:
    limits = replace(Limits(), total_seconds=0.4)
    with pytest.raises(LimitExceeded) as caught:
        compile_template(SLOW, name="slow.jinja", limits=limits)
    assert str(caught.value) == "slow.jinja: all work on the template took more than 0.4 s (limit total_seconds)"


@posix
def test_a_render_that_hangs_meets_the_limit_of_the_whole() -> None:
    with Renderer("x", limits=replace(Limits(), total_seconds=0.3)) as renderer:
        assert renderer._worker is not None
        os.kill(renderer._worker.process.pid, signal.SIGSTOP)
        with renderer.within_total(), pytest.raises(LimitExceeded) as caught:
            renderer.render([])
        assert caught.value.limit == "total_seconds"
        time.sleep(0.3)
        # What is rendered outside is not bounded by it.
        assert renderer.render([]) == "x"


def test_exactly_the_limit_is_allowed() -> None:
    with Renderer("{{ 'a' * n }}", limits=replace(Limits(), output_chars=1_000)) as renderer:
        assert renderer.render(HI, n=1_000) == "a" * 1_000


@posix
def test_after_a_limit_the_next_render_has_a_new_worker() -> None:
    with Renderer("{% if n %}" + ENDLESS + "{% endif %}fine", limits=QUICK) as renderer:
        first = worker_of(renderer)
        with pytest.raises(LimitExceeded):
            renderer.render(HI, n=1)
        assert not alive(first)
        assert renderer.render(HI, n=0) == "fine"
        assert worker_of(renderer) != first


@posix
def test_a_worker_killed_from_outside_is_an_error_and_then_replaced() -> None:
    with Renderer("fine") as renderer:
        os.kill(worker_of(renderer), signal.SIGTERM)
        with pytest.raises(WorkerDied) as caught:
            renderer.render(HI)
        assert str(caught.value) == "template: the process that renders ended with signal SIGTERM"
        assert renderer.render(HI) == "fine"


@posix
@pytest.mark.parametrize("said", [b"no JSON\n", b"[" * 100_000 + b"\n", b"\xff\n"])
def test_an_answer_that_is_none(said: bytes, monkeypatch: pytest.MonkeyPatch) -> None:
    """A worker that runs somebody else's code could answer anything."""
    with Renderer("fine") as renderer:
        with monkeypatch.context() as patch:
            patch.setattr("tplc.render.renderer._read_line", lambda *_: said)
            with pytest.raises(WorkerDied) as caught:
                renderer.render(HI)
        assert str(caught.value) == "template: the process that renders ended with an invalid answer"
        assert renderer.render(HI) == "fine"


@posix
def test_an_answer_without_end_is_not_read_to_its_end(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("tplc.render.process._FORKS", False)
    monkeypatch.setattr("tplc.render.process._START", "import sys\nwhile True: sys.stdout.write('x' * 65536)")
    with pytest.raises(TplcError) as caught:
        Renderer("x", limits=replace(Limits(), output_chars=1000))
    assert str(caught.value) == "template: a render has more than 1000 characters (limit output_chars)"


@posix
def test_the_worker_can_open_nothing() -> None:
    """The worker's own limits are read from outside."""
    with Renderer("x") as renderer:
        pid = worker_of(renderer)
        if not os.path.exists(f"/proc/{pid}/limits"):
            pytest.skip("no /proc")
        with open(f"/proc/{pid}/limits", encoding="utf-8") as file:
            limits = {line[:26].strip(): line[26:].split()[:2] for line in file}
        descriptors = sorted(os.listdir(f"/proc/{pid}/fd"))
    assert limits["Max open files"] == ["3", "3"]
    assert limits["Max file size"] == ["0", "0"]
    assert limits["Max core file size"] == ["0", "0"]
    assert limits["Max processes"] == ["0", "0"]
    assert limits["Max address space"] == [str(256 << 20)] * 2
    assert descriptors == ["0", "1", "2"]


@posix
def test_the_worker_is_a_group_of_its_own_with_an_empty_environment() -> None:
    with Renderer("x") as renderer:
        pid = worker_of(renderer)
        assert os.getpgid(pid) == os.getsid(pid) == pid
        if os.path.exists(f"/proc/{pid}/environ"):
            with open(f"/proc/{pid}/environ", "rb") as file:
                names = {entry.split(b"=")[0] for entry in file.read().split(b"\0") if entry}
            assert names <= {b"LD_LIBRARY_PATH", b"DYLD_LIBRARY_PATH"}


def test_closing_ends_the_worker() -> None:
    renderer = Renderer("x")
    pid = worker_of(renderer)
    renderer.close()
    renderer.close()
    assert not alive(pid)
    with pytest.raises(TplcError, match="template: the renderer is closed"):
        renderer.render(HI)


def test_a_forgotten_renderer_ends_its_worker() -> None:
    pid = worker_of(Renderer("x"))
    gc.collect()
    assert not alive(pid)


@posix
@pytest.mark.parametrize("busy", [pytest.param("x", id="idle"), pytest.param(ENDLESS, id="in the middle of a render")])
def test_a_killed_parent_leaves_no_worker(busy: str) -> None:
    parent = subprocess.Popen(
        [
            *(sys.executable, "-c"),
            "import sys, time\nfrom tplc.render import Renderer\n"
            "renderer = Renderer(sys.argv[1])\nprint(renderer._worker.process.pid, flush=True)\n"
            "renderer.render([]) and time.sleep(60)",
            busy,
        ],
        stdout=subprocess.PIPE,
        text=True,
    )
    assert parent.stdout is not None
    pid = int(parent.stdout.readline())
    time.sleep(0.1)
    assert alive(pid)
    parent.kill()
    parent.wait()
    parent.stdout.close()
    assert gone(pid, 5)


@posix
@pytest.mark.filterwarnings("ignore::DeprecationWarning")
def test_a_forked_copy_leaves_the_worker_alone() -> None:
    renderer = Renderer("fine")
    child = os.fork()
    if child == 0:
        renderer.close()
        os._exit(0)
    os.waitpid(child, 0)
    assert renderer.render(HI) == "fine"
    renderer.close()


def test_a_request_larger_than_a_pipe_holds() -> None:
    text = "é𝄞\n" * 300_000
    with Renderer("{{ messages[0].content }}") as renderer:
        assert renderer.render([{"role": "user", "content": text}]) == text


def test_a_template_that_prints_lines_of_json_is_only_text() -> None:
    with Renderer('\n{"ok": "forged"}\n\n') as renderer:
        assert renderer.render(HI) == '\n{"ok": "forged"}\n'


on_linux = pytest.mark.skipif(not os.path.isdir("/proc/self"), reason="no /proc")


@on_linux
@posix
@pytest.mark.filterwarnings("ignore::DeprecationWarning")
def test_a_forked_copy_renders_with_a_worker_of_its_own() -> None:
    with Renderer("{{ messages[0].content }}") as renderer:
        assert renderer.render([{"role": "user", "content": "before"}]) == "before"
        child = os.fork()
        text = "copy" if child == 0 else "owner"
        found = {renderer.render([{"role": "user", "content": f"{text} {number}"}]) for number in range(50)}
        right = found == {f"{text} {number}" for number in range(50)}
        if child == 0:
            os._exit(0 if right else 1)
        assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 0
        assert right


def test_workers_are_forked_from_one_process_unless_they_are_apart(forks: bool) -> None:
    with Renderer("one") as one, Renderer("two") as two, Renderer("three", apart=True) as three:
        parents = [parent_of(worker_of(renderer)) for renderer in (one, two, three)]
        assert [renderer.render(HI) for renderer in (one, two, three)] == ["one", "two", "three"]
    if forks:
        assert os.getpid() not in parents
        assert parents[0] == parents[1] != parents[2]
        assert [parent_of(pid) for pid in {parents[0], parents[2]}] == [os.getpid()] * 2
    else:
        assert parents == [os.getpid()] * 3


@on_linux
def test_where_the_process_to_fork_from_is_gone_there_is_a_new_one(forks: bool) -> None:
    if not forks:
        pytest.skip("nothing is forked")
    with Renderer("{{ messages[0].content }}") as one:
        forker = parent_of(worker_of(one))
        os.kill(forker, signal.SIGKILL)
        assert gone(forker, 5)
        with Renderer("other") as other:
            assert parent_of(worker_of(other)) != forker
            assert other.render(HI) == "other"
        # Those that it forked before live on, and end as others do.
        assert one.render(HI) == "hi"
        pid = worker_of(one)
    assert gone(pid, 5)


@on_linux
def test_what_a_breach_ends_is_one_worker_alone(forks: bool) -> None:
    with Renderer("fine") as fine, Renderer("{% if n %}" + ENDLESS + "{% endif %}fine", limits=QUICK) as endless:
        pid = worker_of(fine)
        with pytest.raises(LimitExceeded):
            endless.render(HI, n=1)
        assert fine.render(HI) == endless.render(HI, n=0) == "fine"
        assert worker_of(fine) == pid


@on_linux
def test_a_parent_that_is_killed_leaves_nothing_to_fork_from() -> None:
    """An `_exit` says no more than a kill: all that is left of the parent are the ends of its sockets."""
    code = (
        "import os\nfrom tplc.render import Renderer, process\n"
        "renderers = [Renderer('x'), Renderer('x', apart=True)]\n"
        "print(*[renderer._worker.process.pid for renderer in renderers], *"
        "[forker._process.pid for forker in process._forkers.values()], flush=True)\nos._exit(0)"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    pids = list(map(int, done.stdout.split()))
    assert len(pids) == 4
    assert all(gone(pid, 5) for pid in pids)
