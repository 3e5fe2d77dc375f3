package changes

import (
	"cmp"
	"context"
	"errors"

	"curtsy/storage"
	"curtsy/storage/crawllog"
)

// Copies returns the visits of a URL that hold a copy of it: no errors, no suspect answers and
// no 304 answers.
func Copies(visits []*crawllog.Visit) (list []*crawllog.Visit) {
	for _, v := range visits {
		if v.IsCopy() && crawllog.StandingOf(v, nil).Rank >= crawllog.Limited {
			list = append(list, v)
		}
	}
	return list
}

// LastPair returns the last two successive copies that differ; nil if there are
// none.
func LastPair(visits []*crawllog.Visit) (was, now *crawllog.Visit) {
	copies := Copies(visits)
	for i := len(copies) - 1; i > 0; i-- {
		if copies[i].Differs(copies[i-1]) {
			return copies[i-1], copies[i]
		}
	}
	return nil, nil
}

// ErrNoText means that a copy has a media type whose text is not compared.
var ErrNoText = errors.New("not a text")

// Copy is a copy of a page and the archive that holds it.
type Copy struct {
	Archive *storage.Archive
	Visit   *crawllog.Visit
}

// Compare returns all passages in which the texts of two copies differ, including noise, which
// only a comparison of many pages can detect. It returns ErrNoText for images and the like, and
// stops between passages when ctx ends.
func Compare(ctx context.Context, was, now Copy) ([]Passage, error) {
	if !isPage(was.Visit) || !isPage(now.Visit) {
		return nil, ErrNoText
	}
	places, err := diffOf(was, now)
	if err = cmp.Or(err, ctx.Err()); err != nil {
		return nil, err
	}
	list := []Passage{}
	for _, p := range places {
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		list = append(list, passageOf(p.was, p.now))
	}
	return list, nil
}
