"""``iacgen init`` as a command: printed, written once, never over anything, and refused in words."""

import pytest

from iacgen.starter import Wish, write

DGX = ("init", "--system", "dgx-h100", "--nodes", "4")


def test_it_is_printed_and_checks_clean(iacgen):
    done = iacgen(*DGX)
    assert (done.returncode, done.stderr, done.stdout) == (0, "", write(Wish("dgx-h100", 4)))
    assert iacgen("check", "-", input=done.stdout).returncode == 0


def test_it_is_written_to_a_new_file(iacgen, tmp_path):
    done = iacgen(*DGX, "--name", "atlas", "--fabric", "roce", "--site", "on-prem", "--job", "llama-2-7b", "-o", "atlas.yaml")
    assert (done.returncode, done.stdout) == (0, "")
    assert "atlas.yaml: written" in done.stderr
    assert (tmp_path / "atlas.yaml").read_text(encoding="utf-8") == write(Wish("dgx-h100", 4, "on-prem", "atlas", "roce", "llama-2-7b"))
    assert iacgen("generate", "atlas.yaml").returncode == 0
    assert (tmp_path / "out/atlas/README.md").exists()


@pytest.mark.parametrize("kind", ["file", "folder", "dangling link"])
def test_what_stands_there_is_not_touched(call, tmp_path, kind):
    file = tmp_path / "mine.yaml"
    if kind == "file":
        file.write_text("mine")
    elif kind == "folder":
        file.mkdir()
    else:
        file.symlink_to("nowhere")
    done = call(*DGX, "-o", "mine.yaml")
    assert (done.exit_code, done.stdout) == (2, "")
    assert "mine.yaml exists; it was not touched" in done.stderr
    assert kind != "file" or file.read_text() == "mine"
    assert not (tmp_path / "nowhere").exists()


def test_a_folder_that_is_not_there(call, tmp_path):
    done = call(*DGX, "-o", "no/such/lab.yaml")
    assert (done.exit_code, done.stdout) == (2, "")
    assert "cannot write no/such/lab.yaml: No such file or directory" in done.stderr
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize(
    ("args", "why"),
    [
        (("--system", "dgx-h10", "--nodes", "4"), "no system with GPUs is called 'dgx-h10'"),
        (("--system", "dgx-h100", "--nodes", "4000"), "no clean blueprint of 4,000 x dgx-h100: "),
        (("--system", "dgx-b200", "--nodes", "8"), "no network device of the storage ports of NVIDIA DGX B200; the catalog names all ports of dgx-h100, dgx-h200, "),
        (("--system", "dgx-b300", "--nodes", "1"), "no RDMA device of the compute ports of NVIDIA DGX B300; the catalog names all ports of "),
        (("--system", "dgx-h100", "--nodes", "4", "--job", "llama-9"), "no model is called 'llama-9'"),
        (("--system", "dgx-h100", "--nodes", "4", "--name", "../x"), "does not match"),
        (("--system", "dgx-h100", "--nodes", "4", "--name", "a\nb: c"), "does not match"),
        (("--system", "dgx-h100", "--nodes", "4", "--name", "{{ 7 * 7 }}"), "does not match"),
        (("--system", "dgx-h100", "--nodes", "4", "--site", "aws"), "--site on-prem"),
    ],
    ids=lambda v: " ".join(v) if isinstance(v, tuple) else "",
)
def test_what_cannot_be_had_is_said_and_nothing_written(call, tmp_path, args, why):
    done = call("init", *args, "-o", "new.yaml")
    assert (done.exit_code, done.stdout) == (2, "")
    assert why in done.stderr
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("args", [(), ("--system", "dgx-h100"), ("--system", "dgx-h100", "--nodes", "0"), ("--system", "dgx-h100", "--nodes", "4", "--fabric", "ethernet")], ids=" ".join)
def test_wrong_usage(call, args):
    done = call("init", *args)
    assert (done.exit_code, done.stdout) == (2, "")
    assert "Error: " in done.stderr
