"""The errors that a user can cause. Each message quotes the input and says what was expected."""

__all__ = [
    "AcepointError",
    "FileFormatError",
    "NetError",
    "NotationError",
    "PlayError",
    "PositionError",
]


class AcepointError(ValueError):
    """The root of every error that bad input can raise; a command prints it and exits 2."""


class PositionError(AcepointError):
    """A board, position ID, match ID, XGID or FIBS board that is malformed or impossible."""


class PlayError(AcepointError):
    """A play that the rules do not allow, with the rule it breaks."""


class NotationError(AcepointError):
    """Text that is not a play, a roll or a name of the kind that was asked for."""


class FileFormatError(AcepointError):
    """A file that is missing, damaged or of another kind or version."""


class NetError(FileFormatError):
    """A net file that cannot be used: truncated, unknown encoder, wrong shapes, wrong variant."""
