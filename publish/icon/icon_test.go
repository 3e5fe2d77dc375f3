package icon

import (
	"bytes"
	"encoding/binary"
	"image"
	"image/color"
	"image/png"
	"testing"

	"golang.org/x/image/bmp"
)

var red = color.NRGBA{0xff, 0, 0, 0xff}

func square(side int) image.Image {
	p := image.NewNRGBA(image.Rect(0, 0, side, side))
	for i := range side * side {
		p.Set(i%side, i/side, red)
	}
	return p
}

// ico returns an ICO file of the pictures, each with the width that its entry states.
func ico(widths []int, pictures ...[]byte) []byte {
	b := []byte{0, 0, 1, 0, byte(len(pictures)), 0}
	at := len(b) + 16*len(pictures)
	for i, p := range pictures {
		e := make([]byte, 16)
		e[0] = byte(widths[i])
		binary.LittleEndian.PutUint32(e[8:], uint32(len(p)))
		binary.LittleEndian.PutUint32(e[12:], uint32(at))
		b, at = append(b, e...), at+len(p)
	}
	return append(b, bytes.Join(pictures, nil)...)
}

func TestPicturesThatAreRead(t *testing.T) {
	var small, large, dib bytes.Buffer
	for side, b := range map[int]*bytes.Buffer{16: &small, 256: &large} {
		if err := png.Encode(b, square(side)); err != nil {
			t.Fatal(err)
		}
	}
	if err := bmp.Encode(&dib, square(32)); err != nil {
		t.Fatal(err)
	}
	inICO := bytes.Clone(dib.Bytes()[14:])
	binary.LittleEndian.PutUint32(inICO[8:], 64) // twice the height, as it includes the mask
	huge := bytes.Clone(small.Bytes())
	binary.BigEndian.PutUint32(huge[16:], 1<<30)
	for _, c := range []struct {
		what string
		file []byte
		side int
	}{
		{"PNG", small.Bytes(), 16},
		{"the larger of an ICO", ico([]int{16, 0}, small.Bytes(), large.Bytes()), 256},
		{"BMP in an ICO", ico([]int{32}, inICO), 32},
		{"a side that is too large", huge, 0},
		{"an ICO with an entry behind its end", ico([]int{16}, small.Bytes())[:60], 0},
		{"an ICO without entries", []byte{0, 0, 1, 0, 9, 0}, 0},
		{"an ICO that is cut off", []byte{0, 0, 1, 0}, 0},
		{"no picture", []byte("<svg/>"), 0},
		{"nothing", nil, 0},
	} {
		p, err := decode(c.file)
		if c.side == 0 && err == nil {
			t.Errorf("%s: got %v, want an error", c.what, p.Bounds())
		}
		if c.side != 0 && (err != nil || p.Bounds().Dx() != c.side || p.At(1, 1) != color.Color(red) &&
			color.NRGBAModel.Convert(p.At(1, 1)) != color.Color(red)) {
			t.Errorf("%s: %v, want %d red pixels a side", c.what, err, c.side)
		}
	}
}
