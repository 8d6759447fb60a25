"""Acepoint, a neural-network backgammon engine: positions, plays and a bot that ranks them."""

from engine.backgammon.plays import Play, legal_plays
from engine.backgammon.position import Position, match_id, read_id
from engine.bot import Bot, Candidate
from engine.errors import AcepointError

__all__ = [
    "AcepointError",
    "Bot",
    "Candidate",
    "Play",
    "Position",
    "legal_plays",
    "match_id",
    "read_id",
]
