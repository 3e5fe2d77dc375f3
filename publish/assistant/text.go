package assistant

import (
	"context"
	"fmt"
	"strings"

	"curtsy/publish"
	"curtsy/publish/markdown"
)

// Limits of a page, in octets.
const (
	maxText = 1 << 20
	maxPart = 8 << 10 // of one answer
)

// textOf returns the text of a page as Markdown.
func (s *server) textOf(ctx context.Context, p *page) (string, error) {
	about, err := publish.ReadPage(p.Archive, p.visit)
	if about.Header == nil || publish.IsOfArchive(err) {
		return "", err
	}
	text := ""
	if s.o.PDF != nil && strings.HasPrefix(strings.ToLower(p.visit.ContentType), "application/pdf") {
		blocks, err := s.o.PDF(ctx, about.Body)
		if err != nil && len(blocks) == 0 {
			return "", err
		}
		text = markdown.Paragraphs(blocks)
	} else {
		text = s.text.Of(about, maxText)
	}
	if text == "" {
		return "", fmt.Errorf("%s: %w", p.visit.URL, errNoText)
	}
	return text, nil
}

// partsOf splits a text into parts of at most maxPart octets between paragraphs; a longer
// paragraph is a part of its own.
func partsOf(text string) (parts []string) {
	var b strings.Builder
	for paragraph := range strings.SplitSeq(text, "\n\n") {
		if b.Len() > 0 && b.Len()+len(paragraph) > maxPart {
			parts = append(parts, b.String())
			b.Reset()
		}
		if b.Len() > 0 {
			b.WriteString("\n\n")
		}
		b.WriteString(paragraph)
	}
	return append(parts, b.String())
}

// heading is a heading of a page.
type heading struct {
	Level int    `json:"level"`
	Text  string `json:"text"`
	Part  int    `json:"part"`
}

// headingsOf lists the headings of the parts of a text, ignoring code blocks.
func headingsOf(parts []string) []heading {
	list := []heading{}
	inCode := false
	for i, part := range parts {
		for line := range strings.Lines(part) {
			if strings.HasPrefix(line, "```") || strings.HasPrefix(line, "~~~") {
				inCode = !inCode
			}
			level := len(line) - len(strings.TrimLeft(line, "#"))
			if text := strings.TrimSpace(line[level:]); !inCode && level > 0 && level < 7 &&
				line[level] == ' ' && text != "" {
				list = append(list, heading{level, text, i + 1})
			}
		}
	}
	return list
}
