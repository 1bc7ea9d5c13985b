"""FSDP: Accelerate and TorchTitan are asked what they make of their files; the words for the ranks are held against both."""
