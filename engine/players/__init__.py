"""Anything that can sit at the board: Acepoint, its peers in processes of their own, baselines."""
