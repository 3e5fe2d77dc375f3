package mirror

import (
	"bytes"
	"sync"

	"curtsy/htmlmeta"
	"curtsy/internal/weburl"
)

// maxSprites is the most sprites cached: sites have one or two that every page uses.
const maxSprites = 32

// sprites caches the markup of SVG files that pages inline.
type sprites struct {
	mu   sync.Mutex
	made map[string]sprite // by URL and prefix
}

type sprite struct {
	markup string
	base   weburl.URL // base URL of its references, after redirects
}

// sprite returns the markup of an SVG file of which a page uses parts; "" if there is none.
func (w *writer) sprite(u weburl.URL, prefix string) (markup string, base weburl.URL) {
	key := prefix + " " + u.String()
	w.sprites.mu.Lock()
	s, ok := w.sprites.made[key]
	w.sprites.mu.Unlock()
	if ok {
		return s.markup, s.base
	}
	s = w.readSprite(u, prefix)
	w.sprites.mu.Lock()
	defer w.sprites.mu.Unlock()
	if len(w.sprites.made) < maxSprites {
		w.sprites.made[key] = s
	}
	return s.markup, s.base
}

func (w *writer) readSprite(u weburl.URL, prefix string) sprite {
	e, _ := w.s.target(w.s.find(u), "")
	if e == nil || e.typ() != typeSVG {
		return sprite{}
	}
	v, err := w.visit(e)
	if err != nil {
		return sprite{}
	}
	body, _, err := w.read(e, v, new(bytes.Buffer), htmlmeta.MaxSprite)
	if err != nil {
		return sprite{}
	}
	return sprite{htmlmeta.Sprite(body, prefix), e.url}
}
