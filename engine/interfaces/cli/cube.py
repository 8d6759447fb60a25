"""`acepoint cube`: what to do with the cube, and how to answer."""

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING

from engine.interfaces.cli.looking import looking_bot
from engine.interfaces.cli.options import AsJson, Net, Plies, PositionText, Table, VariantName
from engine.interfaces.cli.output import CHANCES, decision_fields, print_json, print_table
from engine.interfaces.cli.situation import (
    equity_cells,
    equity_headings,
    print_situation,
    read_situation,
)

if TYPE_CHECKING:
    from engine.cube.decisions import CubeDecision
    from engine.cube.equity import Market

__all__ = ["Cube"]

CHOICES = {
    "no double": "Not doubling",
    "double": "Doubling",
    "take": "Taking",
    "pass": "Passing",
    "beaver": "Beavering",
}
SMALLEST = 0.0005  # error that is told


@dataclass(frozen=True)
class Cube:
    """Judge the cube decision of a position.

    Shows the equities of not doubling, of a double that is taken and of one that is passed, the
    proper action of both sides, and what errors cost: in points per unit of the cube for money, as
    EMG and match-winning chance in a match. Score and cube are those of the ID; without any it is a
    money game with the cube in the centre. While a double is offered, X is the doubler. Plies are
    counted as gnubg counts them: 0 is the static evaluation, n looks n rolls ahead.

    Example: acepoint cube XGID=-b----E-C---eE---c-e----B-:0:0:1:00:2:3:0:5:10
    """

    position: PositionText
    plies: Plies = 0
    net: Net = None
    met: Table = None
    variant: VariantName = "backgammon"
    as_json: AsJson = False

    def run(self) -> None:
        """Judge and print."""
        position, _, context = read_situation(self.position, None, self.variant, self.met)
        with looking_bot(self.net, self.plies, variant=self.variant) as bot:
            decision = bot.cube(position, context)
        if self.as_json:
            print_json(
                {
                    "position": position.id,
                    "plies": self.plies,
                    **decision_fields(decision),
                    "probabilities": [float(p) for p in decision.probabilities],
                }
            )
            return

        from engine.cube.equity import gammon_prices

        print_situation(position, context)
        mine, theirs = gammon_prices(context)
        print(f" Gammon price: {mine:.2f} for X, {theirs:.2f} for O. {self.plies}-ply:\n")
        _print_probabilities(decision)
        print()
        _print_equities(decision)
        print(f"\n Proper cube action: {decision.action}")
        for sentence in _errors(decision):
            print(f" {sentence}")
        if context.may_double and not context.is_dead:
            print()
            _print_market(bot.market(position, decision))


def _print_probabilities(decision: "CubeDecision") -> None:
    print_table(
        ("", *CHANCES),
        [("Chances of X", *(f"{100 * p:.1f}" for p in decision.probabilities))],
    )


def _print_equities(decision: "CubeDecision") -> None:
    """The equities, always in this order, each with its distance from that of the proper action."""
    context = decision.context
    double = "Redouble" if context.owner == context.owner.ME else "Double"
    rows = [
        (f"No {double.lower()}", decision.no_double),
        (f"{double}, take", decision.double_take),
        (f"{double}, pass", decision.double_pass),
    ]
    if context.beavers:
        rows.append((f"{double}, beaver", decision.double_beaver))
    if not context.may_double:
        rows = rows[:1]
    best = decision.equity
    print_table(
        ("", *equity_headings(context)),
        [
            (name, *equity_cells(context, equity, equity - best if equity != best else None))
            for name, equity in rows
        ],
    )


def _errors(decision: "CubeDecision") -> list[str]:
    return [
        f"{CHOICES[choice]} costs {error:.4f}."
        for choice, error in decision.errors.items()
        if error >= SMALLEST
    ]


def _print_market(market: "Market") -> None:
    """The winning chances at which actions change."""
    points = (*market, 1 - market.cash_point)
    print_table(
        ("With these gammons", "double", "cash", "too good", "take point of O"),
        [("wins from", *("-" if math.isnan(p) else f"{100 * p:.1f}" for p in points))],
    )
