"""Match equity tables: the published ones, those of a user, what lies beyond them."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from engine.backgammon.match import MAX_LENGTH
from engine.cube.met import (
    DEFAULT_TABLE,
    EFFICIENCY,
    GAMMON_RATE,
    TABLES,
    compute_table,
    load_table,
)
from engine.errors import AcepointError, FileFormatError, NotationError

# (points needed, by the opponent): chance up to the Crawford game; points of the trailer: after it.
PUBLISHED = {
    "kazaross-xg2": ({(2, 1): 0.32264, (3, 5): 0.64795, (25, 25): 0.5}, {2: 0.48803, 25: 0.00123}),
    "rockwell-kazaross": ({(1, 2): 0.676888, (5, 3): 0.352287}, {2: 0.487677, 3: 0.323112}),
    "g11": ({(1, 2): 0.68145, (3, 5): 0.65026}, {2: 0.48811, 24: 0.0016433294481}),
    "jacobs": ({(1, 2): 0.69, (3, 5): 0.654}, {2: 0.489, 3: 0.312}),
    "mec26": ({(1, 2): 0.685, (3, 5): 0.646}, {2: 0.484988779204, 4: 0.302313595788}),
    "ortega": ({(1, 2): 0.7, (3, 5): 0.658}, {2: 0.49, 3: 0.3}),
    "snowie": ({(1, 2): 0.685, (3, 5): 0.645}, {2: 0.485, 3: 0.315}),
    "woolsey": ({(1, 2): 0.7, (3, 5): 0.66}, {2: 0.485, 4: 0.296}),
}

SMALL = """\
# My table: measured in a million games
away,1,2,3
1,0.5,0.677,0.751
2,0.323,0.5,0.599
3,0.249,0.401,0.5
post,0.5,0.488,0.323
"""


def written(tmp_path, text):
    path = tmp_path / "table.csv"
    path.write_text(text)
    return str(path)


def test_kazaross_xg2_is_the_default():
    assert DEFAULT_TABLE == "kazaross-xg2"
    assert load_table() is load_table("kazaross-xg2")
    assert sorted(PUBLISHED) == sorted(TABLES)


@pytest.mark.parametrize("name", TABLES)
def test_the_published_tables(name):
    table = load_table(name)
    pre, post = PUBLISHED[name]

    assert {key: table.pre[key] for key in pre} == pytest.approx(pre, abs=1e-12)
    assert {away: table.post[away] for away in post} == pytest.approx(post, abs=1e-12)
    assert table.source


@pytest.mark.parametrize("table", [*map(load_table, TABLES), compute_table()], ids=lambda t: t.name)
def test_a_table_is_symmetric_and_monotone_up_to_the_longest_match(table):
    pre, post = table.pre[1:, 1:], table.post[1:]

    assert pre.shape == (MAX_LENGTH, MAX_LENGTH)
    assert np.allclose(pre + pre.T, 1, atol=1e-12, rtol=0)
    assert ((pre > 0) & (pre < 1)).all()
    assert ((post > 0) & (post <= 0.5)).all()
    assert (np.diff(pre, axis=0) <= 0).all()
    assert (np.diff(post) <= 0).all()


@pytest.mark.parametrize("name", TABLES)
def test_beyond_its_size_a_table_goes_on_without_a_jump(name):
    """The first computed step across an even score is like the last given one."""
    table = load_table(name)
    size = table.size
    given = table.pre[size - 2, size] - table.pre[size - 1, size]
    computed = table.pre[size, size] - table.pre[size + 1, size]

    assert computed == pytest.approx(given, rel=0.25)


def test_pre_and_post_crawford_differ_by_the_cube_of_the_trailer():
    """Needing 2 against 1: 0.32264 in the Crawford game, 0.48803 after it (Kazaross-XG2)."""
    table = load_table()

    assert table.pre[2, 1] == pytest.approx(0.32264)
    assert table.post[2] == pytest.approx(0.48803)
    assert (table.post[2:] > table.pre[2:, 1]).all()


def test_a_computed_table_is_close_to_the_one_rolled_out():
    """Within 0.01 everywhere, 0.0016 in the root mean square: measured with these defaults."""
    computed, rolled_out = compute_table(), load_table()
    errors = computed.pre[1:26, 1:26] - rolled_out.pre[1:26, 1:26]

    assert np.abs(errors).max() < 0.01
    assert np.sqrt((errors**2).mean()) < 0.002
    assert np.abs(computed.post[1:26] - rolled_out.post[1:26]).max() < 0.008


def test_a_computed_table_depends_on_gammons_and_cube():
    """More gammons help the trailer in the Crawford game, a better cube the trailer before it."""
    gammons, none = compute_table(gammon_rate=0.4), compute_table(gammon_rate=0.0)
    live, dead = compute_table(efficiency=1.0), compute_table(efficiency=0.0)

    assert gammons.pre[3, 1] > none.pre[3, 1]
    assert none.pre[2, 1] == pytest.approx(0.25, abs=0.02)  # two single games must be won
    assert live.pre[5, 3] > compute_table().pre[5, 3] > dead.pre[5, 3]


def test_free_drops_make_an_even_trail_worth_less():
    """An even number of points away, the leader passes the first double when he is behind."""
    post = compute_table().post

    assert post[2] < 0.5
    assert post[4] / post[3] < 0.98


@pytest.mark.parametrize(
    "arguments",
    [(-0.1, 0.5), (1.1, 0.5), (float("nan"), 0.5), (0.2, -1.0), (0.2, 1.5), (0.2, 0.5, 65)],
)
def test_a_table_cannot_be_computed_from_impossible_numbers(arguments):
    with pytest.raises(NotationError, match="expected a number from"):
        compute_table(*arguments)


@given(st.floats(0, 1), st.floats(0, 1))
def test_every_computed_table_is_sound(gammon_rate, efficiency):
    table = compute_table(gammon_rate, efficiency)
    pre, post = table.pre[1:, 1:], table.post[1:]

    assert ((pre >= 0) & (pre <= 1)).all()
    assert (np.diff(pre, axis=0) <= 1e-12).all()
    assert (np.diff(post) <= 0).all()


def test_a_user_may_have_a_table_of_his_own(tmp_path):
    table = load_table(written(tmp_path, SMALL))

    assert table.size == 3
    assert table.source == "My table: measured in a million games"
    assert table.pre[2, 3] == pytest.approx(0.599)
    assert table.post[3] == 0.323


@pytest.mark.parametrize(
    "table",
    [*map(load_table, TABLES), compute_table(GAMMON_RATE, EFFICIENCY, 9)],
    ids=lambda t: t.name,
)
def test_a_table_written_down_is_read_back_as_it_was(tmp_path, table):
    again = load_table(written(tmp_path, table.to_text()))

    size = table.size
    assert again.size == size
    assert again.source == table.source
    assert np.allclose(
        again.pre[1 : size + 1, 1 : size + 1], table.pre[1 : size + 1, 1 : size + 1], atol=1e-6
    )
    assert np.allclose(again.post[1:size], table.post[1:size], atol=1e-6)


FAULTY = {
    "not a number": ("0.677", "67.7%", "line 3: '67.7%': expected a chance"),
    "per cent": ("0.677", "67.7", "line 3: '67.7': expected a chance"),
    "nan": ("0.677", "nan", "line 3: 'nan': expected a chance"),
    "asymmetric": ("0.323", "0.4", "0.677 at 1 points against 2"),
    "not monotone": ("0.599\n3,0.249,0.401", "0.8\n3,0.249,0.2", "0.8 at 2 points against 3"),
    "a row lost": ("3,0.249,0.401,0.5\n", "", "line 3 has 3 chances: expected 2"),
    "a row too short": ("3,0.249,0.401,0.5", "3,0.249,0.401", "line 5 has 2 chances"),
    "no post": ("post,", "4,", "line 6 begins '4': expected 'post'"),
    "post not a half": ("post,0.5", "post,0.6", "expected 0.5"),
    "post rises": ("0.488,0.323", "0.323,0.488", "post: 0.488 at 3 points"),
    "post is pre": ("0.5,0.488,0.323", "0.5,0.3,0.24", "the Crawford game"),
    "no heading": ("away,1,2,3\n", "", "line 2 begins '1': expected 'away'"),
    "empty": (SMALL, "", "0 rows"),
}


@pytest.mark.parametrize("fault", FAULTY)
def test_what_is_wrong_with_a_file_is_said(tmp_path, fault):
    old, new, message = FAULTY[fault]
    path = written(tmp_path, SMALL.replace(old, new))

    with pytest.raises(FileFormatError, match=message) as caught:
        load_table(path)
    assert str(path) in str(caught.value)


def test_a_file_that_cannot_be_read_is_named(tmp_path):
    (tmp_path / "binary.csv").write_bytes(b"\xff\xfe\x00")

    with pytest.raises(NotationError, match="'nosuch': expected a file or one of kazaross-xg2"):
        load_table("nosuch")
    with pytest.raises(FileFormatError, match="binary"):
        load_table(str(tmp_path / "binary.csv"))
    with pytest.raises(FileFormatError, match="directory"):
        load_table(str(tmp_path))


@given(st.integers(0, len(SMALL) - 1), st.sampled_from("019.,-\n#px"))
def test_a_damaged_file_is_refused_or_sound(tmp_path_factory, place, character):
    path = tmp_path_factory.mktemp("met") / "table.csv"
    path.write_text(SMALL[:place] + character + SMALL[place + 1 :])
    try:
        pre = load_table(str(path)).pre[1:, 1:]
    except AcepointError as error:
        told = str(error)
        assert "\n" not in told
    else:
        assert (np.diff(pre, axis=0) <= 0).all()
