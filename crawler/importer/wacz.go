package importer

import (
	"archive/zip"
	"bufio"
	"encoding/json"
	"io"
)

// maxPackage bounds what is read of the descriptions in a WACZ.
const maxPackage = 4 << 20

// firstPageOf is the page that a WACZ opens with: mainPageUrl of datapackage.json, else the
// first of pages/pages.jsonl.
func firstPageOf(z *zip.Reader) string {
	var p struct {
		MainPageURL  string `json:"mainPageUrl"`
		MainPageURL1 string `json:"mainPageURL"` // as the text of 1.0 had it
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
	for range 3 { // a header, and pages
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
