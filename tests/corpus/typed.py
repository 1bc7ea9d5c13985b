"""Changes by a person who has read the schema: a value of the right type, in or at the edge of its range, of the names and catalog
ids that there are; now and then a step beyond that.
"""

import copy
import re

from iacgen import catalog
from iacgen.blueprint.schema import schema

SCHEMA = schema()
SECTIONS = ("sites", "nodes", "fabrics", "storage", "training")
CATALOG = {id: kind for kind in ("systems", "switches", "models") for id in catalog.ids(kind)}
QUANTITY = re.compile(r"([0-9]+)(\.[0-9]+)?([A-Za-z]+(?:/s)?)")


def opened(rule, data=None):
    """The rule behind references and choices: of several sections the one whose ``kind`` is the data's."""
    examples = rule.get("examples")
    while "type" not in rule and "const" not in rule and rule.keys() & {"$ref", "oneOf", "anyOf"}:
        if "$ref" in rule:
            rule = SCHEMA["$defs"][rule["$ref"].rpartition("/")[2]]
            continue
        choices = [opened(choice, data) for choice in rule.get("oneOf", rule.get("anyOf"))]
        kind = data.get("kind") if isinstance(data, dict) else None
        rule = next((c for c in choices if c.get("properties", {}).get("kind", {}).get("const") == kind), choices[0])
    return {**rule, "examples": examples} if examples else rule


def spots(data, rule=SCHEMA):
    """(container, key, rule, sort) of everything that the blueprint says or could say.

    Sort is "must" or "may" for a key that the rule names, "named" for an entry whose key is a name, "item" for one of a list.
    """
    rule = opened(rule, data)
    if isinstance(data, dict) and "properties" in rule:
        inside = [(key, inner, "must" if key in rule.get("required", ()) else "may") for key, inner in rule["properties"].items()]
    elif isinstance(data, dict) and rule.get("type") == "object":
        inner = next(iter(rule.get("patternProperties", {}).values()), None) or rule["additionalProperties"]
        inside = [(key, inner, "named") for key in data]
    elif isinstance(data, list) and "items" in rule:
        inside = [(i, rule["items"], "item") for i in range(len(data))]
    else:
        return
    for key, inner, sort in inside:
        if key not in ("kind", "schema"):
            yield data, key, inner, sort
        if isinstance(data, list) or key in data:
            yield from spots(data[key], inner)


def change(data, chance):
    """One change somewhere in the blueprint, in place."""
    here, key, rule, sort = chance.choice(list(spots(data)))
    there = sort == "item" or key in here
    now = here[key] if there else None
    rule = opened(rule, now)
    if chance.randrange(16) == 0:
        here[key] = beyond(now, rule, chance)
    elif there and sort != "must" and chance.randrange(5) == 0:
        del here[key]
    elif sort == "named" and isinstance(now, dict):
        here[chance.choice(["zeta", "b"])] = copy.deepcopy(now)
    elif not isinstance(now, dict):
        here[key] = within(now, rule, chance, data)


def within(now, rule, chance, data):
    """A value that the rule allows, often near the one that stands there."""
    examples = copy.deepcopy(rule.get("examples", []))
    if "const" in rule or "enum" in rule:
        return rule["const"] if "const" in rule else chance.choice(rule["enum"])
    match rule.get("type"):
        case "boolean":
            return not now
        case "integer" | "number":
            return number(now, rule, chance, examples)
        case "array":
            pools = list(data["nodes"]) if isinstance(data.get("nodes"), dict) else []
            some = [*(now or []), *(item for example in examples for item in example), *pools]
            return chance.sample(some, min(len(some), chance.randint(1, 3)))
    for section in SECTIONS:
        if isinstance(now, str) and isinstance(data.get(section), dict) and now in data[section]:
            return chance.choice(list(data[section]))
    if isinstance(now, str) and now in CATALOG:
        return chance.choice(catalog.ids(CATALOG[now]))
    if isinstance(now, str) and (quantity := QUANTITY.fullmatch(now)) and chance.randrange(3):
        return f"{number(int(quantity[1]), {'minimum': 1}, chance, [])}{quantity[3]}"
    return chance.choice(examples) if examples else now


def number(now, rule, chance, examples):
    """Near what stands there, of the examples, or at an end of the range."""
    low, high = rule.get("minimum", rule.get("exclusiveMinimum", 0)), rule.get("maximum", 100_000)
    near = [now - 1, now + 1, now * 2, now // 2, now * 3] if isinstance(now, int | float) and not isinstance(now, bool) else [1, 2, 4]
    ends = [low, low + 1, high]
    value = chance.choice(chance.choice([near, near, near, [e for e in examples if isinstance(e, int | float)] or near, ends]))
    return max(low, min(high, value))


def beyond(now, rule, chance):
    """A value that the rule just does not allow, or another type."""
    steps = [None, [], {}, "", "1", 0, -1, 1.5, True]
    if isinstance(now, str):
        steps += [now[:-1], now + "x", now.upper(), f" {now}", [now], now.replace("-", "_")] * 2
    steps += [rule[end] + step for end, step in (("minimum", -1), ("maximum", 1)) if end in rule] * 4
    return chance.choice(steps)
