import os
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from importlib import metadata
from itertools import pairwise
from pathlib import Path

import numpy as np
import pytest

from engine.backgammon.match import Action, Match, act
from engine.backgammon.variants import BACKGAMMON
from engine.errors import AcepointError
from engine.evaluation import outcome
from engine.kernels.dealing import game_seeds
from engine.kernels.movegen import legal_results, pack
from engine.players.base import Array
from engine.players.peer import PeerPlayer
from engine.players.random import RandomPlayer
from engine.players.table import play_games
from engine.records.decisions import read_cube_decisions

GOLDEN = Path(__file__).parents[1] / "golden"

gnubg_nn = pytest.importorskip("gnubg_nn")


@pytest.fixture(scope="module")
def gnubg() -> Iterator[PeerPlayer]:
    player = gnubg_nn_player(0)
    yield player
    player.close()


@pytest.fixture(scope="module")
def pubeval() -> Iterator[PeerPlayer]:
    player = PeerPlayer("pubeval", "gnubg-nn", ("pubeval",))
    yield player
    player.close()


def gnubg_nn_player(plies: int) -> PeerPlayer:
    return PeerPlayer(f"gnubg:{plies}", "gnubg-nn", ("gnubg-nn", str(plies)))


class Witness(RandomPlayer):
    """A random player that keeps every position and roll it sees."""

    def __init__(self) -> None:
        super().__init__()
        self.boards: list[Array] = []
        self.dice: list[Array] = []

    def best_packed(self, packed: Array, dice: Array, _: Match | None = None) -> Array:
        self.boards.append(packed)
        self.dice.append(dice)
        return super().best_packed(packed, dice)


@pytest.fixture(scope="module")
def seen() -> tuple[Array, Array]:
    """Thousands of positions of random games, from the opening to the last checkers."""
    witness = Witness()
    play_games(witness, witness, game_seeds(3, np.arange(60)))
    return np.concatenate(witness.boards), np.concatenate(witness.dice)


def board(on_roll: dict[int, int], opponent: dict[int, int]) -> Array:
    """A packed board from checkers by point, those that are missing to 15 borne off."""
    rows = np.zeros((1, 2, 26), np.int8)
    for row, points in enumerate((on_roll, opponent)):
        for point, count in points.items():
            rows[0, row, point] = count
        rows[0, row, 0] = 15 - rows[0, row].sum()
    return pack(rows)


def roll(high: int, low: int) -> Array:
    return np.array([[high, low]], np.int8)


def test_every_answer_is_legal(seen: tuple[Array, Array], gnubg: PeerPlayer) -> None:
    boards, dice = seen
    assert len(boards) > 5000

    chosen = gnubg.best_packed(boards, dice)  # raises when an answer is not legal

    assert np.array_equal(chosen[:, 1].sum(axis=1), boards[:, 0].sum(axis=1))


def test_every_answer_of_pubeval_is_legal(seen: tuple[Array, Array], pubeval: PeerPlayer) -> None:
    boards, dice = seen
    chosen = pubeval.best_packed(boards, dice)

    assert not np.array_equal(chosen, RandomPlayer().best_packed(boards, dice))


def test_gnubg_chooses_what_its_own_evaluation_likes_best(
    seen: tuple[Array, Array], gnubg: PeerPlayer
) -> None:
    boards, dice = (array[::40] for array in seen)
    chosen = gnubg.best_packed(boards, dice)
    results, offsets = legal_results(boards, dice)

    losses = []
    for index, (start, end) in enumerate(pairwise(offsets)):
        equities = {result.tobytes(): equity_of_mover(result) for result in results[start:end]}
        losses.append(max(equities.values()) - equities[chosen[index].tobytes()])
    assert len(losses) > 100
    assert np.mean(losses) < 0.0005


def equity_of_mover(result: Array) -> float:
    """Gnubg's cubeless equity for the side that moved, row 1 of the result."""
    if not result[1, 1:26].any():
        loser = result[0]
        return 1.0 if loser[0] else 3.0 if loser[19:26].any() else 2.0
    mover, next_player = result[1, 1:26].tolist(), result[0, 1:26].tolist()
    win, gammon, backgammon, lost_gammon, lost_backgammon = gnubg_nn.probabilities(
        [mover, next_player], 0
    )
    return float(1 - 2 * win - gammon - backgammon + lost_gammon + lost_backgammon)


def test_opening_plays_that_everybody_knows(gnubg: PeerPlayer) -> None:
    start = pack(BACKGAMMON.start[None])
    for dice, points in (((3, 1), (5, 7)), ((4, 2), (4, 8)), ((6, 1), (7, 8))):
        made = gnubg.best_packed(start, roll(*dice))[0, 1]
        assert made[points[0]] == 2, dice


@pytest.mark.parametrize("dice", [(6, 6), (6, 5), (3, 3)])
def test_nothing_legal_gives_the_same_board_to_the_opponent(
    dice: tuple[int, int], gnubg: PeerPlayer, pubeval: PeerPlayer
) -> None:
    shut_out = board({25: 1, 6: 5, 5: 5, 4: 4}, {6: 2, 5: 2, 4: 2, 3: 2, 2: 2, 1: 2, 7: 3})

    for player in (gnubg, pubeval):
        assert np.array_equal(player.best_packed(shut_out, roll(*dice)), shut_out[:, ::-1])


@pytest.mark.parametrize("dice", [(2, 1), (6, 5), (1, 1)])
def test_the_last_checkers_are_borne_off(
    dice: tuple[int, int], gnubg: PeerPlayer, pubeval: PeerPlayer
) -> None:
    last_two = board({1: 1, 2: 1} if dice != (1, 1) else {1: 3}, {24: 2, 19: 3, 6: 4})

    for player in (gnubg, pubeval):
        result = player.best_packed(last_two, roll(*dice))
        assert result[0, 1, 0] == 15
        assert np.array_equal(result[:, 0], last_two[:, 1])


def test_answers_do_not_depend_on_what_was_asked_before(
    seen: tuple[Array, Array], gnubg: PeerPlayer
) -> None:
    boards, dice = seen
    order = np.random.default_rng(0).permutation(len(boards))[:2000]

    first = gnubg.best_packed(boards[order], dice[order])
    again = gnubg.best_packed(boards[order[::-1]], dice[order[::-1], ::-1])[::-1]

    assert np.array_equal(first, again)


def test_gnubg_beats_pubeval_by_what_it_should(gnubg: PeerPlayer, pubeval: PeerPlayer) -> None:
    """+0.632 points per game over 20,000 games; the 800 here have a standard error of 0.045."""
    seeds = game_seeds(0, np.arange(400))
    as_first = play_games(gnubg, pubeval, seeds).points
    as_second = -play_games(pubeval, gnubg, seeds).points

    assert np.mean([as_first, as_second]) == pytest.approx(0.632, abs=0.15)


def test_one_ply_looks_further_than_none(seen: tuple[Array, Array], gnubg: PeerPlayer) -> None:
    boards, dice = (array[::150] for array in seen)
    deeper = gnubg_nn_player(1)

    assert not np.array_equal(deeper.best_packed(boards, dice), gnubg.best_packed(boards, dice))
    deeper.close()


def gnubg_player() -> PeerPlayer:
    pytest.importorskip("gnubg")
    return PeerPlayer("gnubg:0", "gnubg", ("gnubg", "0"))


def sage_player() -> PeerPlayer:
    pytest.importorskip("bgsage")
    return PeerPlayer("sage:1", "bgsage", ("sage", "1"))


@pytest.fixture(scope="module", params=[gnubg_player, sage_player])
def cubeful(request: pytest.FixtureRequest) -> Iterator[PeerPlayer]:
    """A player with the cube, of another package than the tests need."""
    player = request.param()
    yield player
    player.close()


SCORES = [
    Match(),
    Match(jacoby=True, cube=2, cube_owner=1, beavers=True),
    Match(length=7, score=(3, 5), on_roll=0, turn=0),
    Match(length=5, score=(1, 4), crawford=True),
    Match(length=5, score=(4, 3), cube=2, cube_owner=0),
]


def test_every_answer_is_legal_at_any_score(seen: tuple[Array, Array], cubeful: PeerPlayer) -> None:
    boards, dice = (array[::80] for array in seen)
    for match in SCORES:
        chosen = cubeful.best_packed(boards, dice, match)  # raises when an answer is not legal
        assert np.array_equal(chosen[:, 1].sum(axis=1), boards[:, 0].sum(axis=1))


def test_checkers_are_borne_off_also_where_the_play_is_cut_short(cubeful: PeerPlayer) -> None:
    bearing_off = board({1: 2, 3: 1, 6: 2}, {1: 2, 2: 3})
    for dice, off in (((6, 3), 2), ((6, 6), 4), ((6, 5), 1), ((5, 1), 1)):
        result = cubeful.best_packed(bearing_off, roll(*dice), Match())
        assert result[0, 1, 0] == 10 + off, dice


def test_the_last_play_wins_the_game(cubeful: PeerPlayer) -> None:
    result = cubeful.best_packed(board({2: 1, 4: 1}, {1: 2}), roll(5, 4), Match())
    assert result[0, 1, 0] == 15


LEVEL = pack(BACKGAMMON.start[None])
RACE_WON = board({6: 4, 5: 3, 4: 3}, {6: 5, 5: 5, 4: 5})


@pytest.mark.parametrize("match", [Match(), Match(length=7, score=(2, 2))])
def test_what_everybody_does_with_the_cube(cubeful: PeerPlayer, match: Match) -> None:
    for boards, action, answer in (
        (LEVEL, Action.ROLL, Action.TAKE),
        (RACE_WON, Action.DOUBLE, Action.PASS),
    ):
        assert cubeful.act_packed(boards, match).tolist() == [action]
        doubled = act(match, Action.DOUBLE)
        assert cubeful.act_packed(boards, doubled).tolist() == [answer]


def test_a_batch_is_answered_in_its_order(cubeful: PeerPlayer) -> None:
    boards = np.concatenate([LEVEL, RACE_WON, LEVEL, RACE_WON])
    expected = [Action.ROLL, Action.DOUBLE, Action.ROLL, Action.DOUBLE]
    assert cubeful.act_packed(boards, Match()).tolist() == expected


def test_beavers_are_made_where_they_are_played(cubeful: PeerPlayer) -> None:
    ending = board({6: 5, 5: 5, 4: 5}, {6: 4, 5: 3, 4: 3})
    assert cubeful.act_packed(ending, act(Match(), Action.DOUBLE)).tolist() == [Action.TAKE]
    doubled = act(Match(beavers=True), Action.DOUBLE)
    assert cubeful.act_packed(ending, doubled).tolist() == [Action.BEAVER]
    for offer in (Action.BEAVER, Action.RACCOON):
        doubled = act(doubled, offer)
        assert cubeful.act_packed(ending, doubled).tolist() == [Action.TAKE]


def test_a_cube_that_is_dead_is_left_alone_and_taken(cubeful: PeerPlayer) -> None:
    """At 1-away a doubler gains nothing, and who passes loses the match."""
    match = Match(length=5, score=(1, 4))
    assert cubeful.act_packed(LEVEL, match).tolist() == [Action.ROLL]
    assert cubeful.act_packed(LEVEL, act(match, Action.DOUBLE)).tolist() == [Action.TAKE]


def test_after_the_crawford_game_the_trailer_doubles(cubeful: PeerPlayer) -> None:
    match = Match(length=7, score=(6, 2))
    assert cubeful.act_packed(LEVEL, match).tolist() == [Action.DOUBLE]


def test_values_are_for_the_player_on_roll_in_the_order_asked(
    seen: tuple[Array, Array], gnubg: PeerPlayer
) -> None:
    boards = seen[0][::40]
    equities = outcome.equity(gnubg.evaluate_packed(boards))

    assert equities == pytest.approx([-equity_of_mover(board) for board in boards], abs=1e-5)


def test_values_are_near_those_of_deep_analysis(cubeful: PeerPlayer) -> None:
    """Sides or columns that were mixed up would be off by far more."""
    decisions = read_cube_decisions(GOLDEN / "cube_decisions.jsonl")
    values = cubeful.evaluate_packed(decisions.packed)

    assert (np.abs(values - decisions.probabilities).mean(axis=0) < 0.02).all()
    for column in (1, 3):
        wrong = np.abs(values[:, column] - decisions.probabilities[:, 4 - column]).mean()
        assert wrong > 0.05, outcome.NAMES[column]


def test_sage_plays_without_the_cube_too(seen: tuple[Array, Array]) -> None:
    boards, dice = (array[::60] for array in seen)
    player = sage_player()
    player.best_packed(boards, dice)  # raises when an answer is not legal
    player.close()


def test_missing_package_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    def missing(name: str) -> str:
        raise metadata.PackageNotFoundError(name)

    monkeypatch.setattr(metadata, "version", missing)

    with pytest.raises(AcepointError, match=r"'pubeval'.*pip install acepoint\[peers\]"):
        PeerPlayer("pubeval", "gnubg-nn", ("pubeval",))


def test_a_process_that_stops_is_reported() -> None:
    player = gnubg_nn_player(0)
    os.kill(player._process.pid, signal.SIGKILL)
    start = pack(BACKGAMMON.start[None])

    with pytest.raises(AcepointError, match=r"'gnubg:0'.*has stopped"):
        player.best_packed(start, roll(3, 1))
    player.close()


def test_an_illegal_answer_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    player = gnubg_nn_player(0)
    start = pack(BACKGAMMON.start[None])
    monkeypatch.setattr(player, "_ask", lambda *_: np.int16(-1).tobytes())

    with pytest.raises(AcepointError, match=r"'gnubg:0'.*no legal result of \[3, 1\]"):
        player.best_packed(start, roll(3, 1))
    player.close()


def test_a_process_that_is_answering_is_not_waited_for(seen: tuple[Array, Array]) -> None:
    player = PeerPlayer("gnubg:2", "gnubg-nn", ("gnubg-nn", "2"))

    def ask() -> None:
        with pytest.raises(AcepointError, match="has stopped"):
            player.best_packed(*seen)

    asking = threading.Thread(target=ask)
    asking.start()
    time.sleep(1)  # it is answering by now, minutes' work
    player.close()
    asking.join()
    assert player._process.returncode == -signal.SIGKILL


PARENT = """
import time
from engine.players.peer import PeerPlayer
from engine.kernels.dealing import game_seeds
from engine.players.table import play_games
import numpy as np
player = PeerPlayer("gnubg:2", "gnubg-nn", ("gnubg-nn", "2"))
print(player._process.pid, flush=True)
play_games(player, player, game_seeds(0, np.arange(50)))
"""


@pytest.mark.skipif(not Path("/proc/self/stat").exists(), reason="looks processes up in /proc")
def test_the_process_does_not_survive_its_parent() -> None:
    parent = subprocess.Popen([sys.executable, "-c", PARENT], stdout=subprocess.PIPE)
    with parent:
        assert parent.stdout is not None
        child = int(parent.stdout.readline())
        time.sleep(1)  # it is answering by now, many seconds' work before it reads again
        assert alive(child)
        parent.kill()

    deadline = time.monotonic() + 20
    while alive(child) and time.monotonic() < deadline:
        time.sleep(0.05)
    assert not alive(child)


def alive(process: int) -> bool:
    try:
        status = Path(f"/proc/{process}/stat").read_text()
    except OSError:
        return False
    # One that has ended is a zombie until somebody asks for its exit code.
    return status.rsplit(")", 1)[1].split()[0] != "Z"
