"""Score, cube and rules in words, for the player on roll, who is X."""

from engine.cube.context import CubeContext, Owner

__all__ = ["HOLDERS", "describe"]

HOLDERS = {Owner.CENTRE: "in the centre", Owner.ME: "with X", Owner.OPPONENT: "with O"}


def describe(context: CubeContext) -> str:
    """One line, such as `X needs 3 points, O 7; cube at 2 with X`."""
    if context.is_money:
        rules = [name for name in ("jacoby", "beavers") if getattr(context, name)]
        score = "Money game" + "".join(f", {rule.capitalize()}" for rule in rules)
    else:
        mine, theirs = context.away
        score = f"X needs {mine} point{'s' if mine > 1 else ''}, O {theirs}"
    if not context.in_play:
        return f"{score}; no cube"
    return f"{score}; cube at {context.cube} {HOLDERS[context.owner]}"
