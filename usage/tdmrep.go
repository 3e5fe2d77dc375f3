package usage

import (
	"bytes"
	"encoding/json"
	"errors"
	"net/http"
	"strings"
)

// tdmRep reads the TDM Reservation Protocol (W3C Community Group report of 2024): its file
// (§6.1), its headers (§6.2) and its meta elements (§6.3), each of which supersedes the
// previous ones.
var tdmRep = &Reader{
	Name: "TDMRep", Headers: []string{"Tdm-Reservation", "Tdm-Policy"}, Header: tdmHeader, Meta: tdmMeta,
	File: "/.well-known/tdmrep.json", ReadFile: readTDMRep, Nearest: true,
}

// reservation parses a value of tdm-reservation. Values other than 0 and 1 are ignored.
func reservation(value, text string) []Statement {
	switch strings.TrimSpace(value) {
	case "1":
		return []Statement{{Category: TDM, Value: No, Text: text}}
	case "0":
		return []Statement{{Category: TDM, Value: Yes, Text: text}}
	}
	return nil
}

func policy(value, text string) []Statement {
	if value = strings.TrimSpace(value); value == "" {
		return nil
	}
	return []Statement{{Policy: bounded(value), Text: text}}
}

func tdmHeader(h http.Header) (said []Statement) {
	for line := range strings.SplitSeq(strings.Join(h["Tdm-Reservation"], ","), ",") {
		said = append(said, reservation(line, "tdm-reservation: "+line)...)
	}
	for _, line := range h["Tdm-Policy"] {
		said = append(said, policy(line, "tdm-policy: "+line)...)
	}
	return Bound(said)
}

func tdmMeta(name, content string) []Statement {
	switch name {
	case "tdm-reservation":
		return reservation(content, name+" "+content)
	case "tdm-policy":
		return policy(content, name+" "+content)
	}
	return nil
}

// tdmFile is the list of a tdmrep.json.
type tdmFile []tdmLocation

type tdmLocation struct {
	Location    string          `json:"location"`
	Reservation json.RawMessage `json:"tdm-reservation"`
	Policy      json.RawMessage `json:"tdm-policy"`
}

// Limits of the file, and of the patterns in it.
const (
	maxLocations = 10_000
	maxStars     = 100
)

var errTDMRep = errors.New("not a list of locations")

// readTDMRep parses the file. It ignores locations that are not objects.
func readTDMRep(body []byte) (File, error) {
	var list []json.RawMessage
	if err := json.Unmarshal(bytes.TrimPrefix(body, []byte("\xef\xbb\xbf")), &list); err != nil {
		return nil, errTDMRep
	}
	f := tdmFile{}
	for _, raw := range list[:min(len(list), maxLocations)] {
		var l tdmLocation
		if json.Unmarshal(raw, &l) == nil && l.Location != "" && strings.Count(l.Location, "*") <= maxStars {
			f = append(f, l)
		}
	}
	return f.says, nil
}

// says returns the statements of the first location that matches (§6.1.3).
func (f tdmFile) says(target string, matches func(pattern, target string) bool) []Statement {
	for _, l := range f {
		if !matches(l.Location, target) {
			continue
		}
		text := "location " + l.Location
		said := reservation(string(bytes.Trim(l.Reservation, `"`)), text)
		var url string
		if json.Unmarshal(l.Policy, &url) == nil {
			said = append(said, policy(url, text)...)
		}
		return said
	}
	return nil
}
