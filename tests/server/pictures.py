"""Small pictures made without a library, to stand for images of pages."""

import os
import struct
import zlib

from qrowd_server.campaigns.plan.pdf import Pdf


def png(width: int = 4, height: int = 3, shade: int = 200) -> bytes:
    """A PNG of grey stripes, as a page of text looks from afar."""
    blank = b"\x00" + b"\xff" * width
    line = b"\x00" + bytes(shade if 20 <= x < width - 20 else 255 for x in range(width))
    rows = b"".join(blank if y % 24 < 12 else line for y in range(height))

    def part(name: bytes, content: bytes) -> bytes:
        return struct.pack(">I", len(content)) + name + content + struct.pack(">I", zlib.crc32(name + content))

    head = struct.pack(">IIBBBBB", width, height, 8, 0, 0, 0, 0)
    return b"\x89PNG\r\n\x1a\n" + part(b"IHDR", head) + part(b"IDAT", zlib.compress(rows)) + part(b"IEND", b"")


def pdf(*pages: str) -> bytes:
    """A PDF with one line of Helvetica for each line of a page's text."""
    kids = " ".join(f"{4 + 2 * i} 0 R" for i in range(len(pages)))
    objects = [
        "<< /Type /Catalog /Pages 2 0 R >>",
        f"<< /Type /Pages /Kids [{kids}] /Count {len(pages)} >>",
        "<< /Type /Font /Subtype /Type1 /BaseFont /Helvetica >>",
    ]
    for i, text in enumerate(pages):
        fonts = "/MediaBox [0 0 595 842] /Resources << /Font << /F1 3 0 R >> >>"
        objects.append(f"<< /Type /Page /Parent 2 0 R {fonts} /Contents {5 + 2 * i} 0 R >>")
        stream = f"BT /F1 14 Tf 72 770 Td {''.join(f'({line}) Tj 0 -18 Td ' for line in text.splitlines())}ET"
        objects.append(f"<< /Length {len(stream)} >>\nstream\n{stream}\nendstream")
    content, places = "%PDF-1.4\n", []
    for number, one in enumerate(objects, start=1):
        places.append(f"{len(content):010d} 00000 n \n")
        content += f"{number} 0 obj\n{one}\nendobj\n"
    table = f"xref\n0 {len(objects) + 1}\n0000000000 65535 f \n{''.join(places)}"
    trailer = f"trailer << /Size {len(objects) + 1} /Root 1 0 R >>\nstartxref\n{len(content)}\n%%EOF"
    return (content + table + trailer).encode()


def endless(content: bytes) -> Pdf:
    """In place of `render`: never ends for a PDF that says endless, else a secret of the environment."""
    while b"(endless)" in content:
        pass
    return Pdf((), os.environ.get("QROWD_DATABASE", "no secret"))
