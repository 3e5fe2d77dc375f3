// Package icon makes an icon for an archived site.
package icon

import (
	"bytes"
	"crypto/sha256"
	"encoding/binary"
	"errors"
	"image"
	"image/color"
	_ "image/gif"  // formats of icons
	_ "image/jpeg" // formats of icons
	"image/png"
	"io"
	"slices"
	"strings"
	"time"

	_ "golang.org/x/image/bmp" // formats of icons
	"golang.org/x/image/draw"
	_ "golang.org/x/image/webp" // formats of icons

	"curtsy/internal/weburl"
	"curtsy/publish"
	"curtsy/storage"
)

// Size is the side of a picture, in pixels.
const Size = 48

// Limits: maxIcon is the most octets read of an icon, maxSide the longest side in pixels,
// maxIcons the most icons tried.
const (
	maxIcon  = 1 << 20
	maxSide  = 2048
	maxIcons = 16
)

// PNG returns an icon for an archived site as a PNG file of Size by Size pixels: the largest of
// its archived icons that may be shown and can be decoded, otherwise a pattern derived from the
// host. The image is re-encoded, so that it holds no octets of the site.
func PNG(a *storage.Archive, seed string, now time.Time) []byte {
	picture := largestIcon(a, seed, now)
	if picture == nil {
		u, _ := weburl.Parse(seed) // an invalid seed gets the pattern of ""
		picture = pattern(u.Host())
	}
	small := image.NewNRGBA(image.Rect(0, 0, Size, Size))
	draw.CatmullRom.Scale(small, fitted(picture.Bounds()), picture, picture.Bounds(), draw.Over, nil)
	var b bytes.Buffer
	_ = png.Encode(&b, small) // writing to a bytes.Buffer cannot fail
	return b.Bytes()
}

// fitted returns the largest centered rectangle of Size by Size pixels with the aspect ratio of
// b.
func fitted(b image.Rectangle) image.Rectangle {
	side := max(b.Dx(), b.Dy())
	w, h := max(1, Size*b.Dx()/side), max(1, Size*b.Dy()/side)
	x, y := (Size-w)/2, (Size-h)/2
	return image.Rect(x, y, x+w, y+h)
}

// largestIcon returns the widest icon; nil if none can be decoded.
func largestIcon(a *storage.Archive, seed string, now time.Time) (best image.Image) {
	urls := icons(a, seed)
	for _, url := range urls[:min(len(urls), maxIcons)] {
		if p := kept(a, url, now); p != nil && (best == nil || p.Bounds().Dx() > best.Bounds().Dx()) {
			best = p
		}
	}
	return best
}

// icons lists the URLs of /favicon.ico and of the icons that a page names (HTML, "Link type
// icon").
func icons(a *storage.Archive, page string) (urls []string) {
	if u, err := weburl.Parse(page); err == nil {
		urls = append(urls, u.Origin()+"/favicon.ico")
	}
	v := publish.LedTo(page, a.VisitsAt)
	if v == nil {
		return urls
	}
	links, _ := publish.Links(a, v) // icons that cannot be read are skipped
	for _, l := range links {
		if slices.ContainsFunc(strings.Fields(l.Rel), func(r string) bool { return strings.HasSuffix(r, "icon") }) {
			urls = append(urls, l.URL.String())
		}
	}
	return urls
}

// kept returns the image archived at a URL; nil if there is none that may be shown.
func kept(a *storage.Archive, url string, now time.Time) image.Image {
	v, permit := publish.CurrentPermit(a.VisitsAt(url), now, a.VisitsAt)
	if !permit.Show {
		return nil
	}
	f, err := publish.OpenBody(a, v)
	if err != nil {
		return nil
	}
	defer f.Close()
	b, err := io.ReadAll(io.LimitReader(f, maxIcon))
	if err != nil {
		return nil
	}
	p, _ := decode(b)
	return p
}

// decode decodes an image of at most maxSide pixels a side.
func decode(b []byte) (image.Image, error) {
	if bytes.HasPrefix(b, []byte("\x00\x00\x01\x00")) {
		b = largest(b)
	}
	c, _, err := image.DecodeConfig(bytes.NewReader(b))
	if err != nil || c.Width < 1 || c.Height < 1 || c.Width > maxSide || c.Height > maxSide {
		return nil, errors.Join(err, image.ErrFormat)
	}
	p, _, err := image.Decode(bytes.NewReader(b))
	return p, err
}

// largest extracts the largest image of an ICO file as a PNG or BMP file; nil if there is none.
func largest(ico []byte) (best []byte) {
	if len(ico) < 6 {
		return nil
	}
	side := 0
	for i := range int(binary.LittleEndian.Uint16(ico[4:])) {
		e := 6 + 16*i
		if e+16 > len(ico) {
			break
		}
		width := (int(ico[e])+255)%256 + 1 // 0 means 256
		size, at := uint64(binary.LittleEndian.Uint32(ico[e+8:])), uint64(binary.LittleEndian.Uint32(ico[e+12:]))
		if at+size > uint64(len(ico)) || size < 40 || width <= side {
			continue
		}
		best, side = ico[at:at+size], width
	}
	if best == nil || bytes.HasPrefix(best, []byte("\x89PNG")) {
		return best
	}
	return bitmap(best)
}

// bitmap adds the BMP file header that images in ICO files lack. It halves the height, which in
// ICO includes the mask.
func bitmap(dib []byte) []byte {
	dib = bytes.Clone(dib)
	header, bits := binary.LittleEndian.Uint32(dib), binary.LittleEndian.Uint16(dib[14:])
	binary.LittleEndian.PutUint32(dib[8:], binary.LittleEndian.Uint32(dib[8:])/2)
	palette := uint32(0)
	if bits <= 8 {
		palette = 4 << bits
	}
	file := append([]byte("BM"), make([]byte, 12)...)
	binary.LittleEndian.PutUint32(file[2:], uint32(len(dib)+14))
	binary.LittleEndian.PutUint32(file[10:], 14+header+palette)
	return append(file, dib...)
}

// pattern draws a picture from a hash of name.
func pattern(name string) image.Image {
	sum := sha256.Sum256([]byte(name))
	const cells, side, margin = 5, 8, 4
	p := image.NewNRGBA(image.Rect(0, 0, Size, Size))
	draw.Draw(p, p.Bounds(), image.NewUniform(color.NRGBA{0xf4, 0xf4, 0xf0, 0xff}), image.Point{}, draw.Src)
	ink := image.NewUniform(color.NRGBA{sum[0] / 2, sum[1] / 2, sum[2] / 2, 0xff})
	for x := range cells {
		for y := range cells {
			if sum[3+y*3+min(x, cells-1-x)]&1 == 0 {
				continue
			}
			at := image.Rect(0, 0, side, side).Add(image.Pt(margin+x*side, margin+y*side))
			draw.Draw(p, at, ink, image.Point{}, draw.Src)
		}
	}
	return p
}
