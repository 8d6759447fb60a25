"""What a position is worth with the doubling cube: match equity, cubeful equity, decisions."""
