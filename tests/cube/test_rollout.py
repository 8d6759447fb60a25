"""Rollouts: known answers, errors, and the same trials however they are played."""

from dataclasses import replace

import numpy as np
import pytest

from engine.backgammon.dice import ROLLS, WEIGHTS
from engine.backgammon.position import Position
from engine.bot import Bot
from engine.cube.bearoff import analyse
from engine.cube.context import CubeContext, Owner
from engine.cube.rollout import Ending, Limits, Rollout, Settings, cube_starts
from engine.cube.rollout_statistics import standard_errors
from engine.errors import AcepointError, PositionError
from engine.evaluation.bearoff import probabilities, tables
from engine.evaluation.bearoff_build import solve
from engine.evaluation.bearoff_store import Database
from engine.kernels import movegen

PLAIN = Settings(reduce_variance=False, bearoff=False)
REDUCED = Settings(bearoff=False)
AHEAD = Settings(plies=1, bearoff=False)


def race(mine: dict[int, int], theirs: dict[int, int]) -> Position:
    """A position of these checkers, by point, all others borne off."""
    board = np.zeros((2, 26), np.int8)
    for row, points in zip(board, (mine, theirs), strict=True):
        for point, checkers in points.items():
            row[point] = checkers
        row[0] = 15 - row.sum()
    return Position(board)


# Checkers on 6 and 1 leave together with a 6 and with every double but 1-1: 15 throws of 36.
LAST_ROLL = race({6: 1, 1: 1}, {1: 1})
P = 15 / 36
NO_CUBE = CubeContext().without_cube()
SHORT = Settings(truncate=3, bearoff=False)


@pytest.fixture(scope="module")
def bot(small_net):
    return Bot(small_net)


@pytest.fixture(scope="module")
def released():
    return Bot()


@pytest.fixture(scope="module")
def network(random_network):
    return random_network(16, 8, scale=2.0)


def rolled(network, position, context, settings, trials, **arguments):
    """A finished rollout of a cube decision."""
    packed = movegen.pack(position.board[None])[0]
    rollout = Rollout(network, context, cube_starts(packed, context), settings, alternatives=False)
    rollout.run(Limits(trials), **arguments)
    return rollout


@pytest.mark.parametrize("settings", [PLAIN, REDUCED, AHEAD], ids=["plain", "reduced", "ahead"])
def test_the_last_roll_comes_out_exactly(network, settings):
    (summary,) = rolled(network, LAST_ROLL, NO_CUBE, settings, 36).summaries()
    assert summary.probabilities == pytest.approx([P, 0, 0, 0, 0], abs=1e-6)
    assert summary.equity == pytest.approx(2 * P - 1, abs=1e-6)


@pytest.mark.parametrize("settings", [PLAIN, REDUCED, AHEAD], ids=["plain", "reduced", "ahead"])
def test_a_double_on_the_last_roll_of_a_match_comes_out_exactly(network, settings):
    context = CubeContext(away=(4, 2))  # the opponent has no use for a cube at 2
    _, take = rolled(network, LAST_ROLL, context, settings, 36).summaries()
    two_more = CubeContext(away=(2, 2))
    at_two_all = (two_more.mwc(1) + two_more.mwc(-1)) / 2
    assert context.mwc(take.equity) == pytest.approx(P * at_two_all, abs=1e-6)


def test_equity_at_double_match_point_is_twice_the_chance_less_one(network):
    rollout = rolled(network, Position.start(), CubeContext(away=(1, 1)), REDUCED, 36)
    (samples,) = rollout.samples
    assert samples[:, 0] == pytest.approx(2 * samples[:, 1] - 1, abs=1e-6)


POSITIONS = {
    "a race": race({6: 3, 5: 3, 4: 2}, {6: 3, 3: 3, 2: 2}),
    "a short race": race({3: 2, 2: 2}, {4: 2, 1: 1}),
    "contact": race({20: 2, 6: 3, 4: 2}, {6: 2, 3: 2, 2: 2}),
}


@pytest.mark.parametrize(
    "context", [CubeContext(), CubeContext(away=(3, 5))], ids=["money", "match"]
)
@pytest.mark.parametrize("position", POSITIONS.values(), ids=POSITIONS)
def test_plain_and_reduced_means_agree_within_their_errors(bot, network, position, context):
    reduced = rolled(network, position, context, REDUCED, 720).summaries()
    plain = rolled(network, position, context, PLAIN, 2880).summaries()
    for one, other in zip(reduced, plain, strict=True):
        error = np.hypot(one.error, other.error)
        assert abs(one.equity - other.equity) < 4 * error
        errors = np.hypot(one.probability_errors, other.probability_errors)
        assert (abs(one.probabilities - other.probabilities) < 4 * errors + 1e-9).all()


@pytest.mark.parametrize("position", POSITIONS.values(), ids=POSITIONS)
def test_looking_ahead_comes_near_to_what_comes_out_without(released, position):
    """Before and after a double is taken; the cube is turned by lookahead, too. Without databases
    the net plays short races badly enough for a difference of 0.08.
    """
    ahead = rolled(released._static.network, position, CubeContext(), AHEAD, 144).summaries()
    static = rolled(released._static.network, position, CubeContext(), REDUCED, 144).summaries()
    for one, other in zip(ahead, static, strict=True):
        assert one.equity == pytest.approx(other.equity, abs=0.1 + 4 * (one.error + other.error))


def test_the_luck_taken_out_makes_errors_smaller(released):
    for position in POSITIONS.values():
        reduced = rolled(released._static.network, position, NO_CUBE, REDUCED, 1296).summaries()
        plain = rolled(released._static.network, position, NO_CUBE, PLAIN, 1296).summaries()
        # In a race as good as lost the few wins are the error, and there is hardly any.
        assert reduced[0].error < max(0.5 * plain[0].error, 0.003)


def opening(bot, settings=SHORT, **arguments):
    return bot.rollout(Position.start(), (3, 1), settings=settings, **arguments)


def test_the_trials_are_the_same_for_any_number_of_threads(bot):
    one, many = opening(bot), opening(bot)
    assert one.run(Limits(50), workers=1) == many.run(Limits(50), workers=5) == Ending.TRIALS
    assert all(map(np.array_equal, one.samples, many.samples))


def test_a_rollout_goes_on_as_if_it_had_never_stopped(bot):
    at_once, by_stages = opening(bot), opening(bot)
    at_once.run(Limits(500))
    for trials in (7, 150, 288, 300, 500):
        by_stages.run(Limits(trials))
    assert all(map(np.array_equal, at_once.samples, by_stages.samples))


def test_an_interrupt_leaves_whole_trials_and_the_rollout_goes_on(bot, monkeypatch):
    interrupted, whole = opening(bot), opening(bot)
    monkeypatch.setattr("engine.cube.rollout.WATCHED", 0)

    def press_ctrl_c() -> None:
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        interrupted.run(Limits(144), workers=2, watcher=press_ctrl_c)
    counts = {len(samples) for samples in interrupted.samples}
    assert len(counts) == 1 and 0 < counts.pop() <= 144
    interrupted.run(Limits(144))
    whole.run(Limits(144))
    assert all(map(np.array_equal, whole.samples, interrupted.samples))


def test_a_play_that_is_clearly_worst_stops_early(released):
    plays = released.rollout(Position.start(), (2, 1), candidates=15)
    best, worst = plays.starts[0], plays.starts[-1]
    network = released._static.network
    rollout = Rollout(network, CubeContext(), [worst, best, best], SHORT, alternatives=True)
    assert rollout.run(Limits(432, clear=6)) == Ending.TRIALS
    dropped, *others = rollout.summaries()
    assert [each.trials for each in others] == [432, 432]
    assert dropped.trials < 432 and dropped.chance < 1e-6
    assert dropped.difference < -6 * dropped.difference_error


def test_a_rollout_ends_when_one_play_is_clearly_best(released):
    rollout = released.rollout(Position.start(), (3, 1), settings=SHORT, candidates=2)
    assert rollout.run(Limits(1296)) == Ending.CLEAR
    best, second = rollout.summaries()
    assert best.trials == second.trials == rollout.trials < 1296
    assert best.chance > 0.999 and best.difference == 0 > second.difference


def test_the_cube_decision_has_both_sides_of_it(released):
    context = CubeContext(owner=Owner.OPPONENT)
    assert len(released.rollout(Position.start(), match=context).starts) == 1
    rollout = released.rollout(Position.start(), settings=SHORT)
    rollout.run(Limits(36))
    no_double, take = rollout.summaries()
    assert 0 < no_double.equity < 0.2 and take.equity < 0


def test_a_rollout_stops_at_a_standard_error(bot):
    rollout = opening(bot)
    assert rollout.run(Limits(100_000, until_se=0.02, clear=0)) == Ending.ERROR
    errors = [summary.error for summary in rollout.summaries()]
    assert max(errors) <= 0.02 and rollout.trials < 100_000


def test_a_game_that_is_over_is_refused(bot):
    with pytest.raises(PositionError, match="the game is over"):
        bot.rollout(race({}, {1: 1}))


@pytest.mark.parametrize(
    ("make", "said"),
    [
        (lambda: Limits(0), "trials 0"),
        (lambda: Limits(until_se=0.0), "standard error 0.0"),
        (lambda: Limits(clear=-1.0), "clear -1.0"),
        (lambda: Settings(truncate=0), "truncate 0"),
        (lambda: Settings(plies=-1), "plies -1"),
        (lambda: Settings(seed=-1), "seed -1"),
    ],
)
def test_settings_out_of_range_are_refused(make, said):
    with pytest.raises(AcepointError, match=said):
        make()


def test_the_error_is_that_within_the_first_rolls():
    generator = np.random.default_rng(0)
    first_rolls = np.tile(generator.normal(size=36), 50)
    noise = generator.normal(size=1800)
    (error,) = standard_errors((100 * first_rolls + noise)[:, None])
    assert error == pytest.approx(1 / np.sqrt(1800), rel=0.1)


def test_one_trial_has_no_error():
    assert np.isnan(standard_errors(np.ones((1, 6)))).all()


def own_play_chances(network) -> dict[bytes, float]:
    """The winning chance of the player on roll, when both play as the net does, in each bearoff
    with up to two checkers a side: from the short ones to the long ones."""
    sides = [{a: 1} for a in range(1, 7)]
    sides += [{a: 1, b: 1} if a != b else {a: 2} for a in range(1, 7) for b in range(1, a + 1)]
    positions = [race(mine, theirs) for mine in sides for theirs in sides]
    packed = movegen.pack(np.array([position.board for position in positions]))
    results = [
        network.choose(packed, np.tile(np.array(dice, np.int8), (len(packed), 1)))[0]
        for dice in ROLLS
    ]
    chances: dict[bytes, float] = {}
    for row in np.argsort([sum(position.pips) for position in positions], kind="stable"):
        after = [chances.get(each[row].tobytes(), 0.0) for each in results]
        chances[packed[row].tobytes()] = 1 - float(np.dot(WEIGHTS, after)) / 36
    return chances


@pytest.mark.parametrize("settings", [PLAIN, REDUCED], ids=["plain", "reduced"])
def test_intervals_hold_the_exact_value_as_often_as_they_say(network, settings):
    chances = own_play_chances(network)
    inside = 0
    for seed, board in enumerate(list(chances)[::7]):
        packed = np.frombuffer(board, np.int8).reshape(2, 32)
        start = cube_starts(packed, NO_CUBE)
        played = replace(settings, seed=seed)
        rollout = Rollout(network, NO_CUBE, start, played, alternatives=False)
        rollout.run(Limits(144), workers=1)
        (summary,) = rollout.summaries()
        off = abs(summary.probabilities[0] - chances[board])
        inside += off <= 1.96 * summary.probability_errors[0] + 1e-6
    assert inside >= 0.9 * len(list(chances)[::7])


def test_a_trial_ends_with_the_exact_value_of_a_database(network):
    database = Database("two-sided", 3, 3)
    bearoff = tables(two_sided=(database, solve(database)))
    network = network.with_bearoff(bearoff)
    position = race({3: 2, 1: 1}, {2: 1, 1: 2})
    packed = movegen.pack(position.board[None])[0]
    for context in (CubeContext(), CubeContext(owner=Owner.ME)):
        decision = analyse(bearoff, packed[None], context).decision
        no_double, take = rolled(network, position, context, Settings(), 2).summaries()
        assert no_double.equity == pytest.approx(decision.no_double, abs=1e-9)
        assert take.equity == pytest.approx(decision.double_take, abs=1e-9)
        assert no_double.error == take.error == 0


@pytest.mark.parametrize(
    ("settings", "trials"), [(PLAIN, 360), (REDUCED, 72)], ids=["plain", "reduced"]
)
def test_bearoffs_played_out_by_the_database_come_to_its_values(network, bearoff, settings, trials):
    """200 positions: their intervals should hold the exact value of 190, give or take 3.1."""
    generator = np.random.default_rng(7)
    boards = np.zeros((200, 2, 26), np.int8)
    for row in boards.reshape(-1, 26):
        np.add.at(row, generator.integers(1, 7, generator.integers(3, 7)), 1)
        row[0] = 15 - row.sum()
    packed = movegen.pack(boards)
    exact, known = probabilities(bearoff, packed)
    assert known.all()
    inside = 0
    for seed, board in enumerate(packed):
        played = replace(settings, seed=seed)
        start = cube_starts(board, NO_CUBE)
        rollout = Rollout(network.with_bearoff(bearoff), NO_CUBE, start, played, False)
        rollout.run(Limits(trials), workers=1)
        (summary,) = rollout.summaries()
        off = abs(summary.probabilities[0] - exact[seed, 0])
        inside += off <= 1.96 * summary.probability_errors[0] + 1e-6
    assert inside >= 180
