"""Files that are written whole or not at all, also where the path is a link or no file."""

import os
import stat
from pathlib import Path

import pytest

from engine.errors import FileFormatError
from engine.evaluation.whole_file import write_whole


def test_the_parts_are_written_and_nothing_else(tmp_path):
    write_whole(tmp_path / "file", b"one ", memoryview(b"two"))

    assert (tmp_path / "file").read_bytes() == b"one two"
    assert [path.name for path in tmp_path.iterdir()] == ["file"]


def test_a_link_stays_and_what_it_leads_to_is_written(tmp_path):
    (tmp_path / "target").write_text("old")
    (tmp_path / "link").symlink_to("target")

    write_whole(tmp_path / "link", b"new")

    assert (tmp_path / "link").is_symlink()
    assert (tmp_path / "target").read_text() == "new"


def test_a_device_is_written_to_and_not_replaced():
    write_whole(os.devnull, b"gone")

    assert stat.S_ISCHR(Path(os.devnull).stat().st_mode)


def test_an_open_pipe_is_written_to_by_its_name():
    reader, writer = os.pipe()
    write_whole(f"/dev/fd/{writer}", b"said")

    assert os.read(reader, 10) == b"said"
    os.close(reader)
    os.close(writer)


@pytest.mark.skipif(os.geteuid() == 0, reason="root may write everything")
def test_a_read_only_file_is_left_alone(tmp_path):
    (tmp_path / "file").write_text("old")
    (tmp_path / "file").chmod(0o444)

    with pytest.raises(FileFormatError, match=r"cannot write .*Permission denied; the file before"):
        write_whole(tmp_path / "file", b"new")
    assert (tmp_path / "file").read_text() == "old"


@pytest.mark.parametrize("name", ["none/file", "x" * 300])
def test_a_place_that_cannot_be_is_named(tmp_path, name):
    with pytest.raises(FileFormatError, match=f"cannot write .*{name}"):
        write_whole(tmp_path / name, b"new")
