"""Checks that every name leads somewhere. They come first, so that the other checks may follow each name."""
