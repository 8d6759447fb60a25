"""The entry point of `acepoint`: finds the command, runs it, and turns errors into exit codes."""

import contextlib
import gc
import io
import os
import sys
from collections.abc import Callable, Iterable
from importlib import import_module
from itertools import pairwise
from pathlib import Path
from typing import Protocol

import tyro

from engine.errors import AcepointError, NotationError

__all__ = ["main"]

BAD_INPUT = 2
INTERRUPTED = 130  # 128 + SIGINT, as shells have it
READER_GONE = 141  # 128 + SIGPIPE
NEW_OBJECTS = 50_000  # before garbage is looked for

DESCRIPTION = """Acepoint, a backgammon engine that learns by playing itself.

POSITION is a gnubg ID (position, or position:match), an XGID or a FIBS board string. Plies are
counted as gnubg counts them: 0 is the static evaluation, n looks n rolls ahead.

Example: acepoint move 4HPwATDgc/ABMA 31
"""


class Command(Protocol):
    """A parsed command line."""

    def run(self) -> None:
        """Do it. Raises AcepointError for bad input."""


# The class of each command, in the module of its name: only the one that is asked for is imported.
COMMANDS = {
    "move": "Move",
    "cube": "Cube",
    "rollout": "RollOut",
    "bearoff": "Bearoff",
    "play": "Play",
    "tournament": "Tournament",
    "score": "Score",
    "met": "Met",
    "bench": "Bench",
    "perft": "Perft",
}


def main() -> None:
    """Run the command line of this process and exit with its code."""
    arguments = sys.argv[1:]
    for stream, mode in (("stdin", "r"), ("stdout", "w"), ("stderr", "w")):
        if getattr(sys, stream) is None:  # closed by who started us
            setattr(sys, stream, Path(os.devnull).open(mode))  # noqa: SIM115 - until we end
    if isinstance(sys.stdout, io.TextIOWrapper):
        sys.stdout.reconfigure(errors="replace")  # not every encoding has a ±
    if _is_ours(arguments):
        _start_quickly()
    code = _run(arguments)
    gc.freeze()  # Python would look through all objects: a sixth of the time of `acepoint move`
    sys.exit(code)


def _start_quickly() -> None:
    """Spare our commands, which are short as a rule, what costs more than it gives them.

    What is made at the start, most of it by numba, is no garbage: to look for some whenever 700
    objects are new, as Python does, took a tenth of the processor time of `acepoint move`. None
    multiplies large matrices, but OpenBLAS starts a thread for each core with numpy, which waits
    for work in a loop: on two cores another fifteenth.
    """
    gc.set_threshold(NEW_OBJECTS)
    os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")


def _is_ours(arguments: list[str]) -> bool:
    """Whether it is clearly a command of ours that is meant, and none of another package."""
    return bool(arguments) and arguments[0] in COMMANDS


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
    except SystemError as error:
        if not isinstance(error.__cause__, KeyboardInterrupt):
            raise
        return INTERRUPTED  # while numba made Python objects of what a kernel had found
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
    for argument, following in pairwise([*arguments, None]):
        option, equals, value = (argument or "").partition("=")
        if option.startswith("--") and not value and (equals or following == ""):
            # tyro would take it for a path: this folder
            raise NotationError(f"{option} '': expected something after it")
    commands = _commands(arguments)
    if arguments and not arguments[0].startswith("-") and arguments[0] not in commands:
        raise NotationError(f"command {arguments[0]!r}: expected one of {', '.join(commands)}")
    try:
        with contextlib.redirect_stderr(io.StringIO()):
            return _parsed(commands, arguments)
    except SystemExit as stop:
        if stop.code != BAD_INPUT:
            raise
    # Once more for what tyro says, drawn for no terminal: in one with colours it says it in others.
    complaint = io.TextIOWrapper(io.BytesIO(), "utf-8")
    try:
        with contextlib.redirect_stdout(complaint), contextlib.redirect_stderr(complaint):
            return _parsed(commands, arguments)
    except SystemExit:
        complaint.seek(0)
        raise NotationError(_one_line(complaint.read())) from None


def _parsed(commands: dict[str, Callable[..., Command]], arguments: list[str]) -> Command:
    command: Command = tyro.extras.subcommand_cli_from_dict(
        commands,
        prog="acepoint",
        description=DESCRIPTION,
        args=arguments,
        config=(tyro.conf.FlagCreatePairsOff, tyro.conf.PositionalMetavarFromFieldName),
    )
    return command


def _commands(arguments: list[str]) -> dict[str, Callable[..., Command]]:
    """The command of ours that is meant, or else all, those of other packages too."""
    if _is_ours(arguments):
        return _ours(arguments[:1])

    from importlib.metadata import entry_points

    return _ours(COMMANDS) | {
        entry.name: entry.load() for entry in entry_points(group="acepoint.commands")
    }


def _ours(names: Iterable[str]) -> dict[str, Callable[..., Command]]:
    """Import commands of ours."""
    return {
        name: getattr(import_module(f"engine.interfaces.cli.{name}"), COMMANDS[name])
        for name in names
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
