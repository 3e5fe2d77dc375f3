package importer

import (
	"archive/zip"
	"bufio"
	"encoding/json"
	"io"
)

// maxPackage bounds, in octets, what is read of datapackage.json and of pages.jsonl.
const maxPackage = 4 << 20

// firstPageOf returns the main page of a WACZ: mainPageUrl of datapackage.json, else the first page of
// pages/pages.jsonl.
func firstPageOf(z *zip.Reader) string {
	var p struct {
		MainPageURL  string `json:"mainPageUrl"`
		MainPageURL1 string `json:"mainPageURL"` // spelling in WACZ 1.0
	}
	if f, err := z.Open("datapackage.json"); err == nil {
		_ = json.NewDecoder(io.LimitReader(f, maxPackage)).Decode(&p)
		f.Close()
	}
	if p.MainPageURL+p.MainPageURL1 != "" {
		return p.MainPageURL + p.MainPageURL1
	}
	f, err := z.Open("pages/pages.jsonl")
	if err != nil {
		return ""
	}
	defer f.Close()
	lines := bufio.NewScanner(io.LimitReader(f, maxPackage))
	lines.Buffer(nil, maxPackage)
	for range 3 { // a header and some pages
		if !lines.Scan() {
			break
		}
		var page struct{ URL string }
		if json.Unmarshal(lines.Bytes(), &page) == nil && page.URL != "" {
			return page.URL
		}
	}
	return ""
}
