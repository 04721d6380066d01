"""The files of surveys: each change of a collection makes the next one, under a name that can be made once.

`survey.json` is the first, and `surveys/1.json` and so on those of later changes; the one with the highest number is in
force. Of changes that begin with the same survey at once only one can make the next name, so none is ever lost: the
name is made as a hard link, at once with all that is in the file, which file systems that several machines share (NFS)
also guarantee. Surveys that are no longer in force become empty files, so that no name is made twice.
"""

from __future__ import annotations

import os
from pathlib import Path
from uuid import uuid4

from qrowd.errors import FileError

SURVEY, SURVEYS = "survey.json", "surveys"


def newest_survey(folder: Path) -> tuple[int, Path]:
    """(number, file) of the survey that is in force; number 0 also where there is none."""
    try:
        names = os.listdir(folder / SURVEYS)
    except (FileNotFoundError, NotADirectoryError):
        names = []
    numbers = [int(stem) for name in names if name.endswith(".json") and (stem := name[: -len(".json")]).isdecimal()]
    number = max(numbers, default=0)
    return number, _path(folder, number)


def read_newest(folder: Path) -> tuple[int, str]:
    """(number, text) of the survey that is in force.

    Raises
    ------
    OSError, UnicodeError
        It is not there, or cannot be read.
    """
    while True:
        number, path = newest_survey(folder)
        try:
            text = path.read_text("utf-8")
        except OSError:  # which may have been replaced meanwhile
            if newest_survey(folder)[0] == number:
                raise
            continue
        if text or newest_survey(folder)[0] == number:
            return number, text


def survey_state(folder: Path) -> tuple[int, int]:
    """(number, time of the last change) of the survey that is in force: another state is another survey.

    Raises
    ------
    OSError
        There is none.
    """
    number, path = newest_survey(folder)
    return number, path.stat().st_mtime_ns


def put_in_force(written: Path, folder: Path, number: int) -> bool:
    """Make a file the survey of this number, at once; False where there is one of this number already.

    written : the complete file, in the same file system. Earlier surveys become empty.

    Raises
    ------
    FileError
        The folder cannot be written to.
    """
    target = _path(folder, number)
    try:
        target.parent.mkdir(exist_ok=True)
        try:
            os.link(written, target)
        except FileExistsError:
            # Over NFS an answer may be lost, and the question that is asked again finds what it made itself.
            if not os.path.samefile(written, target):
                return False
        except OSError:  # a file system without hard links
            if not _renamed(written, target):
                return False
    except OSError as error:
        raise FileError(target, f"cannot be written: {(error.strerror or str(error)).lower()}") from None
    _empty(_path(folder, number - 1))
    return True


def _path(folder: Path, number: int) -> Path:
    return folder / SURVEYS / f"{number}.json" if number else folder / SURVEY


def _renamed(written: Path, target: Path) -> bool:
    """Rename a file to a name that nothing has; a folder, which can be made once, keeps others from the same name."""
    claim = target.with_name(f"{target.stem}.claimed")
    try:
        claim.mkdir()
    except FileExistsError:
        if target.exists():
            return False
        raise FileError(
            target, f"another process is writing it; if none is, which was killed meanwhile, remove {claim}"
        ) from None
    try:
        if target.exists():
            return False
        written.rename(target)
        return True
    finally:
        claim.rmdir()


def _empty(path: Path) -> None:
    """Put an empty file in the place of one that others may be reading."""
    beside = path.with_name(f".{path.name}.{uuid4().hex}")
    try:
        beside.touch()
        beside.replace(path)
    except OSError:
        beside.unlink(missing_ok=True)  # it only takes space
