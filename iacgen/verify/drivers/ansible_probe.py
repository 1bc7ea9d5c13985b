"""Read an Ansible tree the way Ansible does, then say what is in it. Runs in the interpreter that has Ansible; stands alone.

    python ansible_probe.py FOLDER

Prints one line: the word PROBE and a JSON object with ``documents`` (path → what PyYAML, a YAML 1.1 reader, makes of the file),
``broken`` (path → why it cannot be read) and ``names`` (path → ``variables`` that its Jinja takes from outside, ``filters`` and
``tests`` that neither Jinja nor Ansible has).
"""

import json
import pathlib
import re
import sys

import jinja2  # Ansible's own, which is not the one that iacgen writes with
import jinja2.meta
import yaml
from ansible.plugins.loader import filter_loader, init_plugin_loader, test_loader

JINJA = {"filters": set(jinja2.defaults.DEFAULT_FILTERS), "tests": set(jinja2.defaults.DEFAULT_TESTS)}

CONDITIONS = ("when", "that", "changed_when", "failed_when", "until")


class Loader(yaml.SafeLoader):
    """Knows the two tags of Ansible."""


class Literal(str):
    """Text that Ansible does not evaluate."""


for tag in ("!unsafe", "!vault"):
    Loader.add_constructor(tag, lambda loader, node: Literal(loader.construct_scalar(node)))


def expressions(value, key=""):
    """Every piece of Jinja in a document: strings that hold some, and conditions, which are Jinja without braces."""
    if isinstance(value, dict):
        for name, item in value.items():
            yield from expressions(item, name)
    elif isinstance(value, list):
        for item in value:
            yield from expressions(item, key)
    elif isinstance(value, str) and not isinstance(value, Literal):
        if re.search(r"\{[{%#]", value):
            yield value
        elif key in CONDITIONS:
            yield "{{ " + value + " }}"


def names(environment, texts):
    """What the Jinja in ``texts`` needs from outside."""
    found = {"variables": set(), "filters": set(), "tests": set()}
    plugins = (("filters", jinja2.nodes.Filter, environment.filters, filter_loader), ("tests", jinja2.nodes.Test, environment.tests, test_loader))
    for text in texts:
        tree = environment.parse(text)
        for kind, node, own, loader in plugins:
            missing = {n.name for n in tree.find_all(node)} - JINJA[kind]
            found[kind] |= {name for name in missing if not has(loader, name)}
            own.update(dict.fromkeys(missing, str))  # the search for variables stops at a name without a function
        found["variables"] |= jinja2.meta.find_undeclared_variables(tree)
    return {kind: sorted(found[kind]) for kind in found}


def has(loader, name):
    try:
        return loader.get(name) is not None
    except Exception:
        return False


def main(folder):
    init_plugin_loader()
    environment = jinja2.Environment(extensions=["jinja2.ext.do", "jinja2.ext.loopcontrols"])
    root, out = pathlib.Path(folder), {"documents": {}, "broken": {}, "names": {}}
    for path in sorted(p for p in root.rglob("*") if p.suffix in (".yml", ".j2") and ".ansible" not in p.parts):
        name = path.relative_to(root).as_posix()
        try:
            text = path.read_text(encoding="utf-8")
            if path.suffix == ".j2":
                texts = [text]
            else:
                out["documents"][name] = yaml.load(text, Loader)
                # What an argument specification describes in words is no Jinja.
                texts = [] if "/meta/" in name else list(expressions(out["documents"][name]))
            out["names"][name] = names(environment, texts)
        except (yaml.YAMLError, jinja2.TemplateError, UnicodeDecodeError) as error:
            out["broken"][name] = " ".join(str(error).split())
    print("PROBE", json.dumps(out), flush=True)


if __name__ == "__main__":
    main(sys.argv[1])
