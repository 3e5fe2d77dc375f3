package cli

import (
	"context"
	"fmt"
	"log/slog"
	"strings"
)

// peopleHandler writes what is logged as a line for people: "what happened:
// key value, key value".
type peopleHandler struct {
	u     *ui
	level slog.Level
}

func (h peopleHandler) Enabled(_ context.Context, l slog.Level) bool { return l >= h.level }

func (h peopleHandler) Handle(_ context.Context, r slog.Record) error {
	var parts []string
	r.Attrs(func(a slog.Attr) bool {
		parts = append(parts, fmt.Sprintf("%s %v", a.Key, a.Value))
		return true
	})
	text := r.Message
	if len(parts) > 0 {
		text += ": " + strings.Join(parts, ", ")
	}
	h.u.tell("%s", text)
	return nil
}

// WithAttrs and WithGroup are not used by the crawl: what they add is left out.
func (h peopleHandler) WithAttrs([]slog.Attr) slog.Handler { return h }
func (h peopleHandler) WithGroup(string) slog.Handler      { return h }
