package mirror

import (
	"sync"

	"curtsy/htmlmeta"
	"curtsy/internal/weburl"
)

// maxSprites bounds how many sprites are remembered: sites have one or two,
// and every page uses them.
const maxSprites = 32

// sprites remembers the markup of SVG files that pages take in.
type sprites struct {
	mu   sync.Mutex
	made map[string]string // URL and prefix → markup
}

// sprite is the markup of an SVG file that a page uses parts of; "" if there
// is none.
func (w *writer) sprite(u weburl.URL, prefix string) string {
	key := prefix + " " + u.String()
	w.sprites.mu.Lock()
	markup, ok := w.sprites.made[key]
	w.sprites.mu.Unlock()
	if ok {
		return markup
	}
	markup = w.readSprite(u, prefix)
	w.sprites.mu.Lock()
	defer w.sprites.mu.Unlock()
	if len(w.sprites.made) < maxSprites {
		w.sprites.made[key] = markup
	}
	return markup
}

func (w *writer) readSprite(u weburl.URL, prefix string) string {
	i := w.s.find(u)
	if i < 0 {
		return ""
	}
	e := &w.s.list[i]
	if e.state == moved && e.final >= 0 {
		e = &w.s.list[e.final]
	}
	if e.state != kept || e.typ != typeSVG {
		return ""
	}
	body, _, _, err := w.read(e, htmlmeta.MaxSprite)
	if err != nil {
		return ""
	}
	return htmlmeta.Sprite(body, prefix)
}
