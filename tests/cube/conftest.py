"""Kernels compile at their first use, and cores may be busy: no test here has a deadline."""

from hypothesis import settings

settings.register_profile("cube", deadline=None)
settings.load_profile("cube")
