"""What a tournament has come to: the JSON of the contract, and tables."""

from typing import TYPE_CHECKING, Any

from engine.interfaces.cli.output import print_table

if TYPE_CHECKING:
    from engine.arena.results import Results
    from engine.arena.schedule import Array, RoundRobin

__all__ = ["print_standings", "standings"]

WINS = ("wins", "gammons", "backgammons")


def standings(
    schedule: "RoundRobin", results: "Results", cube: bool, matches: bool
) -> dict[str, Any]:
    """The JSON of the contract, for a tournament that is complete.

    `points_per_game` and `ci95`, half the width of its interval, are for player a; `wins`,
    `gammons` and `backgammons` are those of [a, b]: as everywhere, a gammon is counted among the
    wins too, and a backgammon among the gammons. Games with the cube have `cube`: how often [a, b]
    turned it and were taken, how often they passed, and the mean of its last value. Matches have
    `matches`, how many [a, b] won, and the share of a with its `ci95`. A difference of ratings is
    the points per game to expect, or the share of matches to expect less one half.
    """
    from engine.arena.statistics import ratings

    tables = {meeting: results.table(meeting)[1] for meeting in schedule.meetings}
    pairs = [
        {"a": schedule.players[a], "b": schedule.players[b]}
        | _pair(table, ("score", *results.columns), cube, matches)
        for (a, b), table in tables.items()
    ]
    scale = 0.5 if matches else 1
    scores = {meeting: scale * table[:, :, 0] for meeting, table in tables.items()}
    rated = [
        {"player": schedule.players[rating.player], "rating": rating.rating, "ci95": rating.ci95}
        for rating in ratings(len(schedule.players), scores)
    ]
    return {"pairs": pairs, "ratings": rated}


def _pair(table: "Array", columns: tuple[str, ...], cube: bool, matches: bool) -> dict[str, Any]:
    """The figures of a pair from its int32[D, 2, 1 + K]."""
    from engine.arena.statistics import estimate, estimate_ratio

    deals = dict(zip(columns, table.sum(axis=1).T, strict=True))
    totals = {name: int(values.sum()) for name, values in deals.items()}
    both = {
        name: [totals[f"{name}_a"], totals[f"{name}_b"]] for name in (*WINS, "turned", "passed")
    }
    mean, ci95 = estimate_ratio(deals["points"], deals["games"])
    pair: dict[str, Any] = {"games": totals["games"], "points_per_game": mean, "ci95": ci95}
    pair |= {name: both[name] for name in WINS}
    if cube:
        mean_cube = totals["cubes"] / totals["games"]
        pair["cube"] = {"turned": both["turned"], "passed": both["passed"], "mean": mean_cube}
    if matches:
        scores = table[:, :, 0]
        share, error = estimate((1 + scores.mean(axis=1)) / 2)
        pair["matches"] = {
            "played": scores.size,
            "won": [int((scores > 0).sum()), int((scores < 0).sum())],
            "share": share,
            "ci95": error,
        }
    return pair


def print_standings(report: dict[str, Any]) -> None:
    """The same as tables."""
    pairs = report["pairs"]
    print_table(
        ("a against b", "games", "points per game of a", *WINS),
        (
            (
                _names(pair),
                pair["games"],
                _with_interval(pair["points_per_game"], pair["ci95"]),
                *(_both(pair[name]) for name in WINS),
            )
            for pair in pairs
        ),
    )
    if "cube" in pairs[0]:
        print_table(
            ("cube", "doubles taken", "passed by", "mean last value"),
            (
                (
                    _names(pair),
                    _both(pair["cube"]["turned"]),
                    _both(pair["cube"]["passed"]),
                    f"{pair['cube']['mean']:.2f}",
                )
                for pair in pairs
            ),
        )
    if "matches" in pairs[0]:
        print_table(
            ("matches", "played", "won", "share of a"),
            (
                (
                    _names(pair),
                    pair["matches"]["played"],
                    _both(pair["matches"]["won"]),
                    _with_interval(pair["matches"]["share"], pair["matches"]["ci95"], sign=""),
                )
                for pair in pairs
            ),
        )
    print_table(
        ("player", "rating"),
        (
            (rated["player"], _with_interval(rated["rating"], rated["ci95"]))
            for rated in report["ratings"]
        ),
    )
    measure = "share of matches above one half" if "matches" in pairs[0] else "points per game"
    print(f" Ratings: {measure} against the field.")


def _names(pair: dict[str, Any]) -> str:
    return f"{pair['a']} - {pair['b']}"


def _both(counts: list[int]) -> str:
    return f"{counts[0]} - {counts[1]}"


def _with_interval(mean: float, ci95: float | None, sign: str = "+") -> str:
    shown = f"{mean:{sign}.3f}"
    return shown if ci95 is None else f"{shown} ± {ci95:.3f}"
