"""Plug-ins for servers from the command line and from manifests."""

from __future__ import annotations

from pathlib import Path

from tests.cli.conftest import Run


def test_compile(run: Run, template: Path, tmp_path: Path) -> None:
    for server in ("vllm", "sglang"):
        result = run("compile", "chat.jinja", "-t", server, "-o", f"chat_{server}.py")
        assert (result.code, result.err.splitlines()[-1]) == (0, f"wrote        chat_{server}.py")
        text = (tmp_path / f"chat_{server}.py").read_text(encoding="utf-8")
        assert text.splitlines()[1] == (
            f"# To regenerate: tplc compile chat.jinja -t {server} -o chat_{server}.py --name chat"
        )
        assert '\nNAME = "chat"\n' in text
        # What the header says makes the same file, and it is known as our own.
        again = run("compile", "chat.jinja", "-t", server, "--name", "chat", "-q", "-o", f"chat_{server}.py")
        assert again.code == 0 and (tmp_path / f"chat_{server}.py").read_text(encoding="utf-8") == text


def test_a_plugin_is_no_parser_for_commands(run: Run, template: Path, tmp_path: Path) -> None:
    assert run("compile", "chat.jinja", "-t", "vllm", "-q", "-o", "chat_vllm.py").code == 0
    for arguments in (("verify", "chat.jinja", "chat_vllm.py"), ("parse", "chat_vllm.py", "chat.jinja")):
        result = run(*arguments)
        reported = "is a plug-in, for a server to load: give a parser (tplc compile -t python) instead"
        assert (result.code, result.err) == (2, f"tplc: chat_vllm.py: {reported}\n")


def test_a_manifest_gives_them_the_name_of_the_model(run: Run, template: Path, tmp_path: Path) -> None:
    (tmp_path / "tplc.toml").write_text(
        '[models."Hut-7B"]\nsource = "chat.jinja"\n'
        'outputs = [{path = "hut_vllm.py", target = "vllm"}, {path = "hut_sglang.py", target = "sglang"}, "hut.py"]\n',
        encoding="utf-8",
    )
    assert run("build").code == 0 and run("check").code == 0
    for file in ("hut_vllm.py", "hut_sglang.py"):
        lines = (tmp_path / file).read_text(encoding="utf-8").splitlines()
        assert lines[1] == "# To regenerate: tplc build Hut-7B" and 'NAME = "Hut-7B"' in lines
