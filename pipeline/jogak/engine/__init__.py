"""Engines run units and do nothing else: what a unit means is known to its function only."""
