"""What changing the way of the data to the GPUs means."""

from __future__ import annotations

from ..model import Effect
from ..rule import Rule, Table, always, edit

_AT_START = "The loader is set up when the job starts; the job that runs goes on as it is."
_GO_ON = "Put training/{name} on the nodes; it holds from the next start."
_NVME = "{kind: nvme, path: /raid/cache}"
_CACHED = (f"training.pretrain.input={{cache: {_NVME}}}",)
_STAGED = ("training.pretrain.input={stage: {source: s3://acme-corpus/v3, target: /raid/corpus}}",)
_EMPTY = "What was kept is not found there: the first pass over the data reads the store again at full rate."


def _set(key: str, value: str, reason: str = _AT_START, action: str = _GO_ON, also: tuple[str, ...] = ("training.pretrain.input={}",)) -> tuple[Rule, ...]:
    return (Rule(always, Effect.NOTHING, reason, action, edit("lab", f"training.pretrain.input.{key}={value}", also=also)),)


def _servers(kind: str) -> Table:
    also = ("nodes.cache={site: lab-room, system: generic-1u, count: 2}", f"training.pretrain.input={{cache: {{kind: {kind}, servers: cache}}}}")
    return {"servers": (Rule(always, Effect.RESTART, f"{_EMPTY} The servers' daemon starts on the new pool.", "Start it on {new} before the job's next start; stop it on {old} when no job uses it.", edit("lab", "training.pretrain.input.cache.servers=ctl", also=also)),)}


TABLES: dict[str, Table] = {
    "Input": {
        "loader": _set("loader", "tf.data", "Another loader keeps its place in the data in another way: that of the checkpoint is not understood.", "Start with the loader's state reset, so that no sample is left out or seen twice unknown."),
        "size": _set("size", "12TB", "What is reckoned with; the data set is as large as it is.", "Nothing."),
        "sample": _set("sample", "150kB", "What is reckoned with; samples are as large as they are.", "Nothing."),
        "loaded": _set("loaded", "600kB", "What is reckoned with; samples are as large as they are.", "Nothing."),
        "prepare": _set("prepare", "8ms", "What is reckoned with; the number of workers may follow from it."),
        "shards": _set("shards", "4096", "What is reckoned with; another cut of the data set gives each rank other files, so that the loader's place in it is lost."),
        "workers": _set("workers", "8"),
        "prefetch": _set("prefetch", "4"),
        "silence": _set("silence", "5s"),
        "stage": _set("stage", "{source: s3://acme-corpus/v3, target: /raid/corpus}", "Objects are copied, or no longer, before the job starts; copies that lie on the nodes stay.", "Remove old copies by hand where the room is wanted."),
        "cache": _set("cache", _NVME, f"Another place to keep read data. {_EMPTY}"),
    },
    "Stage": {
        "source": _set("stage.source", "s3://acme-corpus/v4", "Other objects are copied before the next start; the old copies stay and may be read with them.", "Remove the old copy at the target before the next start.", _STAGED),
        "target": _set("stage.target", "/raid/other", "The next start copies everything to the new folder; the old copy stays.", "Remove the old copy, or move it, before the next start.", _STAGED),
        "share": _set("stage.share", "true", "Each node copies its part of the objects instead of all, or all instead of its part; what lies there stays.", "Remove the old copies where the room is wanted.", _STAGED),
    },
    "NvmeCache": {
        "path": _set("cache.path", "/raid/other", _EMPTY, "Remove the files at {old} on every node.", _CACHED),
        "size": _set("cache.size", "8TB", "How much a node keeps from the next start.", also=_CACHED),
    },
    "RedisCache": _servers("redis"),
    "MemcachedCache": _servers("memcached"),
}
