"""One small module a source: its text or values → a Wiring."""
