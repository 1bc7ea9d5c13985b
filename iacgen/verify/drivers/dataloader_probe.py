"""Let torch's DataLoader take the settings of a job, then say what it has against them. Runs in the interpreter that has torch; stands alone.

    python dataloader_probe.py JOB

JOB is a JSON object with ``batch``, ``workers`` and ``prefetch`` as text, as they stand in the environment, and ``cpus``, the processors of
a rank or null. Prints one line: the word PROBE and a JSON object with ``complaints``, ``threads``, those of torch's own work, and ``here``, the
processors of this machine, of which torch uses no more.

DataLoader looks at the processors that this process may use; here it is told those of a rank. Two batches are read through two workers
at most, since this machine has not the processors of a node: what the settings are is what they are taken for.
"""

import json
import os
import sys
import warnings
from unittest import mock

import torch
from torch.utils.data import DataLoader, Dataset


class Numbers(Dataset):
    """Some samples of one number."""

    def __init__(self, length):
        self.length = length

    def __len__(self):
        return self.length

    def __getitem__(self, index):
        return torch.tensor(index)


def loader(job, length, workers):
    """The loader that a training script makes of the settings; pinning wants a GPU."""
    return DataLoader(
        Numbers(length),
        batch_size=int(job["batch"]),
        num_workers=workers,
        prefetch_factor=int(job["prefetch"]),
        persistent_workers=True,
        drop_last=True,
    )


def main(job):
    complaints = []
    with warnings.catch_warnings(record=True) as said:
        warnings.simplefilter("always")
        cpus = set(range(job["cpus"])) if job["cpus"] else os.sched_getaffinity(0)
        try:
            with mock.patch.object(os, "sched_getaffinity", lambda pid: cpus):
                made = loader(job, 4 * int(job["batch"]), int(job["workers"]))
            if (made.batch_size, made.num_workers, made.prefetch_factor) != tuple(int(job[key]) for key in ("batch", "workers", "prefetch")):
                complaints.append(f"it takes {made.batch_size}, {made.num_workers} and {made.prefetch_factor} instead")
        except (ValueError, TypeError, AssertionError) as refusal:
            complaints.append(f"{type(refusal).__name__}: {refusal}")
    complaints += [str(warning.message) for warning in said]
    if not complaints:
        batches = [batch.tolist() for batch in loader(job, 2 * int(job["batch"]), min(2, int(job["workers"])))]
        if sorted(sum(batches, [])) != list(range(2 * int(job["batch"]))) or len(batches) != 2:
            complaints.append(f"it reads {len(batches)} batches where two are there")
    print("PROBE", json.dumps({"complaints": complaints, "threads": torch.get_num_threads(), "here": len(os.sched_getaffinity(0))}), flush=True)


if __name__ == "__main__":
    main(json.loads(sys.argv[1]))
