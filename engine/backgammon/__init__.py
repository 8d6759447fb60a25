"""The rules of backgammon, and nothing but the rules."""
