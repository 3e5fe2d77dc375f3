"""Markdown tables from .ci/bench's figures: medians over the rounds, and the
median of each round's ratio to wget2 in the same round."""
import sys
from collections import defaultdict
from statistics import median

with open(sys.argv[1]) as f:
    names = f.readline().split()
    rows = [dict(zip(names, line.split())) for line in f]

sites = defaultdict(lambda: defaultdict(dict))
for r in rows:
    n = {k: float(v) for k, v in r.items() if k not in ("site", "tool")}
    n["rate"] = n["pages"] / max(n["wall"], 0.01)
    n["cpu"] = (n["user"] + n["sys"]) * 1000 / max(n["pages"], 1)
    sites[r["site"]][r["tool"]][r["round"]] = n

for site, tools in sites.items():
    print(f"\n### {site}\n")
    print("| tool | pages | duplicates | pages/s | × wget2 | CPU ms a page | × wget2 | peak memory MB | on disk MB |")
    print("|---|--:|--:|--:|--:|--:|--:|--:|--:|")
    for tool, rounds in tools.items():
        def mid(key):
            return median(n[key] for n in rounds.values())

        def ratio(key):
            base = tools.get("wget2", {})
            both = [rounds[i][key] / base[i][key] for i in rounds if i in base and base[i][key]]
            return f"{median(both):.2f}" if both else "-"

        print(f"| {tool} | {mid('pages'):.0f} | {mid('duplicates'):.0f} | {mid('rate'):.0f} | {ratio('rate')} "
              f"| {mid('cpu'):.3f} | {ratio('cpu')} | {mid('kb') / 1024:.0f} | {mid('disk') / 1e6:.1f} |")
