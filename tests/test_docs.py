"""The pages are true and current: what follows from the sources is written from them, the rest is held to them here."""

import importlib.util
import json
import re
import shlex
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
import typer.main

from iacgen.blueprint import Blueprint
from iacgen.cli.app import app
from iacgen.diagnostics.text import render_text
from iacgen.explain import pages
from iacgen.pipeline import run
from iacgen.verify import JUDGES

ROOT = Path(__file__).parents[1]
DOCS = sorted((ROOT / "docs").glob("*.md"))
PAGES = [ROOT / "README.md", ROOT / "CONTRIBUTING.md", ROOT / "CHANGELOG.md", *DOCS]
OUTSIDE = re.compile(r"^[a-z]+:")


def text_of(page):
    return page.read_text(encoding="utf-8")


def fenced(page, language):
    """(line, text) of each block in this language."""
    text = text_of(page)
    return [(text[: m.start()].count("\n") + 1, m[1]) for m in re.finditer(rf"^```{language}\n(.*?)^```$", text, flags=re.MULTILINE | re.DOTALL)]


def prose(page):
    return re.sub(r"^```.*?^```$", "", text_of(page), flags=re.MULTILINE | re.DOTALL)


def cases(language):
    """One test case a block."""
    return [pytest.param(text, id=f"{page.relative_to(ROOT)}:{line}") for page in PAGES for line, text in fenced(page, language)]


def test_the_generated_pages_are_current():
    done = subprocess.run([sys.executable, ROOT / "docs/generate.py", "--check"], capture_output=True, text=True, timeout=120)
    assert done.returncode == 0, done.stdout + done.stderr


@pytest.mark.parametrize("text", cases("yaml"))
def test_a_blueprint_on_a_page_is_clean(text):
    state = run(text, "page")
    assert not state.findings, render_text(state.findings, state.document)
    assert state.project


COMMANDS = [pytest.param(words, id=f"{page.relative_to(ROOT)}:{line} {words}") for page in PAGES for line, text in fenced(page, "sh") for words in text.splitlines() if words.startswith("iacgen ")]


@pytest.fixture(scope="module")
def checkout(tmp_path_factory):
    """What the commands on the pages read: the blueprints and their trees, in a repository of two commits, and what AWS says of the machines of
    one."""
    work = tmp_path_factory.mktemp("checkout")
    shutil.copytree(ROOT / "blueprints", work / "blueprints")
    lab = work / "blueprints/lab.yaml"
    shipped, who = lab.read_bytes(), ("-c", "user.name=t", "-c", "user.email=t@example.invalid")
    lab.write_bytes(shipped.replace(b"global_batch: 128", b"global_batch: 256"))
    for words in (("init", "-q", "-b", "main"), ("add", "blueprints"), (*who, "commit", "-qm", "first")):
        subprocess.run(["git", *words], cwd=work, check=True)
    lab.write_bytes(shipped)
    subprocess.run(["git", *who, "commit", "-qam", "second"], cwd=work, check=True)
    for file in sorted((work / "blueprints").glob("*.yaml")):
        assert subprocess.run([sys.executable, "-m", "iacgen", "generate", file], cwd=work, capture_output=True, timeout=120).returncode == 0
    hosts = run((work / "blueprints/aws-p5.yaml").read_bytes(), "x", judge=False, placed=False).design.pools["gpu"].hosts
    nodes = [{"InstanceId": f"i-{n:04x}", "NetworkNodes": ["nn-top", f"nn-mid{n % 2}", f"nn-low{n % 4}"]} for n in range(len(hosts))]
    tags = [{"InstanceId": f"i-{n:04x}", "Tags": [{"Key": "Name", "Value": host}]} for n, host in enumerate(hosts)]
    (work / "topo.json").write_text(json.dumps({"Instances": nodes}), encoding="utf-8")
    (work / "names.json").write_text(json.dumps({"Reservations": [{"Instances": tags}]}), encoding="utf-8")
    return work


@pytest.mark.parametrize("words", COMMANDS)
def test_a_command_on_a_page_runs(checkout, words):
    done = subprocess.run([sys.executable, "-m", *shlex.split(words, comments=True)], cwd=checkout, capture_output=True, text=True, timeout=300)
    assert done.returncode == 0, done.stdout + done.stderr


def test_some_commands_were_tried():
    assert COMMANDS


@pytest.mark.parametrize("page", PAGES, ids=lambda p: p.name)
def test_every_link_leads_somewhere(page):
    for target in re.findall(r"\]\(([^)\s]+)\)", re.sub(r"`[^`\n]*`", "", prose(page))):
        path, _, anchor = target.partition("#")
        if not OUTSIDE.match(target):
            assert not path or (page.parent / path).exists(), target
            headings = [re.sub(r"[^\w\- ]", "", h.lower()).replace(" ", "-") for h in re.findall(r"^#+ (.*)$", text_of(page.parent / path if path else page), flags=re.MULTILINE)] if anchor else []
            assert not anchor or anchor in headings, target


@pytest.mark.parametrize("page", PAGES, ids=lambda p: p.name)
def test_every_path_that_is_named_exists(page):
    for path in re.findall(r"`((?:\.ci|iacgen|templates|tests|docs|blueprints)/[\w./-]*)`", prose(page)):
        assert (ROOT / path).exists(), path


def test_every_key_of_the_language_is_described():
    reference = text_of(ROOT / "docs/blueprint.md")
    assert all(f"\n| `{field.alias or name}` |" in reference for name, field in Blueprint.model_fields.items())
    for key in ("max_time", "cnp_dscp", "bucket_prefix", "oversubscription", "recompute", "supply_c"):
        assert f"\n| `{key}` |" in reference


def test_every_finding_is_described_with_a_link_to_its_page():
    rows = re.findall(r'^\| <a id="(iac\d{3})"></a>\[(IAC\d{3})\]\((\S+)\) \| ([\w-]+) \| ([^|]+) \| (.*) \|$', text_of(ROOT / "docs/findings.md"), flags=re.MULTILINE)
    assert [(id, slug, severity, says) for _, id, _, slug, severity, says in rows] == [(p.id, p.slug, p.severity, p.summary) for p in pages()]
    assert all(anchor == id.lower() and slug in text_of(ROOT / "docs" / link) for anchor, id, link, slug, _, _ in rows)


def test_every_command_and_option_is_described():
    page = text_of(ROOT / "docs/commands.md")
    for name, command in typer.main.get_command(app).commands.items():
        section = page.partition(f"\n## iacgen {name}\n")[2].partition("\n## ")[0]
        assert command.help in section
        for param in command.params:
            shown = param.name.upper() if param.param_type_name == "argument" else ", ".join(param.opts)
            assert re.search(rf"^\| `{re.escape(shown)}` \|.*\| {re.escape(param.help)} \|$", section, flags=re.MULTILINE), (name, shown)


def test_every_judge_is_described():
    page = text_of(ROOT / "docs/verify.md")
    proofs, sources = page.partition("## How to get them")[::2]
    assert all(re.search(rf"^\|.*`{re.escape(name)}`.*\|", part, flags=re.MULTILINE) for name in JUDGES for part in (proofs, sources))


def test_every_variable_is_described():
    read = [*(ROOT / "iacgen/verify").rglob("*.py"), ROOT / "tests/judges.py", ROOT / "tests/real/install.sh", ROOT / ".ci/run"]
    used = {name for p in read for name in re.findall(r"\b(IACGEN_[A-Z_]+|TF_PLUGIN_DIR)\b", text_of(p))}
    page = text_of(ROOT / "docs/verify.md")
    assert {name for name in used if f"`{name}`" not in page} == set()


def test_the_table_of_rooms_is_the_one_that_is_enforced():
    spec = importlib.util.spec_from_file_location("iacgen_tests_house", ROOT / "tests/test_house.py")
    house = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(house)
    rows = re.findall(r"^\| `(\w+)` \| .* \| (.*) \|$", text_of(ROOT / "docs/architecture.md").partition("## The rooms")[2].partition("\n## ")[0], flags=re.MULTILINE)
    table = {room: set(re.findall(r"`(\w+)`", may)) for room, may in rows}
    assert table == house.MAY_IMPORT
    rooms = {p.name for p in (ROOT / "iacgen").iterdir() if (p / "__init__.py").exists()}
    assert rooms <= dict(rows).keys()


def test_the_changelog_knows_the_version():
    from iacgen import __version__

    headings = re.findall(r"^## \[([^\]]+)\]", text_of(ROOT / "CHANGELOG.md"), flags=re.MULTILINE)
    assert headings[0] == "Unreleased"
    assert __version__ in headings[1:] or len(headings) == 1
