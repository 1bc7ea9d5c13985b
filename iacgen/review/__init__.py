"""Two runs of the pipeline held against each other: what changes, what that breaks, what it costs. Values only; nothing is written."""
