"""Lookahead: the value of a position n plies on, and the play that is best by it.

At n plies a position is worth the mean over the 21 rolls of what it is worth at n - 1 plies after
the best play, which is chosen at 0-ply. Both sides use the cube at every turn as that value says:

    value_n(position, cube) = max(held_n(cube), min(held_n(cube turned), pass))
    held_n(cube) = mean over the rolls of -value_{n-1}(position after the best play, cube)

and Janowski's model stands only at the leaves. What differs between cubes is only how a leaf is
valued: the tree is walked once for all that can come about. Its plays are chosen for one of them,
the cube that 0-ply expects: it turns where a double and a take are right at 0-ply.
"""

from typing import Any, NamedTuple

import numpy as np
from numba import njit

from engine.kernels import inner, kernel
from engine.kernels.choice import five_into, value_of_kept
from engine.kernels.cubeful import ACTIONS, GAIN, Cubes
from engine.kernels.forward import evaluate_into, evaluate_kept, set_position
from engine.kernels.movegen import MAX_RESULTS, ROLLS, is_over, results_into
from engine.kernels.net import Net, Scratch, copy_into, make_scratch
from engine.kernels.replies import FIVE, PLACES, Replies, find_replies, make_replies
from engine.kernels.worth import actions_of_board, is_exact, value_of_board

__all__ = [
    "NEVER",
    "Courses",
    "Filter",
    "Tree",
    "best_result_ahead",
    "keep_best",
    "look_ahead",
    "make_tree",
]

Array = np.ndarray[Any, Any]

NEVER = -1


class Courses(NamedTuple):
    """Where the cube can go from C situations; `engine.cube.search` makes them.

    The situations that can come about from situation c are rows first[c] to first[c + 1], the first
    of them c itself; each as the player has it who is on roll then.
    """

    cubes: Cubes
    """Of S rows."""
    first: Array
    """int64[C + 1]"""
    other: Array
    """int64[S]: the row when the cube stays and the other side is on roll."""
    doubled: Array
    """int64[S]: the row, before the roll, of a player whose double is taken; NEVER without one."""
    beavered: Array
    """int64[S]: likewise for a double that is beavered."""
    held: Array
    """int64[S]: bit d is set where a cube that stays so until the roll can come about after d
    plays."""
    total: Array
    """float64[S]: what the values of both sides add up to: 1 in a match, 0 for money."""
    turn: Array
    """float64[S]: what a value at the turned cube is worth at the cube before: 1 or, for money, 2,
    as there values are points per unit of the cube."""


class Filter(NamedTuple):
    """Which plays are looked at one ply deeper: entry p judges them by their p-ply values."""

    most: Array
    """int64[plies]: how many."""
    within: Array
    """float64[plies]: how much less than the best they may be worth, in equity."""


class Tree(NamedTuple):
    """The working memory of one thread: for each depth its 21 rolls, and the plays of the root.

    It remembers replies, so that the net and the courses must stay the same.
    """

    scratch: Scratch
    replies: Replies
    words: Array
    """uint64[plies * ROLLS, 8]: the best result of each roll at each depth."""
    boards: Array
    """The same memory as int8[., 64]."""
    five: Array
    """float32[plies * ROLLS, FIVE]: their probabilities for the next player."""
    flat: Array
    """The same memory, float32[.]."""
    weights: Array
    """float64[plies * ROLLS]: how likely each is; rolls with one result are counted as the first of
    them, and 0 for the others."""
    held: Array
    """float64[plies, S]: sums over the rolls of a depth, by the cube that stays until them."""
    mean: Array
    """float64[plies, FIVE]: likewise of the probabilities."""
    follows: Array
    """int64[plies]: the cube for which the plays of a depth are chosen."""
    roll: Array
    """int64[plies]: the next roll at each depth."""
    actions: Array
    """float64[ACTIONS]"""
    results: Array
    """uint64[MAX_RESULTS, 8]: the plays of the root."""
    result_five: Array
    """float32[MAX_RESULTS, FIVE]: their probabilities for the next player."""
    values: Array
    """float64[MAX_RESULTS]: their values for the next player."""
    order: Array
    """int64[MAX_RESULTS]: their rows, the best first of those that are looked at."""


@njit
def make_tree(sizes: Array, plies: int, rows: int) -> Tree:
    """The working memory of one thread.

    sizes: of the net; plies: the most it will look ahead; rows: the most any situation has.
    """
    plies = max(plies, 1)
    words = np.empty((plies * ROLLS, 8), np.uint64)
    five = np.empty((plies * ROLLS, FIVE), np.float32)
    return Tree(
        make_scratch(sizes),
        make_replies(PLACES),
        words,
        words.view(np.int8),
        five,
        five.ravel(),
        np.empty(plies * ROLLS),
        np.empty((plies, rows)),
        np.empty((plies, FIVE)),
        np.empty(plies, np.int64),
        np.empty(plies, np.int64),
        np.empty(ACTIONS),
        np.empty((MAX_RESULTS, 8), np.uint64),
        np.empty((MAX_RESULTS, FIVE), np.float32),
        np.empty(MAX_RESULTS),
        np.empty(MAX_RESULTS, np.int64),
    )


@inner
def _expected(
    net: Net, courses: Courses, row: int, words: Array, boards: Array, board: int,
    values: Array, at: int, actions: Array,
) -> int:  # fmt: skip
    """The row after the cube action in words[board] that is right at 0-ply."""
    if courses.doubled[row] == NEVER:
        return row
    actions_of_board(net.bearoff, words, boards, board, courses.cubes, row, values, at, actions)
    accepted = min(actions[1], actions[3])
    if accepted > actions[2] or accepted <= actions[0] + GAIN:
        return row
    if actions[3] < actions[1]:
        return courses.beavered[row]
    return courses.doubled[row]


@inner
def _open(
    net: Net, tree: Tree, courses: Courses, depth: int, words: Array, row: int, follows: int
) -> None:
    """Choose the play of each roll in words[row], uint64[., 8], into the tree at `depth`."""
    replies = tree.replies
    place = find_replies(net, tree.scratch, replies, courses.cubes, courses.other[follows],
                         words, row, tree.actions)  # fmt: skip
    for roll in range(ROLLS):
        at, found = depth * ROLLS + roll, place * ROLLS + roll
        tree.weights[at] = replies.weights[found]
        for word in range(8):
            tree.words[at, word] = replies.words[found, word]
        for column in range(FIVE):
            tree.five[at, column] = replies.five[found, column]
    tree.follows[depth] = follows
    tree.roll[depth] = 0
    for held in range(tree.held.shape[1]):
        tree.held[depth, held] = 0
    for column in range(FIVE):
        tree.mean[depth, column] = 0


@inner
def _turned(tree: Tree, courses: Courses, depth: int, first: int, row: int) -> float:
    """The value of a row before the cube action, from the values of cubes held at `depth`."""
    value = tree.held[depth, row - first]
    if courses.doubled[row] == NEVER:
        return value
    turn = courses.turn[row]
    doubled = turn * tree.held[depth, courses.doubled[row] - first]
    doubled = min(doubled, courses.cubes.stakes[row, 0, 0])
    if courses.beavered[row] != NEVER:
        doubled = min(doubled, turn * turn * tree.held[depth, courses.beavered[row] - first])
    return max(value, doubled)


@inner
def _add_five(tree: Tree, depth: int, weight: float, five: Array, row: int) -> None:
    """Add the probabilities five[row] of the next player to the mean at `depth`, turned round."""
    mean = tree.mean
    mean[depth, 0] += weight * (1 - five[row, 0])
    mean[depth, 1] += weight * five[row, 3]
    mean[depth, 2] += weight * five[row, 4]
    mean[depth, 3] += weight * five[row, 1]
    mean[depth, 4] += weight * five[row, 2]


@inner
def _add_leaf(net: Net, tree: Tree, courses: Courses, depth: int, first: int, last: int) -> None:
    """Add what the result of the present roll at `depth` is worth at 0-ply."""
    at = depth * ROLLS + tree.roll[depth]
    weight = tree.weights[at]
    for held in range(first, last):
        if courses.held[held] >> depth & 1:
            value = value_of_board(
                net.bearoff, tree.words, tree.boards, at,
                courses.cubes, courses.other[held], tree.flat, FIVE * at, tree.actions,
            )  # fmt: skip
            tree.held[depth, held - first] += weight * (courses.total[held] - value)
    _add_five(tree, depth, weight, tree.five, at)


@inner
def _add_node(tree: Tree, courses: Courses, depth: int, first: int, last: int) -> None:
    """Add what the result of the present roll at `depth` is worth by the depth below it."""
    weight = tree.weights[depth * ROLLS + tree.roll[depth]]
    for held in range(first, last):
        if courses.held[held] >> depth & 1:
            value = _turned(tree, courses, depth + 1, first, courses.other[held])
            tree.held[depth, held - first] += weight * (courses.total[held] - value)
    _add_five(tree, depth, weight, tree.mean, depth + 1)


@inner
def look_ahead(
    net: Net, tree: Tree, courses: Courses, course: int, plies: int,
    words: Array, row: int, values: Array,
) -> float:  # fmt: skip
    """The value of the position words[row] for its player on roll, before he may double.

    tree: made for that many plies and for the rows of `course` or more; courses: made for that
    many plies; course: his situation. words: uint64[., 8], which may be finished. Written: values
    float32[FIVE], his mean probabilities.
    """
    scratch, actions = tree.scratch, tree.actions
    boards = words.view(np.int8)
    first, last = courses.first[course], courses.first[course + 1]
    evaluate_into(net, scratch, words, boards, row, values)
    if plies == 0 or is_over(boards[row]):
        return value_of_board(
            net.bearoff, words, boards, row, courses.cubes, first, values, 0, actions
        )
    follows = _expected(net, courses, first, words, boards, row, values, 0, actions)
    _open(net, tree, courses, 0, words, row, follows)
    depth = 0
    while depth >= 0:
        roll = tree.roll[depth]
        at = depth * ROLLS + roll
        if roll == ROLLS:
            depth -= 1
            if depth >= 0:
                _add_node(tree, courses, depth, first, last)
                tree.roll[depth] += 1
        elif tree.weights[at] == 0:
            tree.roll[depth] += 1
        elif depth + 1 == plies or is_exact(
            net.bearoff, tree.words, tree.boards, at, courses.cubes, first
        ):
            _add_leaf(net, tree, courses, depth, first, last)
            tree.roll[depth] += 1
        else:
            follows = courses.other[tree.follows[depth]]
            follows = _expected(
                net, courses, follows, tree.words, tree.boards, at, tree.flat, FIVE * at, actions
            )
            depth += 1
            _open(net, tree, courses, depth, tree.words, at, follows)
    for column in range(FIVE):
        values[column] = tree.mean[0, column]
    return _turned(tree, courses, 0, first, first)


@inner
def _cubeless(five: Array, row: int) -> float:
    """One more than the cubeless money equity of five[row]."""
    return 2 * five[row, 0] + five[row, 1] + five[row, 2] - five[row, 3] - five[row, 4]


@inner
def _off(words: Array, row: int) -> int:
    """The checkers that the mover has borne off in the result words[row]."""
    return np.int64(words[row, 4] & np.uint64(0xFF))


@kernel
def keep_best(
    values: Array, five: Array, words: Array, order: Array, count: int, most: int, within: float
) -> int:
    """Sort order[:count], the rows of results, best for the mover first; how many to look at on.

    values: float64[.], what they are worth to the next player; five: float32[., FIVE]: of equal
    ones the first is worth least to him without the cube; words: uint64[., 8], the results: and of
    those the one with most checkers off. Kept are at most `most` that are worth up to `within` more
    than the first, and always that one.
    """
    for number in range(1, count):
        row, place = order[number], number
        while place > 0:
            before = order[place - 1]
            ahead = values[row] - values[before]
            if ahead == 0:
                ahead = _cubeless(five, row) - _cubeless(five, before)
            if ahead == 0:
                ahead = _off(words, before) - _off(words, row)
            if ahead >= 0:
                break
            order[place] = before
            place -= 1
        order[place] = row
    kept = 1
    while kept < min(count, most) and values[order[kept]] <= values[order[0]] + within:
        kept += 1
    return kept


@inner
def _static_results(
    net: Net, tree: Tree, courses: Courses, course: int, words: Array, row: int, high: int, low: int
) -> int:
    """The plays of a roll with their 0-ply values, into the tree; how many."""
    scratch = tree.scratch
    set_position(net, scratch, words, row)
    count = results_into(
        scratch.board_bytes, scratch.board, high, low, scratch.kept, 0, scratch.stack
    )
    evaluate_kept(net, scratch, count)
    first = courses.first[course]
    for result in range(count):
        tree.values[result] = value_of_kept(
            net, scratch, result, courses.cubes, first, tree.actions
        )
        five_into(tree.result_five[result], scratch, result)
        copy_into(tree.results[result], scratch.kept[result])
        tree.order[result] = result
    return count


@inner
def best_result_ahead(
    net: Net, tree: Tree, courses: Courses, course: int, filters: Filter,
    words: Array, row: int, high: int, low: int,
) -> int:  # fmt: skip
    """The row of tree.results that is best for the mover after a roll in the position words[row].

    All plays are valued at 0-ply, those that the filter keeps at 1-ply, and so on for as many plies
    as it has, until one is left. Its value and its probabilities for the next player are those of
    the last ply that was needed: tree.values[row], tree.result_five[row].

    tree, courses: made for as many plies as the filter has, or more; course: the situation of the
    next player; words: uint64[., 8], not finished.
    """
    count = _static_results(net, tree, courses, course, words, row, high, low)
    stakes = courses.cubes.stakes[courses.first[course], 0]
    point = (stakes[0] - stakes[3]) / 2
    left = count
    for ply in range(len(filters.most)):
        left = keep_best(
            tree.values, tree.result_five, tree.results, tree.order, left,
            filters.most[ply], filters.within[ply] * point,
        )  # fmt: skip
        if left == 1:
            return tree.order[0]
        for place in range(left):
            result = tree.order[place]
            tree.values[result] = look_ahead(
                net, tree, courses, course, ply + 1,
                tree.results, result, tree.result_five[result],
            )  # fmt: skip
    keep_best(tree.values, tree.result_five, tree.results, tree.order, left, 1, 0.0)
    return tree.order[0]
