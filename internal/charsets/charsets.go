// Package charsets looks up charsets as browsers do, with the tables of the Encoding Standard,
// in which all octets from 80 to 9F are defined.
package charsets

import (
	"sync"
	"unicode/utf8"

	"golang.org/x/text/encoding"
	"golang.org/x/text/encoding/charmap"
	"golang.org/x/text/encoding/htmlindex"
	"golang.org/x/text/transform"
)

// Lookup finds a charset by its label, and returns its lower-case name; nil if there is none
// (Encoding Standard §4.2).
func Lookup(label string) (enc encoding.Encoding, name string) {
	enc, err := htmlindex.Get(label)
	if err != nil {
		return nil, ""
	}
	name, _ = htmlindex.Name(enc)
	if m, ok := enc.(*charmap.Charmap); ok && m != charmap.XUserDefined {
		return controls(m), name
	}
	return enc, name
}

// controls fills the undefined octets of a charset with C1 controls, as in the Encoding
// Standard's indexes: 81 in windows-1252 is U+0081.
func controls(m *charmap.Charmap) encoding.Encoding {
	if c, ok := made.Load(m); ok {
		return c.(encoding.Encoding)
	}
	c := &singleByte{table: m}
	gaps := false
	for i := range c.runes {
		b := byte(0x80 + i)
		c.runes[i] = m.DecodeByte(b)
		if b < 0xA0 && c.runes[i] == utf8.RuneError {
			c.runes[i], gaps = rune(b), true
		}
	}
	var enc encoding.Encoding = c
	if !gaps {
		enc = m
	}
	made.Store(m, enc)
	return enc
}

var made sync.Map // caches controls, by *charmap.Charmap

// singleByte is a charset with one octet per character.
type singleByte struct {
	table *charmap.Charmap
	runes [128]rune // of 80 to FF
}

func (c *singleByte) NewDecoder() *encoding.Decoder {
	return &encoding.Decoder{Transformer: decoder{c: c}}
}

func (c *singleByte) NewEncoder() *encoding.Encoder {
	return &encoding.Encoder{Transformer: encoder{c.table.NewEncoder().Transformer, c}}
}

type decoder struct {
	transform.NopResetter
	c *singleByte
}

func (d decoder) Transform(dst, src []byte, _ bool) (nDst, nSrc int, err error) {
	for _, b := range src {
		r := rune(b)
		if b >= 0x80 {
			r = d.c.runes[b-0x80]
		}
		if nDst+utf8.RuneLen(r) > len(dst) {
			return nDst, nSrc, transform.ErrShortDst
		}
		nDst += utf8.EncodeRune(dst[nDst:], r)
		nSrc++
	}
	return nDst, nSrc, nil
}

// encoder is the table's encoder, extended by the C1 controls.
type encoder struct {
	transform.Transformer
	c *singleByte
}

func (e encoder) Transform(dst, src []byte, atEOF bool) (nDst, nSrc int, err error) {
	for {
		n, m, err := e.Transformer.Transform(dst[nDst:], src[nSrc:], atEOF)
		nDst, nSrc = nDst+n, nSrc+m
		r, size := utf8.DecodeRune(src[nSrc:])
		isControl := r >= 0x80 && r < 0xA0 && e.c.runes[r-0x80] == r
		switch {
		case err == nil || !isControl || err == transform.ErrShortDst:
			return nDst, nSrc, err
		case nDst == len(dst):
			return nDst, nSrc, transform.ErrShortDst
		}
		dst[nDst] = byte(r)
		nDst, nSrc = nDst+1, nSrc+size
	}
}
