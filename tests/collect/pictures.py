"""Small pictures made without a library, to stand for images of pages."""

import struct
import zlib


def png(width: int = 4, height: int = 3, shade: int = 200) -> bytes:
    """A PNG of grey stripes, as a page of text looks from afar."""
    blank = b"\x00" + b"\xff" * width
    line = b"\x00" + bytes(shade if 20 <= x < width - 20 else 255 for x in range(width))
    rows = b"".join(blank if y % 24 < 12 else line for y in range(height))

    def part(name: bytes, content: bytes) -> bytes:
        return struct.pack(">I", len(content)) + name + content + struct.pack(">I", zlib.crc32(name + content))

    head = struct.pack(">IIBBBBB", width, height, 8, 0, 0, 0, 0)
    return b"\x89PNG\r\n\x1a\n" + part(b"IHDR", head) + part(b"IDAT", zlib.compress(rows)) + part(b"IEND", b"")
