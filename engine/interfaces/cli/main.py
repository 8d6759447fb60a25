"""The entry point of `acepoint`: finds the command, runs it, and turns errors into exit codes."""

import contextlib
import io
import os
import sys
from collections.abc import Callable
from importlib.metadata import entry_points
from typing import Protocol

import tyro

from engine.errors import AcepointError, NotationError
from engine.interfaces.cli.bearoff import Bearoff
from engine.interfaces.cli.bench import Bench
from engine.interfaces.cli.cube import Cube
from engine.interfaces.cli.met import Met
from engine.interfaces.cli.move import Move
from engine.interfaces.cli.perft import Perft
from engine.interfaces.cli.play import Play
from engine.interfaces.cli.rollout import RollOut
from engine.interfaces.cli.score import Score
from engine.interfaces.cli.tournament import Tournament

__all__ = ["main"]

BAD_INPUT = 2
INTERRUPTED = 130  # 128 + SIGINT, as shells have it
READER_GONE = 141  # 128 + SIGPIPE

DESCRIPTION = """Acepoint, a backgammon engine that learns by playing itself.

POSITION is a gnubg ID (position, or position:match), an XGID or a FIBS board string. Plies are
counted as gnubg counts them: 0 is the static evaluation, n looks n rolls ahead.

Example: acepoint move 4HPwATDgc/ABMA 31
"""


class Command(Protocol):
    """A parsed command line."""

    def run(self) -> None:
        """Do it. Raises AcepointError for bad input."""


COMMANDS: dict[str, Callable[..., Command]] = {
    "move": Move,
    "cube": Cube,
    "rollout": RollOut,
    "bearoff": Bearoff,
    "play": Play,
    "tournament": Tournament,
    "score": Score,
    "met": Met,
    "bench": Bench,
    "perft": Perft,
}


def main() -> None:
    """Run the command line of this process and exit with its code."""
    sys.exit(_run(sys.argv[1:]))


def _overview() -> None:
    """Print what `acepoint --help` says: every command in a line."""
    print(f"usage: acepoint COMMAND ...\n\n{DESCRIPTION}")
    commands = _commands([])
    width = max(map(len, commands))
    for name, command in commands.items():
        summary, *_ = (command.__doc__ or "").splitlines()
        print(f"  {name:{width}}  {summary}")
    print("\nacepoint COMMAND --help says more about one.")


def _run(arguments: list[str]) -> int:
    """The exit code; all that a user can do wrong ends here, and what is left is a bug."""
    try:
        if arguments in (["-h"], ["--help"]):
            _overview()
        else:
            _parse(arguments).run()
        sys.stdout.flush()
    except AcepointError as error:
        print(f"acepoint: {error}", file=sys.stderr)
        return BAD_INPUT
    except KeyboardInterrupt:
        return INTERRUPTED
    except BrokenPipeError:
        # What is still buffered has no reader: let the flush at exit write it to nowhere.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return READER_GONE
    except OSError as error:
        # Such as a disk too full for numba's compiled kernels: no bug, and nothing to be done here.
        print(f"acepoint: {error}", file=sys.stderr)
        return BAD_INPUT
    return 0


def _parse(arguments: list[str]) -> Command:
    """The command that the arguments ask for. Raises NotationError saying what is wrong."""
    complaint = io.StringIO()
    try:
        with contextlib.redirect_stderr(complaint):
            command: Command = tyro.extras.subcommand_cli_from_dict(
                _commands(arguments),
                prog="acepoint",
                description=DESCRIPTION,
                args=arguments,
                config=(
                    tyro.conf.FlagCreatePairsOff,
                    tyro.conf.PositionalMetavarFromFieldName,
                ),
            )
            return command
    except SystemExit as stop:
        if stop.code == BAD_INPUT:
            raise NotationError(_one_line(complaint.getvalue())) from None
        raise


def _commands(arguments: list[str]) -> dict[str, Callable[..., Command]]:
    """Our commands, and those of other packages unless it is clearly one of ours that is meant."""
    if arguments and arguments[0] in COMMANDS:
        return COMMANDS
    return COMMANDS | {
        entry.name: entry.load() for entry in entry_points(group="acepoint.commands")
    }


def _one_line(box: str) -> str:
    """What stands in the box that tyro draws about bad arguments, without its help texts."""
    rows = [line.strip("│╭╮╰╯─").rstrip() for line in box.splitlines()[1:]]
    said: list[str] = []
    for row in rows:
        if not row.strip(" ─"):
            break
        if not row.startswith(" " * 8):
            said.append(row.strip())
    return f"{' '.join(said).rstrip('.')} (see --help)"
