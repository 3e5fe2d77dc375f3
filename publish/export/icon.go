package export

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

	_ "golang.org/x/image/bmp" // formats of icons
	"golang.org/x/image/draw"
	_ "golang.org/x/image/webp" // formats of icons

	"curtsy/facts"
	"curtsy/publish"
)

// iconSize is the side of an illustration, in pixels; maxIcon bounds what is read of
// an icon in octets, and maxSide in pixels of a side.
const (
	iconSize = 48
	maxIcon  = 1 << 20
	maxSide  = 2048
)

// illustration is the picture of a ZIM file: the site's icon, or one made of its name.
func (z *zimSite) illustration() []byte {
	picture := z.icon()
	if picture == nil {
		picture = pattern(z.o.Seed.Host())
	}
	small := image.NewNRGBA(image.Rect(0, 0, iconSize, iconSize))
	draw.CatmullRom.Scale(small, fitted(picture.Bounds()), picture, picture.Bounds(), draw.Over, nil)
	var b bytes.Buffer
	_ = png.Encode(&b, small) // a bytes.Buffer does not fail
	return b.Bytes()
}

// fitted is the largest place in the illustration that has the shape of a picture.
func fitted(b image.Rectangle) image.Rectangle {
	side := max(b.Dx(), b.Dy())
	w, h := max(1, iconSize*b.Dx()/side), max(1, iconSize*b.Dy()/side)
	x, y := (iconSize-w)/2, (iconSize-h)/2
	return image.Rect(x, y, x+w, y+h)
}

// icon is the largest of the site's icons that can be read, nil if there is none.
func (z *zimSite) icon() (best image.Image) {
	urls := []string{z.o.Seed.Origin() + "/favicon.ico"}
	if v := publish.Current(z.a.VisitsAt(z.o.Seed.String()), z.a.VisitsAt); v != nil {
		var f facts.Facts
		if page, ok := publish.PageOf(v); ok && publish.Facts(z.a, page, &f) == nil {
			for _, l := range f.Links {
				if slices.ContainsFunc(strings.Fields(l.Rel), func(r string) bool { return strings.HasSuffix(r, "icon") }) {
					urls = append(urls, l.URL.String())
				}
			}
		}
	}
	for _, url := range urls {
		if p := z.picture(z.byURL[url]); p != nil && (best == nil || p.Bounds().Dx() > best.Bounds().Dx()) {
			best = p
		}
	}
	return best
}

// picture reads a picture of the mirror, nil if it cannot be read.
func (z *zimSite) picture(name string) image.Image {
	if name == "" {
		return nil
	}
	f, err := z.root.Open(name)
	if err != nil {
		return nil
	}
	defer f.Close()
	b, err := io.ReadAll(io.LimitReader(f, maxIcon))
	if err != nil {
		return nil
	}
	if bytes.HasPrefix(b, []byte("\x00\x00\x01\x00")) {
		b = largest(b)
	}
	p, err := decode(b)
	if err != nil {
		return nil
	}
	return p
}

// decode decodes a picture that is not larger than an icon.
func decode(b []byte) (image.Image, error) {
	c, _, err := image.DecodeConfig(bytes.NewReader(b))
	if err != nil || c.Width < 1 || c.Height < 1 || c.Width > maxSide || c.Height > maxSide {
		return nil, errors.Join(err, image.ErrFormat)
	}
	p, _, err := image.Decode(bytes.NewReader(b))
	return p, err
}

// largest is the largest picture of an ICO file, as a PNG or a BMP file; nil where it
// holds none.
func largest(ico []byte) (best []byte) {
	side := 0
	for i := range int(binary.LittleEndian.Uint16(ico[4:])) {
		e := 6 + 16*i
		if e+16 > len(ico) {
			break
		}
		width := (int(ico[e])+255)%256 + 1 // 0 is 256
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

// bitmap puts the header of a BMP file in front of what an ICO file holds: there, the
// height counts a mask behind the picture.
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

// pattern is a picture made of a name: the same name has the same picture.
func pattern(name string) image.Image {
	sum := sha256.Sum256([]byte(name))
	const cells, side, margin = 5, 8, 4
	p := image.NewNRGBA(image.Rect(0, 0, iconSize, iconSize))
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
