"""Photograph the assessors' pages for docs/judging_pages.md: light, on a phone, and dark where the page shows it.

`python docs/photograph.py` writes docs/images/judging anew; it needs chromium on PATH and the packages of the tests.
`python docs/photograph.py magnitude pair` photographs only these pages.
"""

from __future__ import annotations

import re
import sys
import tempfile
from pathlib import Path

from PIL import Image

DOCS = Path(__file__).resolve().parent
IMAGES = DOCS / "images" / "judging"
COMMON, RARE = 48, 64  # colours of each picture: the most frequent as they are, and what covers the rest
WIDEST, NARROWEST = 1000, 585  # pixels, of a picture that is wider than high, and of one that is not


def pictures_of_the_docs() -> tuple[str, ...]:
    """The pictures that docs/judging_pages.md shows, in their order."""
    text = (DOCS / "judging_pages.md").read_text()
    return tuple(dict.fromkeys(re.findall(r"images/judging/(\S+?\.png)", text)))


def compress(picture: Path, where: Path) -> int:
    """The picture with few colours, not wider than a page of the docs; its bytes."""
    with Image.open(picture) as full:
        image = full.convert("RGB")
    widest = WIDEST if image.width > image.height else NARROWEST
    if image.width > widest:
        image = image.resize((widest, round(image.height * widest / image.width)), Image.Resampling.LANCZOS)
    frequent = sorted(image.getcolors(image.width * image.height) or (), reverse=True)[:COMMON]
    rest = image.quantize(RARE, method=Image.Quantize.MAXCOVERAGE).getpalette() or []
    palette = Image.new("P", (1, 1))
    palette.putpalette([part for _, colour in frequent for part in colour] + rest[: 3 * RARE])
    image.quantize(palette=palette, dither=Image.Dither.NONE).save(where, optimize=True)
    return where.stat().st_size


def main(names: tuple[str, ...]) -> None:
    sys.path.insert(0, str(DOCS.parent / "tests"))
    from server.web.gallery import photograph

    IMAGES.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory() as folder:
        shown = pictures_of_the_docs()
        pages = names or tuple(dict.fromkeys(name.rpartition("-")[0] for name in shown))
        pictures = [picture for picture in photograph(Path(folder), pages) if picture.name in shown]
        size = sum(compress(picture, IMAGES / picture.name) for picture in pictures)
    print(f"{len(pictures)} pictures, {size / 1e6:.2f} MB")


if __name__ == "__main__":
    main(tuple(sys.argv[1:]))
