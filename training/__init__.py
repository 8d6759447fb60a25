"""The learner: self-play, targets, gradient steps. Imports engine; engine never imports it."""
