"""What a position is worth without the cube."""
