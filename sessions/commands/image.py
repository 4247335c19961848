"""The commands `image BUFFER 128x96` and `origin BUFFER[17]`: a buffer as a picture; how an element got its value."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

import numpy as np

from rfview.engine import files
from rfview.engine.errors import InputError
from rfview.sessions.commands.arguments import needed
from rfview.sessions.commands.verb import Answer, verb
from rfview.sessions.session import Session

if TYPE_CHECKING:
    from rfview.sessions.pictures.origin import Link
    from rfview.sessions.pictures.picture import Picture

INK = " ░▒▓█"
COLUMNS = 64        # columns of each of the two panes of text
ELEMENT = re.compile(r"(?P<name>[A-Za-z_$][\w$.]*)\[(?P<index>\d{1,12})\]\Z")


@verb("image", signature="BUFFER [WIDTHxHEIGHT] [> FILE.png]",
      help="a buffer as a picture: on edram exact, approximate and error, elsewhere start, now and changed")
def _image(session: Session, text: str) -> Answer:
    what, arrow, name = needed(text, "image").partition(">")
    words = what.split()
    if not 1 <= len(words) <= 2 or (arrow and not name.strip()):
        raise InputError(f"image {text}: expected `image BUFFER WIDTHxHEIGHT`, as in `image out 128x128`, and "
                         "`> FILE.png` to write it")
    from rfview.sessions.pictures.picture import picture        # start-up: most sessions show none

    image = picture(session, words[0], words[1] if len(words) > 1 else "")
    data = image.data()
    if arrow:
        data["png"] = write_png(image, name.strip())
    return Answer(picture_text(image) + (f"\nwritten: {data['png']}" if arrow else ""), {"image": data})


def write_png(image: Picture, name: str) -> str:
    """Write all panes of a picture as PNG; return the file's name. Raises InputError."""
    if not name.lower().endswith(".png"):
        raise InputError(f"image {name}: expected a name that ends in .png")
    from rfview.sessions.pictures.png import encode     # start-up, as above

    files.write(name, encode(image))
    return name


@verb("origin", signature="BUFFER[INDEX]",
      help="which store wrote an element and, where it is wrong on edram, which lost bits made it wrong")
def _origin(session: Session, text: str) -> Answer:
    match = ELEMENT.match(needed(text, "origin"))
    if match is None:
        raise InputError(f"origin {text}: expected an element of a buffer, as in `origin out[6446]`")
    from rfview.sessions.pictures.origin import origin      # start-up, as above

    links = origin(session, match["name"], int(match["index"]))
    return Answer(origin_text(links), {"cycle": session.cycle, "origin": [link.data() for link in links]})


def origin_text(links: list[Link]) -> str:
    """Return the links as lines of text."""
    lines = []
    for number, link in enumerate(links, 1):
        when = f" at {link.cycle:,}" if link.cycle >= 0 else ""
        lines.append(f"{number:>2} {link.sentence}{when}" + (f"   {link.evidence}" if link.evidence else ""))
    return "\n".join(lines)


def facts(image: Picture) -> str:
    """Return the summary of a picture in one line."""
    data = image.data()
    if not image.is_right:
        return f"changed {data['wrong']:,} of {data['pixels']:,} pixels since the start"
    parts = [f"wrong {data['wrong']:,} of {data['settled']:,} pixels"
             + ("" if data["settled"] == data["pixels"] else f" that are final, {data['pixels']:,} in all")]
    if "worst" in data:
        x, y = data["worst_at"]
        parts.append(f"worst {data['worst']:.6g} at {x}, {y}" if isinstance(data["worst"], float) else f"worst at {x}, {y}")
    if "rmse" in data:
        parts.append(f"RMSE {data['rmse']:.3g}")
        parts += [f"PSNR {data['psnr']:.1f} dB"] if data["psnr"] is not None else []
    return "   ".join([*parts, f"bits lost {image.bits_lost:,}"])


def picture_text(image: Picture) -> str:
    """Return the picture and its differences as characters, each row two pixels high."""
    from rfview.sessions.pictures.png import blocks, depths, scale, shares      # start-up, as above

    low, high = scale(image)
    step = max(1, -(-image.width // COLUMNS))
    now = blocks(shares(image.now, low, high), 2 * step, step, np.mean)
    error = blocks(depths(image), 2 * step, step, np.max)
    lines = [f"{image.name}  {image.width} x {image.height}, at {image.cycle:,}; black {low:.4g}, white {high:.4g}",
             facts(image), f"{'approximate' if image.is_right else 'now':<{now.shape[1] + 3}}"
                           f"{'error, log' if image.is_right else 'changed, log'}"]
    for values, wrong in zip(now.tolist(), error.tolist(), strict=True):
        left = "".join(INK[min(4, int(share * 5))] for share in values)
        right = "".join(" " if depth < 0 else INK[1 + min(3, int(depth * 4))] for depth in wrong)
        lines.append(f"{left}   {right}".rstrip())
    return "\n".join(lines)
