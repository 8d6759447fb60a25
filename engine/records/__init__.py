"""Records of games and of decisions: files in and out, and what play was worth in them."""
