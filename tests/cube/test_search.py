"""Lookahead against an obvious twin: the definition, with all results of a roll in a list."""

from dataclasses import replace

import numpy as np
import pytest

from engine.backgammon.dice import ROLLS, WEIGHTS
from engine.backgammon.variants import BACKGAMMON
from engine.cube.context import CubeContext, Owner
from engine.cube.equity import best_equities, cube_equities, cubes_of, timing, to_equities
from engine.cube.search import FILTERS, MAX_PLIES, Search, courses_of, filter_named
from engine.errors import AcepointError
from engine.evaluation import outcome
from engine.kernels.cubeful import GAIN
from engine.kernels.lookahead import NEVER, Filter
from engine.kernels.movegen import is_over, legal_results, legal_results_all_rolls, pack

SITUATIONS = {
    "money": CubeContext(),
    "my cube": CubeContext(cube=2, owner=Owner.ME),
    "cube opposite": CubeContext(cube=4, owner=Owner.OPPONENT),
    "Jacoby and beavers": CubeContext(jacoby=True, beavers=True),
    "no cube": CubeContext().without_cube(),
    "match": CubeContext((5, 3)),
    "leader's cube": CubeContext((2, 4), 2, Owner.ME),
    "dead for one": CubeContext((2, 5), 2, Owner.OPPONENT),
    "Crawford": CubeContext((1, 4), in_play=False),
    "after Crawford": CubeContext((3, 1)),
    "free drop": CubeContext((1, 4)),
}


class Twin:
    """The definition of the module `engine.kernels.lookahead`, without haste."""

    def __init__(self, network) -> None:
        self._network = network
        self._known = {}

    def value(self, packed, *situation, **course):
        """As `_value`, but each answer is given again."""
        key = (packed.tobytes(), *situation, *course.items())
        if key not in self._known:
            self._known[key] = self._value(packed, *situation, **course)
        return self._known[key]

    def _value(self, packed, context, plies, may_turn=True, course=None):
        """(value before the cube action, probabilities) of int8[2, 32] for the player on roll.

        course: the situation in the course of the game that 0-ply expects; the plays are for it.
        """
        five = self._network.evaluate(packed[None])
        if plies == 0 or is_over(packed.ravel()):
            equities = cube_equities(five, context, timing(packed[None]))
            return value_of(best_equities(equities, context), context), five[0]
        follows = self._expected(packed, course or context, may_turn)
        children = list(self._children(packed, follows))
        value, mean = self._held(children, context, plies, follows)
        turned = turns(context) if may_turn else {}
        passed = value_of(np.ones(1), context)
        scale = 2 if context.is_money else 1
        doubled = [
            scale**number * self._held(children, after, plies, follows)[0]
            for number, after in turned.items()
        ]
        return (max(value, min(passed, *doubled)) if turned else value), mean

    def _expected(self, packed, context, may_turn):
        """The situation after the cube action that is right at 0-ply."""
        turned = turns(context) if may_turn else {}
        five = self._network.evaluate(packed[None])
        held, taken, passed, beavered = (
            float(each[0]) for each in cube_equities(five, context, timing(packed[None]))
        )
        if not turned or min(taken, beavered) > passed or min(taken, beavered) <= held + GAIN:
            return context
        return turned[2 if beavered < taken else 1]

    def _children(self, packed, context):
        """The best result of each roll at 0-ply."""
        results, offsets = legal_results_all_rolls(packed[None])
        theirs = context.flipped()
        values = self._network.evaluate(results)
        equities = best_equities(cube_equities(values, theirs, timing(results)), theirs)
        cubeless = outcome.equity(values)
        for first, last in zip(offsets[0], offsets[0, 1:], strict=False):
            order = np.lexsort((cubeless[first:last], equities[first:last]))
            yield results[first + order[0]]

    def _held(self, children, context, plies, follows):
        """The mean over the rolls when the cube stays where it is."""
        total = 0 if context.is_money else 1
        value, mean = 0.0, np.zeros(5)
        for weight, child in zip(WEIGHTS / WEIGHTS.sum(), children, strict=True):
            theirs, five = self.value(child, context.flipped(), plies - 1, course=follows.flipped())
            value += weight * (total - theirs)
            mean += weight * outcome.flip(five)
        return value, mean


def turns(context):
    """The situations before the roll after one turn of the cube, or two in a beaver."""
    if context.is_dead or not context.may_double:
        return {}
    return {
        number: replace(context, cube=context.cube << number, owner=Owner.OPPONENT)
        for number in ((1, 2) if context.beavers else (1,))
    }


def value_of(equities, context):
    (won, lost), half = cubes_of([context]).stakes[0, 0, [0, 3]], 0.5
    return float((won + lost) * half + equities[0] * (won - lost) * half)


@pytest.fixture(scope="module")
def network(random_network):
    return random_network(16, scale=2.0)


@pytest.fixture(scope="module")
def twin(network):
    return Twin(network)


@pytest.fixture(scope="module")
def searching(network):
    """searching(plies, name of the filter, threads): a search with the net of the twin."""

    def make(plies: int, moves: str = "normal", threads: int = 1) -> Search:
        return Search(network.kernel, filter_named(moves, plies), threads)

    return make


def bearing_off():
    """Both sides bear off: the last rolls of games."""
    board = np.zeros((2, 26), np.int8)
    board[0, [0, 1, 2, 3]] = 11, 2, 1, 1
    board[1, [0, 1, 3]] = 12, 2, 1
    return board


@pytest.fixture(scope="module")
def packed(played_boards):
    """int8[N, 2, 32]: positions of games, one with a checker on the bar, and one near the end."""
    boards = played_boards(BACKGAMMON, 2800)
    on_bar = boards[boards[:, 0, 25] > 0][0]
    return pack(np.stack([boards[40], boards[700], boards[2100], on_bar, bearing_off()]))


@pytest.mark.parametrize("name", SITUATIONS)
def test_one_ply_is_the_definition(name, searching, twin, packed):
    context = SITUATIONS[name]
    values, five = searching(1)._values(packed, context, 1)
    for row, position in enumerate(packed):
        value, mean = twin.value(position, context, 1)
        assert values[row] == pytest.approx(value, abs=1e-5)
        assert five[row] == pytest.approx(mean, abs=1e-5)


@pytest.mark.parametrize("name", SITUATIONS)
def test_two_plies_are_the_definition(name, searching, twin, packed):
    context = SITUATIONS[name]
    row = list(SITUATIONS).index(name) % len(packed)
    values, five = searching(2)._values(packed[row : row + 1], context, 2)
    value, mean = twin.value(packed[row], context, 2)
    assert values[0] == pytest.approx(value, abs=1e-5)
    assert five[0] == pytest.approx(mean, abs=1e-5)


def test_three_plies_are_the_definition(searching, twin):
    """Where there are few positions: one checker each, to be borne off from the tenth point."""
    board = np.zeros((1, 2, 26), np.int8)
    board[:, :, [0, 10]] = 14, 1
    packed = pack(board)
    for context in (CubeContext(), CubeContext((3, 2))):
        values, _ = searching(3)._values(packed, context, 3)
        assert values[0] == pytest.approx(twin.value(packed[0], context, 3)[0], abs=1e-5)


@pytest.mark.parametrize("name", SITUATIONS)
def test_a_cube_decision_compares_the_cubes_that_stay(name, searching, twin, packed):
    context = SITUATIONS[name]
    equities, five = searching(1).cube(packed, context)

    cubes, first = cubes_of([context]), np.zeros(1, np.int64)
    scale = 2 if context.is_money else 1
    for row, position in enumerate(packed):
        held, mean = twin.value(position, context, 1, may_turn=False)
        after = [
            replace(context, cube=context.cube << number, owner=Owner.OPPONENT) for number in (1, 2)
        ]
        taken, beavered = (twin.value(position, each, 1, may_turn=False)[0] for each in after)
        values = [held, scale * taken, scale**2 * beavered]
        (expected,) = to_equities(np.array([values]), cubes, first)
        assert equities.no_double[row] == pytest.approx(expected[0], abs=1e-5)
        assert equities.double_take[row] == pytest.approx(expected[1], abs=1e-5)
        assert equities.double_pass[row] == pytest.approx(1)
        answer = expected[2] if context.beavers else expected[1]
        assert equities.double_beaver[row] == pytest.approx(answer, abs=1e-5)
        assert five[row] == pytest.approx(mean, abs=1e-5)


@pytest.mark.parametrize("name", ["money", "match"])
def test_plays_are_ranked_by_the_ply_they_were_looked_ahead(name, searching, twin, packed):
    context = SITUATIONS[name]
    results, _ = legal_results(packed[:1], np.array([[4, 2]], np.int8))
    ranking = searching(2, "narrow").rank(results, context)

    plies = ranking.plies[ranking.order]
    assert plies[0] == 2 and plies[-1] == 0
    assert (np.diff(plies) <= 0).all()
    for depth in range(3):
        rows = ranking.order[plies == depth]
        assert (np.diff(ranking.equities[rows]) <= 1e-12).all()
    best = ranking.order[0]
    value, mean = twin.value(results[best], context.flipped(), 2)
    (expected,) = to_equities(
        np.array([[value]]), cubes_of([context.flipped()]), np.zeros(1, np.int64)
    )
    assert ranking.equities[best] == pytest.approx(-expected[0], abs=1e-5)
    assert ranking.probabilities[best] == pytest.approx(outcome.flip(mean), abs=1e-5)


@pytest.mark.parametrize("moves", FILTERS)
def test_the_choice_is_the_first_of_the_ranking(moves, searching, packed):
    search = searching(1, moves)
    dice = np.array([ROLLS[5 * row % 21] for row in range(len(packed))], np.int8)
    for context in (CubeContext(), CubeContext((2, 4), 2, Owner.ME)):
        chosen = search.choose(packed, dice, context)
        for row in range(len(packed)):
            results, _ = legal_results(packed[row : row + 1], dice[row : row + 1])
            first = search.rank(results, context).order[0]
            assert np.array_equal(chosen[row], results[first])


def test_the_full_filter_looks_at_every_play(searching, packed):
    results, _ = legal_results(packed[:1], np.array([[2, 1]], np.int8))
    assert len(results) > 5
    assert (searching(1, "full").rank(results, CubeContext()).plies == 1).all()


def test_a_filter_that_leaves_nothing_still_leaves_the_best(network, packed):
    nothing = Filter(np.array([0, -1]), np.array([-1.0, -1.0]))
    search = Search(network.kernel, nothing)
    dice = np.array([[4, 2]], np.int8)
    results, _ = legal_results(packed[:1], dice)
    ranking = search.rank(results, CubeContext())

    assert sorted(ranking.plies) == [0] * (len(results) - 1) + [2]
    assert np.array_equal(
        search.choose(packed[:1], dice, CubeContext())[0], results[ranking.order[0]]
    )


def test_what_was_asked_before_changes_no_answer(searching, packed):
    """A bearoff and then contact; known fault B121 of other engines."""
    search = searching(2)
    together = search.evaluate(packed[::-1])[::-1]
    for row in range(len(packed)):
        assert np.array_equal(search.evaluate(packed[row : row + 1])[0], together[row])


def test_any_number_of_threads_gives_the_same(searching, packed):
    many = np.concatenate([packed, packed[::-1], packed])
    contexts = [list(SITUATIONS.values())[row % len(SITUATIONS)] for row in range(len(many))]
    dice = np.array([ROLLS[8 * row % 21] for row in range(len(many))], np.int8)
    one, three = searching(1), searching(1, threads=3)

    assert np.array_equal(one.choose(many, dice, contexts), three.choose(many, dice, contexts))
    assert np.array_equal(one.evaluate(many), three.evaluate(many))
    for some, same in zip(one.cube(many, contexts)[0], three.cube(many, contexts)[0], strict=True):
        assert np.array_equal(some, same)


def test_evaluation_is_of_money_games_without_the_cube(searching, twin, packed):
    five = searching(1).evaluate(packed)
    for row, position in enumerate(packed):
        _, mean = twin.value(position, CubeContext().without_cube(), 1)
        assert five[row] == pytest.approx(mean, abs=1e-5)


def test_a_finished_game_is_worth_its_points(searching):
    board = np.zeros((2, 26), np.int8)
    board[0, 0], board[1, [5, 20]] = 15, (14, 1)
    finished = pack(np.stack([board, board[::-1]]))
    np.testing.assert_array_equal(outcome.equity(searching(2).evaluate(finished)), [3, -3])


def test_a_lone_play_is_looked_at_to_the_full_depth(searching):
    board = bearing_off()[::-1].copy()
    board[0, 1:], board[0, [0, 25]] = 0, (14, 1)
    board[1, 1:7], board[1, 0] = 2, 3
    packed = pack(board[None])
    results, _ = legal_results(packed, np.array([[6, 6]], np.int8))
    assert len(results) == 1
    assert searching(2).rank(results, CubeContext()).plies.tolist() == [2]


def test_a_course_in_a_money_game_has_three_cubes():
    """Centred, mine and the opponent's: values are points per unit of the cube."""
    courses = courses_of([CubeContext(), CubeContext(cube=64, owner=Owner.ME)], 4)
    assert np.array_equal(courses.first, [0, 3, 5])
    assert (courses.held[courses.other] != 0).all()


def test_a_dead_cube_goes_nowhere():
    courses = courses_of([CubeContext((2, 2), 2, Owner.ME), CubeContext((1, 4), in_play=False)], 3)
    assert (courses.doubled == NEVER).all()


@pytest.mark.parametrize("plies", [-1, MAX_PLIES + 1])
def test_plies_that_nobody_looks_ahead(plies):
    with pytest.raises(AcepointError, match=f"plies {plies}: expected 0 to {MAX_PLIES}"):
        filter_named("normal", plies)


def test_a_filter_that_nobody_knows():
    with pytest.raises(AcepointError, match="filter 'sieve': expected one of narrow, normal"):
        filter_named("sieve", 2)
