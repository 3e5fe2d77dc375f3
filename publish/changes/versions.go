package changes

import (
	"cmp"
	"context"
	"errors"

	"curtsy/storage"
	"curtsy/storage/crawllog"
)

// Copies are those visits of a URL that hold a copy of it: neither errors, nor
// what was not taken for the page, nor answers that it is unchanged.
func Copies(visits []*crawllog.Visit) (list []*crawllog.Visit) {
	for _, v := range visits {
		if v.IsCopy() && crawllog.StandingOf(v, nil).Rank >= crawllog.Limited {
			list = append(list, v)
		}
	}
	return list
}

// LastPair are the last two copies of a URL that differ in their octets, nil
// where there are none.
func LastPair(visits []*crawllog.Visit) (was, now *crawllog.Visit) {
	copies := Copies(visits)
	for i := len(copies) - 1; i > 0; i-- {
		if copies[i].Digest != copies[i-1].Digest {
			return copies[i-1], copies[i]
		}
	}
	return nil, nil
}

// ErrNoText says that a copy is not of a type whose text is compared.
var ErrNoText = errors.New("not a text")

// Copy is a copy of a page and the archive that holds it.
type Copy struct {
	Archive *storage.Archive
	Visit   *crawllog.Visit
}

// Compare gives all passages in which the texts of two copies differ: what is
// noise shows only over many pages. It returns ErrNoText for pictures and the like, and
// ends with ctx between one passage and the next.
func Compare(ctx context.Context, was, now Copy) ([]Passage, error) {
	if !isPage(was.Visit) || !isPage(now.Visit) {
		return nil, ErrNoText
	}
	d, err := diffOf(was, now)
	if err = cmp.Or(err, ctx.Err()); err != nil {
		return nil, err
	}
	list := []Passage{}
	for _, p := range d.passages {
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		list = append(list, passageOf(p.was, p.now))
	}
	return list, nil
}
