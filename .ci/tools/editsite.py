"""Edits a copy of a site: noise on every page, and a real change on some.
   editsite.py DIR VERSION EDITS: writes DIR's pages with the noise of the version, and in
   version 2 a real change on EDITS of them, whose paths it prints."""
import pathlib
import random
import sys

root, version, edits = pathlib.Path(sys.argv[1]), int(sys.argv[2]), int(sys.argv[3])
chance = random.Random(version)
ADS = ["Buy two elephants and get one free.", "The finest ink in town.", "Tired of tables? Try chairs.", "Hats, caps, bonnets.",
       "Learn to whistle in nine days.", "Your roof, our business.", "Cheese for every occasion."]
pages = sorted(root.rglob("*.html"))
changed = set(random.Random(7).sample(range(len(pages)), edits)) if version > 1 else set()
for i, page in enumerate(pages):
    text = page.with_suffix(".orig")
    if not text.exists():
        page.rename(text)
    html = text.read_bytes()
    if i in changed:
        # in the middle of a paragraph, or as a new one where there is none
        cut = html.find(b"</p>", len(html) // 3)
        sentence = b" This sentence about version %d of page %d is new." % (version, i)
        html = html[:cut] + sentence + html[cut:] if cut > 0 else html.replace(b"</body>", b"<p>" + sentence + b"</p></body>", 1)
        print("/" + str(page.relative_to(root)))
    noise = ("<p>Generated on %d %s 2026 at %02d:%02d:%02d.</p><p>You are visitor number %d.</p><div>Advertisement: %s</div><p>Request %016x</p>" % (
        chance.randint(1, 28), chance.choice(["January", "May", "Oct"]), chance.randint(0, 23), chance.randint(0, 59), chance.randint(0, 59),
        chance.randint(1, 10**7), chance.choice(ADS), chance.getrandbits(64))).encode()
    page.write_bytes(html.replace(b"</body>", noise + b"</body>", 1))
