"""Tournaments of any game between any players: shared dice, results in SQLite, ratings."""
