"""iacgen compiles one typed blueprint of an LLM-training cluster into every file that builds and runs it."""

__version__ = "0.1.0"
