"""The bearoff databases against published and exact facts."""

import csv
import json
from pathlib import Path

import numpy as np
import pytest

from engine.evaluation.bearoff import probabilities, races, tables
from engine.evaluation.bearoff_build import solve
from engine.evaluation.bearoff_store import Database
from engine.kernels.bearoff_build import list_plays, place_positions
from engine.kernels.movegen import pack

GOLDEN = Path(__file__).parents[1] / "golden"
FACTS = json.loads((GOLDEN / "bearoff_facts.json").read_text())


def rows(name):
    with (GOLDEN / name).open() as file:
        return list(csv.DictReader(file))


def boards_of(sides):
    """int8[N, 2, 32] of the checkers on points 1, 2, ... of both sides of N positions."""
    boards = np.zeros((len(sides), 2, 26), np.int8)
    for board, position in zip(boards, sides, strict=True):
        for row, counts in zip(board, position, strict=True):
            row[1 : 1 + len(counts)] = counts
            row[0] = 15 - sum(counts)
    return pack(boards)


def checkers_on(points):
    """The checkers on points 1 to 6 when there is one on each point that is named: `14`."""
    return [points.count(str(point)) for point in range(1, 7)]


def race_of(bearoff, counts):
    mine, _ = races(bearoff, boards_of([(counts, [1])])[0])
    return mine


def values_of(bearoff, mine, theirs):
    """The four numbers of a pair of the two-sided database."""
    positions = place_positions(bearoff.pair_positions, bearoff.pair_points)[:, 1:].tolist()
    pairs = bearoff.pairs.reshape(len(positions), len(positions), 4)
    return pairs[positions.index(list(mine)), positions.index(list(theirs))]


def test_mean_rolls_and_effective_pip_counts(bearoff):
    means = rows("bearoff_onesided_means.csv")
    assert len(means) == 497

    for row in means:
        race = race_of(bearoff, [int(row[f"p{point}"]) for point in range(1, 7)])
        assert race.mean == pytest.approx(float(row["mean_rolls"]), abs=1e-8)
        assert race.epc == pytest.approx(float(row["epc"]), abs=1e-6)


@pytest.mark.parametrize("fact", FACTS["mean_rolls"], ids=lambda fact: str(fact["points_1_to_6"]))
def test_published_effective_pip_counts(bearoff, fact):
    race = race_of(bearoff, fact["points_1_to_6"])

    assert race.mean == pytest.approx(fact["mean_rolls"], abs=6e-7)
    assert race.epc == pytest.approx(fact["epc"], abs=6e-5)
    assert race.wastage == race.epc - race.pips
    assert race.pips == sum(n * point for point, n in enumerate(fact["points_1_to_6"], 1))


def test_chances_of_one_roll(bearoff):
    for points, ways in (
        FACTS["single_checker_off_n36"] | FACTS["both_checkers_off_in_one_roll_n36"]
    ).items():
        race = race_of(bearoff, checkers_on(points))
        assert race.rolls[1] * 36 == pytest.approx(ways, abs=1e-9), points
        assert race.rolls.sum() == pytest.approx(1)


def test_the_variance_is_that_of_the_rolls(bearoff):
    assert race_of(bearoff, checkers_on("6")).variance == pytest.approx(0.75 * 0.25)


def test_how_often_the_best_play_bears_nothing_off_though_it_could(bearoff):
    """Every best play of a roll that is no double, fifteen checkers or fewer."""
    offsets, results = list_plays(bearoff.positions, 6)
    starts = offsets[21:-1]  # number 0 has no play
    means = bearoff.tails.reshape(-1, 2, bearoff.width)[:, 0].sum(axis=1)[results]
    checkers = place_positions(bearoff.positions, 6).sum(axis=1, dtype=np.int8)
    before = np.repeat(np.repeat(checkers[1:], 21), np.diff(offsets[21:]))
    bears_off = checkers[results] < before
    least = np.repeat(np.minimum.reduceat(means, starts), np.diff(offsets[21:]))
    best_bears_off = np.logical_or.reduceat(bears_off & (means <= least + 1e-11), starts)
    could = np.logical_or.reduceat(bears_off, starts)
    is_double = np.tile([high == low for high in range(6) for low in range(high + 1)], 54263)
    found = np.flatnonzero(could & ~best_bears_off & ~is_double)

    assert len(found) == FACTS["no_ripoff"]["count_nondouble_position_rolls"]
    two = [each for each in found if checkers[1 + each // 21] == 2]
    six_and_four = place_positions(bearoff.positions, 6)[1:, 1:].tolist()[two[0] // 21]
    assert len(two) == 1
    assert six_and_four == checkers_on("46")
    assert two[0] % 21 == 10 + 1  # 52, after the ten rolls up to 44


def test_every_cube_category_of_two_checkers_a_side(bearoff):
    categories = rows("koca_two_checker_cube.csv")
    assert len(categories) == 441

    columns = ("cubeless_win", "nd_centred", "nd_owned", "double_take")
    for row in categories:
        chance, centre, mine, theirs = values_of(
            bearoff, checkers_on(row["roller"]), checkers_on(row["opponent"])
        )
        found = [round(value, 6) for value in (chance, centre, mine, 2 * theirs)]
        assert found == [float(row[column]) for column in columns], row


@pytest.fixture(scope="module")
def aces():
    """The two-sided database of up to fifteen checkers on the ace point: position n has n."""
    database = Database("two-sided", 1, 15)
    return solve(database).reshape(16, 16, 4)


def test_n_rolls_against_n_rolls(aces):
    facts = FACTS["n_roll_vs_n_roll"]

    for rolls, chance in facts["values"].items():
        assert aces[2 * int(rolls), 2 * int(rolls), 0] == pytest.approx(chance, abs=6e-7)
    assert aces[15, 15, 0] == pytest.approx(facts["fifteen_v_fifteen"], abs=6e-7)


def test_the_cube_in_n_rolls_against_n_rolls(aces):
    facts = FACTS["n_roll_cube"]["values"]

    assert aces[8, 6, 0] == pytest.approx(facts["8aces_v_6aces"]["cubeless"], abs=6e-7)
    assert aces[6, 6, 1] == pytest.approx(facts["3"]["nd"], abs=6e-6)
    assert 2 * aces[6, 6, 3] == pytest.approx(facts["3"]["dt"], abs=6e-6)
    for name, n in (("4", 8), ("5", 10), ("15aces_v_15aces", 15)):
        _, centre, mine, theirs = aces[n, n]
        wanted = [facts[name][key] for key in ("nd_c", "nd_o", "dt")]
        assert [centre, mine, 2 * theirs] == pytest.approx(wanted, abs=6e-6)


def test_exact_ties(bearoff):
    _, last_roll, beaver, *_ = FACTS["exact_ties"][0], *FACTS["exact_ties"]

    chance, *_, theirs = values_of(bearoff, checkers_on("6"), checkers_on("6"))
    assert chance == last_roll["cubeless_win"]
    assert 2 * theirs == last_roll["double_take"]
    chance, *_, theirs = values_of(bearoff, checkers_on("33"), checkers_on("6"))
    assert 2 * theirs == pytest.approx(beaver["value"]["roller_dt"], abs=6e-5)
    assert 1 - chance == pytest.approx(beaver["value"]["beaverer_cpw"], abs=6e-6)
    assert 2 * values_of(bearoff, checkers_on("6"), checkers_on("1"))[3] == 1


def test_one_sided_chances_are_near_the_exact_ones(bearoff):
    """What racing without looking at the other costs."""
    numbers = np.random.default_rng(4).integers(1, bearoff.pair_positions, (20_000, 2))
    positions = place_positions(bearoff.pair_positions, 6)[:, 1:]
    boards = boards_of(positions[numbers])
    exact, _ = probabilities(bearoff, boards)
    alone, _ = probabilities(bearoff._replace(pair_positions=0), boards)
    difference = np.abs(exact[:, 0] - alone[:, 0])

    assert difference.mean() < 1e-3
    assert difference.max() < 1.5e-2


def test_databases_of_other_sizes_say_the_same(bearoff):
    small = tables(*((each, solve(each)) for each in SMALL))
    boards = boards_of([(checkers_on("1235"), checkers_on("2245")), ([7, 1], [3, 3, 0, 0, 1])])

    for found, wanted in zip(
        probabilities(small, boards), probabilities(bearoff, boards), strict=True
    ):
        assert (found == wanted).all()
    assert not probabilities(small, boards_of([([9], [1])]))[1][0]


def test_points_outside_the_home_board_can_be_covered():
    far = tables((FAR, solve(FAR)))
    boards = boards_of([([0] * 7 + [2], [0] * 6 + [2])])

    (values,), (known,) = probabilities(far, boards)
    mine, theirs = races(far, boards[0])

    assert known
    assert (mine.pips, theirs.pips) == (16, 14)
    assert mine.mean > theirs.mean > 2
    assert 0 < values[0] < 0.7


SMALL = Database("one-sided", 6, 8), Database("two-sided", 5, 4)
FAR = Database("one-sided", 8, 2)


@pytest.mark.parametrize("database", SMALL, ids=str)
def test_the_number_of_cores_does_not_change_a_database(monkeypatch, database):
    found = []
    for cores in (1, 2, 7):
        monkeypatch.setattr("os.cpu_count", lambda cores=cores: cores)
        found.append(solve(database).tobytes())

    assert found[0] == found[1] == found[2]
