"""``python -m iacgen``."""

from iacgen.cli import main

main()
