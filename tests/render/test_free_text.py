"""Free text, which may hold anything that shows: each reader gets it back unchanged, and none evaluates it."""

import json
import subprocess
import xml.etree.ElementTree as ElementTree
from base64 import b64decode
from pathlib import Path

import pytest
import yaml
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from markdown_it import MarkdownIt

from iacgen.blueprint import parse
from iacgen.pipeline import run, tree
from iacgen.render import UnrepresentableValue
from iacgen.render.filters import unsafe, xml
from iacgen.source.decode import HIDDEN
from iacgen.verify import programs

unhurried = settings(deadline=None, suppress_health_check=[HealthCheck.too_slow, HealthCheck.function_scoped_fixture])
BAITS = """{{ lookup('pipe', 'touch pwned') }}|{% for x in y %}|{# c #}|${file("/etc/passwd")}|$${x}|%{ if true }x%{ endif }|%%{x}|$(touch pwned)|`touch pwned`|; touch pwned|&& touch pwned
"quoted"|'quoted'|\\|\\n|a\\|[x](javascript:alert)|<script>alert(1)</script>|&amp;|<!-- c -->|]]>|*a* _b_ ~c~|# a|- a|+ a|1. a|=1+1|@a|!a|&a|*a|? a|a: b|a #b|---|...|%TAG|{a: 1}|[1, 2]|true|no|null|1e3|010|=|<<|~|Zürich 日本 😀 é|e\u0301|a|b | c|\\u202e|!unsafe x|{{ a|{%|#!/bin/sh|None|{'a': 1}|['a']|-|--|1,2|#}""".replace("\n", "|").split("|")
shown = st.characters(codec="utf-8", exclude_categories=["Cc", "Cf", "Cs", "Zl", "Zp"], exclude_characters="\ufffe\uffff")
lines = (st.text(shown, min_size=1, max_size=40) | st.sampled_from([b for b in BAITS if b.strip()]) | st.text("{}%$#\"'\\`<>&|*_[]() ;:,-~!ab1", min_size=1, max_size=30)).map(str.strip).filter(lambda t: t and not HIDDEN.search(t) and t[0] > "\xa0" or t[:1].isascii() and t[:1] > " " and t[-1:] not in "\xa0")
LAB = {"kind": "Cluster", "schema": 1, "name": "x", "sites": {"h": {"kind": "on-prem"}}, "nodes": {"gpu": {"site": "h", "system": "hgx-h100", "count": 2}}, "fabrics": {"f": {"site": "h", "purpose": "compute", "connects": ["gpu"], "technology": "roce", "switch": "sn5600"}}}
JOB = {"model": "llama-3-8b", "nodes": "gpu", "sequence": 8192, "global_batch": 128, "gradients": "bf16", "recompute": "full", "framework": "deepspeed"}


class Loader(yaml.SafeLoader):
    """PyYAML as Ansible uses it: it knows one tag more, behind which quotes count for nothing."""


Loader.add_constructor("!unsafe", lambda loader, node: loader.construct_object(yaml.ScalarNode(loader.resolve(yaml.ScalarNode, node.value, (True, False)), node.value)))


def told(description):
    """The blueprint's own text after it was parsed, or None where it is refused."""
    blueprint, findings = parse(LAB | {"description": description})
    return blueprint and blueprint.description, [f.id for f in findings]


def paragraphs(page):
    return ["".join(leaf.content for leaf in token.children) for token in MarkdownIt("commonmark").enable("table").parse(page) if token.type == "inline"]


@given(lines, lines, lines)
@settings(unhurried, max_examples=60)
def test_every_page_and_inventory_says_the_words(cluster, pool, job):
    state = run(json.dumps(LAB | {"description": cluster, "nodes": {"gpu": LAB["nodes"]["gpu"] | {"description": pool}}, "training": {"t": JOB | {"description": job}}}), "x.yaml", "lab")
    assert state.project, state.findings
    cluster, pool, job = (state.blueprint.description, state.blueprint.nodes["gpu"].description, state.blueprint.training["t"].description)
    files = tree(state)
    assert cluster in paragraphs(files["README.md"])
    report = paragraphs(files["report.md"])
    assert cluster in report
    assert f"gpu: {pool}" in report and f"For: {job}" in report
    assert yaml.load(files["ansible/h/inventory/group_vars/all/cluster.yml"], Loader)["base_purpose"] == cluster
    assert run(files[".iacgen/resolved.yaml"], "x.yaml", "lab").blueprint.description == cluster


@given(lines)
@unhurried
def test_what_looks_like_jinja_is_tagged_and_nothing_else(text):
    line = unsafe(text)
    assert yaml.load(f"a: {line}\n", Loader) == {"a": text}
    assert line.startswith("!unsafe ") == any(mark in text for mark in ("{{", "{%", "{#"))


@pytest.mark.parametrize("text", ["", " a", "a ", "a\nb", "a\tb", "a\x00b", "\x1b[2J", "a\x85b", "x" * 501, 5, None, ["a"]])
def test_what_is_no_line_of_text_is_refused(text):
    blueprint, findings = told(text)
    assert blueprint is None and (findings or text is None)


def test_accents_are_put_together_as_terraform_does():
    assert told("cafe\u0301") == ("café", [])


class TestXml:
    @given(st.text(st.characters(codec="utf-8", exclude_categories=["Cs", "Cc"], exclude_characters="\ufffe\uffff"), max_size=40) | st.sampled_from(BAITS) | st.text("<>&\"'\t\n\r ]a", max_size=12))
    @unhurried
    def test_a_reader_gets_text_and_attribute_back(self, text):
        root = ElementTree.fromstring(f'<svg><title a="{xml(text)}">{xml(text)}</title></svg>')
        assert (root[0].text or "", root[0].attrib["a"]) == (text, text)
        assert len(root) == 1 and len(root[0]) == 0

    @pytest.mark.parametrize("value", ["a\x00", "\x0b", "\ufffe", "\ud800", None, True, ["a"]])
    def test_what_is_no_character_of_xml_is_refused(self, value):
        with pytest.raises(UnrepresentableValue):
            xml(value)

    def test_numbers_are_themselves(self):
        assert xml(1.5) == "1.5"


@pytest.mark.judge("ansible")
def test_ansible_evaluates_nothing(tmp_path):
    """All baits and many random lines in one run of the real ansible-playbook, which writes what it read."""
    found = programs.find("ansible")
    texts = [b for b in BAITS if b.strip()]

    @given(st.lists(lines, min_size=20, max_size=20))
    @settings(max_examples=5, deadline=None, database=None)
    def collect(more):
        texts.extend(more)

    collect()
    (tmp_path / "group_vars").mkdir()
    (tmp_path / "hosts").write_text("localhost ansible_connection=local\n")
    (tmp_path / "group_vars/all.yml").write_text("---\nwords:\n" + "".join(f"  - {unsafe(text)}\n" for text in texts), encoding="utf-8")
    (tmp_path / "lines.j2").write_text("{% for word in words %}\n{{ word }}\n{% endfor %}\n")
    tasks = [
        {"ansible.builtin.copy": {"content": "{{ words | to_json }}", "dest": str(tmp_path / "read.json"), "mode": "0600"}},
        {"ansible.builtin.template": {"src": "lines.j2", "dest": str(tmp_path / "lines"), "mode": "0600"}},
    ]
    (tmp_path / "site.yml").write_text(json.dumps([{"hosts": "all", "gather_facts": False, "tasks": tasks}]))
    environment = {"PATH": f"{found.path}:/usr/bin:/bin", "HOME": str(tmp_path), "LANG": "C.UTF-8", "ANSIBLE_LOCAL_TEMP": str(tmp_path / "tmp")}
    done = subprocess.run([found.path / "ansible-playbook", "-i", "hosts", "site.yml"], cwd=tmp_path, env=environment, capture_output=True, text=True, timeout=300)
    assert done.returncode == 0, done.stdout + done.stderr
    assert json.loads((tmp_path / "read.json").read_text(encoding="utf-8")) == texts
    assert (tmp_path / "lines").read_text(encoding="utf-8").split("\n")[:-1] == texts
    assert not (tmp_path / "pwned").exists()


@pytest.mark.judge("terraform")
def test_terraform_evaluates_nothing_and_tags_what_a_tag_can_have(tmp_path):
    """The root's own variable and its own expression, asked with many values in one run of ``terraform console``."""
    root = programs.find("terraform").path
    locals_tf = next(text for path, text in tree(run(_aws("x"), "x.yaml", "lab")).items() if path.endswith("/locals.tf"))
    expression = next(line for line in locals_tf.splitlines() if line.strip().startswith("purpose ")).partition("=")[2].strip()
    texts = [told(text)[0] for text in BAITS if told(text)[0]]
    (tmp_path / "main.tf").write_text(f'variable "purposes" {{\n  type = list(string)\n}}\nlocals {{\n  tags = [for p in var.purposes : {expression.replace("var.purpose", "p")}]\n}}\n')
    (tmp_path / "terraform.tfvars.json").write_text(json.dumps({"purposes": texts}))
    done = subprocess.run([root, "console"], cwd=tmp_path, input="base64encode(jsonencode([var.purposes, local.tags]))\n", capture_output=True, text=True, timeout=60)
    assert done.returncode == 0, done.stderr
    read, tags = json.loads(b64decode(done.stdout))
    assert read == texts
    assert all(set(tag) <= set(text) | {" "} and len(tag) <= 256 for tag, text in zip(tags, texts, strict=True))
    assert any("Zürich 日本" in tag for tag in tags)
    assert not any(set(tag) & set("${}%\"'\\`<>&|*;#") for tag in tags)


def _aws(description):
    text = (Path(__file__).parents[2] / "blueprints/aws-p5.yaml").read_text(encoding="utf-8")
    return text.replace("name: aws-p5\n", f"name: aws-p5\ndescription: {json.dumps(description)}\n")


@given(lines)
@settings(unhurried, max_examples=20)
def test_the_variables_of_terraform_hold_the_words(text):
    state = run(_aws(text), "x.yaml", "lab")
    assert json.loads(tree(state)["terraform/ohio/terraform.tfvars.json"])["purpose"] == state.blueprint.description
