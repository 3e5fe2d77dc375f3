#!/usr/bin/env python3
"""apptables.py ROWS NAME...: the tables of docs/applications.md of the rows that .ci/applications has kept, one line
an application; "apptables.py ROWS --scripts NAME..." that of the sites made by scripts."""
import sys
from pathlib import Path

PROGRAMS = ["Curtsy", "wget", "wget2", "HTTrack"]
rows, names = Path(sys.argv[1]), sys.argv[2:]


def cells(path):
    if not path.is_file():
        return []
    return [[c.strip() for c in line.strip().strip("|").split("|")] for line in path.open() if line.strip()]


def line(*columns):
    print("|", " | ".join(columns), "|")


def programs():
    opened = guesses = there = asked = 0
    for name in names:
        of = {row[1]: row for row in cells(rows / name)}
        if not of:
            continue

        def each(figure):
            return "·".join(figure(of[p]) if p in of else "–" for p in PROGRAMS)

        skipped = of["Curtsy"][8].split(": ")[-1].split(", ") if "Curtsy" in of else []
        skipped = ", ".join(s for s in skipped if s.split(" ")[-1] not in ("-", "no-sitemap", "no-usage-file", "probe", "host", "http"))
        line(name, next(iter(of.values()))[2], each(lambda r: r[3] + "*" * ("cut off" in r[8])),
             each(lambda r: r[4] or "–"), each(lambda r: r[5].split("/")[2]), each(lambda r: r[6]), skipped)
        for row in [] if (rows / f"{name}.right").is_file() else cells(rows / f"{name}.asks"):
            opened, asked, guesses, there = opened + int(row[1]), asked + int(row[2]), guesses + int(row[3]), there + int(row[4])
    print(f"\nOf Curtsy's copies of the applications that the second table does not have, up to 200 pages each were opened, {opened:,} "
          f"in all: they made {asked} requests for the live site. Of {guesses} names in their scripts that were asked for as they may be "
          f"URLs of the site, {there} were there.")


def scripts():
    live = guesses = wasted = 0
    for name in names:
        for row in cells(rows / f"{name}.right"):
            live, guesses, wasted = live + int(row[8]), guesses + int(row[9]), wasted + int(row[10])
            line(name, row[1], f"{row[3]} of {row[2]}", *row[4:8], *row[11:])
    print(f"\nThe pages of these copies made {live} requests for the live site. Of {guesses} names in scripts that were asked for "
          f"{wasted} were not there.")


if names[:1] == ["--scripts"]:
    names = names[1:]
    scripts()
else:
    programs()
