"""Playing a round robin to its end, in parallel, from wherever it stopped."""

from tqdm import tqdm

from engine.arena.results import Results
from engine.arena.schedule import Chunks, Contest, RoundRobin
from engine.arena.workers import Workers

__all__ = ["play"]


def play(schedule: RoundRobin, contest: Contest, results: Results, workers: int) -> None:
    """Play what `results` does not hold yet; every chunk is saved as soon as it is played.

    A progress bar goes to standard error. An interrupt (KeyboardInterrupt) or an error loses the
    chunks that are being played, nothing else; another call goes on from there.
    """
    missing = results.missing()
    to_play = sum(map(len, missing.values()))
    total = schedule.deals * len(missing)
    if not to_play:
        return
    chunks = Chunks(missing)
    with (
        tqdm(total=2 * total, initial=2 * (total - to_play), unit="game", smoothing=0.1) as bar,
        Workers(contest, schedule.players, min(workers, to_play)) as team,
    ):
        for played in team.play(chunks):
            results.add(played.chunk, played.table)
            chunks.took(played.chunk, played.seconds)
            bar.update(2 * len(played.chunk.deals))
