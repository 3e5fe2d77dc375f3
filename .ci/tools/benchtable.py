"""Markdown tables from .ci/bench's figures: medians over the rounds, and each round's ratio to
what the job is measured against in the same round, as median and as its worst (least pages/s,
most processor time)."""
import sys
from collections import defaultdict
from statistics import median

with open(sys.argv[1]) as f:
    names = f.readline().split()
    rows = [dict(zip(names, line.split())) for line in f]

# What a job is measured against, where that is not wget2's crawl.
AGAINST = {"offline": "wget2-offline"} | dict.fromkeys(("curtsy", "report", "links", "search", "update"), "bare")
WORDS = ("site", "store", "mode", "tool")
cases = defaultdict(lambda: defaultdict(dict))
for r in rows:
    n = {k: float(v) for k, v in r.items() if k not in WORDS}
    n["rate"] = n["pages"] / max(n["wall"], 0.01)
    n["cpu"] = (n["user"] + n["sys"]) * 1000 / max(n["pages"], 1)
    cases[r["site"], r["store"], r["mode"]][r["tool"]][r["round"]] = n

STORES = {"shm": "in memory (/dev/shm)", "disk": "on disk"}
for (site, store, mode), tools in cases.items():
    print(f"\n### {site}, {mode}, {STORES.get(store, store)}\n")
    print("| tool | pages | requests again | CPU ms a page | against | × its CPU (worst) | pages/s | × its (worst) | peak memory MB | on disk MB |")
    print("|---|--:|--:|--:|---|--:|--:|--:|--:|--:|")
    for tool, rounds in tools.items():
        against = AGAINST.get(tool, "wget2")
        base = tools.get(against, {})

        def mid(key):
            return median(n[key] for n in rounds.values())

        def ratio(key, worst):
            both = [n[key] / base[i][key] for i, n in rounds.items() if i in base and base[i][key]]
            return f"{median(both):.2f} ({worst(both):.2f})" if both else "-"

        print(f"| {tool} | {mid('pages'):.0f} | {mid('duplicates'):.0f} | {mid('cpu'):.3f} | {against} | {ratio('cpu', max)} "
              f"| {mid('rate'):.0f} | {ratio('rate', min)} | {max(n['kb'] for n in rounds.values()) / 1024:.0f} | {mid('disk') / 1e6:.1f} |")
