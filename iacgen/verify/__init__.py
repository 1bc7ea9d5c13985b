"""The judges: each module asks one real program about an output tree and turns its answer into a verdict.

Only this package runs programs. A judge works on a copy in a temporary folder and never writes into the tree.
"""
