"""What people and programs talk to: thin, no logic of the game."""
