#!/usr/bin/env python3
"""copyrow.py NAME RIGHT JUDGE LIVE HELD GUESSES THERE: a row of the table of sites made by scripts, of what
copycheck.mjs and mirror --check --browser --json have written."""
import json
import sys

name, right, judge, live, held, guesses, there = sys.argv[1:]
r = json.load(open(right))
b = json.load(open(judge))["browser"]
ways = [r[w] for w in ("disk", "served", "replay")]
n = r["opened"]


def each(f):
    return "·".join(f(w) for w in ways)


def of(part, whole):
    return f"{part}/{whole}" if whole else "-"


search = each(lambda w: {True: "yes", False: "no", None: "-"}[w["search"]])
form = "the disk" if b["disk"] == b["opened"] else f"served ({b['disk']} of {b['opened']} from the disk)" if not b["none"] else f"{b['none']} of {b['opened']} in none"
print("|", name, "|", f"{held}/{live}", "|", n, "|", each(lambda w: str(w["right"])), "|", each(lambda w: of(w["arrive"], w["clicks"])), "|",
      each(lambda w: of(w["work"], w["buttons"])) if ways[0]["buttons"] else "-", "|", "-" if search == "-·-·-" else search, "|",
      each(lambda w: str(w["failed"])), "|", r["asked"], "|", guesses, "|", int(guesses) - int(there), "|", form, "|",
      r.get("wget2", {}).get("right", "-"), "|", r.get("HTTrack", {}).get("right", "-"), "|")
