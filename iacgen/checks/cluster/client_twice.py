"""A pool twice among the clients of a file system.

Why: it mounts once all the same. Most often another pool was meant, and that one does not mount.

Bad::

    storage:
      scratch: {kind: lustre, clients: [gpu, login, gpu]}

Good: ``clients: [gpu, login]``.

Source: az-hop#448, a file system that the nodes do not mount because a list forgets them.
"""

from __future__ import annotations

from collections.abc import Iterator

from ...diagnostics import Related
from ..duties import lustres
from ..rule import Found, rule
from ..subject import Subject


@rule("IAC553", "client-twice", "warning")
def check(subject: Subject) -> Iterator[Found]:
    for name, store in lustres(subject.blueprint).items():
        for i, pool in enumerate(store.clients or ()):
            if pool in (store.clients or ())[:i]:
                yield Found(f"{pool} is a client of {name} already", ("storage", name, "clients", i), (Related(("storage", name, "clients", (store.clients or ()).index(pool)), "the first time"),))
