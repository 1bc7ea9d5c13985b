"""Fabrics: one module a topology, sized by counts; ports and cables on demand."""
