"""Every situation of cube and score, and every set of five probabilities."""

import numpy as np
from hypothesis import strategies as st

from engine.cube.context import CubeContext, Owner
from engine.cube.met import TABLES, load_table

OWNERS = st.sampled_from(list(Owner))
CUBES = st.integers(0, 15).map(lambda exponent: 1 << exponent)


def money() -> st.SearchStrategy[CubeContext]:
    flag = st.booleans()
    return st.builds(CubeContext, cube=CUBES, owner=OWNERS, in_play=flag, jacoby=flag, beavers=flag)


def matches(cubes: st.SearchStrategy[int] = CUBES) -> st.SearchStrategy[CubeContext]:
    points = st.integers(1, 64)
    return st.builds(
        CubeContext,
        away=st.tuples(points, points),
        cube=cubes,
        owner=OWNERS,
        in_play=st.booleans(),
        table=st.sampled_from([None, *map(load_table, TABLES)]),
    )


def contexts() -> st.SearchStrategy[CubeContext]:
    return st.one_of(money(), matches())


@st.composite
def probabilities(draw: st.DrawFn) -> np.ndarray:
    """float32[5], cumulative; with the ends 0 and 1, and the parts as large as their wholes."""
    share = st.one_of(st.floats(0, 1), st.sampled_from([0.0, 1.0, 1e-12, 1 - 1e-7]))
    win = np.float32(draw(share))
    gammon = win * np.float32(draw(share))
    lost_gammon = (1 - win) * np.float32(draw(share))
    return np.array(
        [win, gammon, gammon * draw(share), lost_gammon, lost_gammon * draw(share)], np.float32
    )


def even(gammon: float = 0.0) -> np.ndarray:
    """float32[5] of a position in which the sides are equal."""
    return np.array([0.5, gammon / 2, 0, gammon / 2, 0], np.float32)
