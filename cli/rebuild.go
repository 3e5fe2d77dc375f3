package cli

import (
	"encoding/json"
	"errors"
	"fmt"
	"strings"

	"curtsy/crawler"
	"curtsy/crawler/rebuild"
	"curtsy/crawler/verify"
	"curtsy/internal/weburl"
	"curtsy/storage"
)

// repairArchive takes out what is damaged; an index that cannot be read is
// made anew.
func repairArchive(u *ui, dir string) error {
	done, err := verify.Repair(dir, u.logger(false))
	var damage *storage.DamageError
	if errors.As(err, &damage) && damage.Index() || errors.Is(err, storage.ErrOld) {
		return rebuildIndex(u, dir, err)
	}
	if err != nil {
		return archiveError(err, dir)
	}
	for _, line := range done {
		u.say("%s", line)
	}
	return nil
}

func rebuildIndex(u *ui, dir string, damage error) error {
	seed, c, note, err := rememberedBySegments(dir)
	if err != nil {
		return archiveError(errors.Join(damage, err), dir)
	}
	o, err := offlineOptions(&c, seed, u.logger(false))
	if err != nil {
		return err
	}
	u.say("%v", damage)
	if note != "" {
		u.say("%s", note)
	}
	d, err := rebuild.Archive(dir, o)
	if errors.Is(err, storage.ErrNoSegments) {
		return archiveError(damage, dir)
	}
	if err != nil {
		return archiveError(err, dir)
	}
	for _, p := range d.Problems {
		u.say("%s at %d: %s %s", p.File, p.Offset, p.What, p.URL)
	}
	for _, line := range d.Said {
		u.say("%s", line)
	}
	u.say("to continue: curtsy resume %s", quoted(dir))
	return nil
}

// rememberedBySegments is seed and settings of an archive whose index is lost:
// of the index all the same, if that much of it can be read, else of the
// newest segment, else a guess. note is what a person should know of them.
func rememberedBySegments(dir string) (seed weburl.URL, c config, note string, err error) {
	if seed, c, err = remembered(dir); err == nil {
		return seed, c, "", nil
	}
	c = defaults()
	info, ok := storage.LastInfo(dir)
	if !ok {
		return seed, c, "", storage.ErrNoSegments
	}
	told := crawler.SegmentInfo{Settings: &c}
	if err := json.Unmarshal(info.Crawl, &told); err == nil {
		if seed, err = weburl.Parse(told.Seed); err == nil {
			return seed, c, fmt.Sprintf("seed and settings were read from %s; segments do not record fetch.proxy "+
				"and fetch.header, so give them to curtsy resume again", info.Segment), nil
		}
	}
	if seed, ok = verify.FirstSeed(dir); !ok {
		return seed, c, "", fmt.Errorf("%s: no segment holds a page to start from", dir)
	}
	c.Contact = info.Operator
	if dialect, ok := strings.CutPrefix(info.Robots, "obeyed ("); ok {
		c.Politeness.Dialect, _, _ = strings.Cut(dialect, ")")
	}
	return seed, c, fmt.Sprintf("no segment records the seed or settings: the seed is taken to be %s, the first page fetched,"+
		" and all settings are the defaults; give yours to curtsy resume", seed), nil
}

// public is what of the settings may stand in segments, which are handed on:
// no password, no header that may hold one, no place on this machine.
func (c *config) public() config {
	p := *c
	p.Archive, p.Fetch.Proxy, p.Fetch.Header = "", "", nil
	return p
}
