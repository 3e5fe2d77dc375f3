// Warcls lists the records of WARC segments, sharing no code with curtsy:
// offset, type, target URI, HTTP status, sha1 of the entity body, cut or whole,
// separated by tabs. It exits with 1 at the first byte that is not a whole
// record in a gzip member of its own.
package main

import (
	"bufio"
	"bytes"
	"compress/gzip"
	"crypto/sha1"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/textproto"
	"os"
	"strconv"
)

func main() {
	out := bufio.NewWriter(os.Stdout)
	for _, name := range os.Args[1:] {
		if err := list(out, name); err != nil {
			out.Flush()
			fmt.Fprintf(os.Stderr, "warcls: %s: %v\n", name, err)
			os.Exit(1)
		}
	}
	if err := out.Flush(); err != nil {
		os.Exit(1)
	}
}

// counter knows how far the file has been read; gzip takes single bytes from
// a ByteReader, so it reads no further than a member's end.
type counter struct {
	*bufio.Reader
	n int64
}

func (c *counter) Read(p []byte) (int, error) {
	n, err := c.Reader.Read(p)
	c.n += int64(n)
	return n, err
}

func (c *counter) ReadByte() (byte, error) {
	b, err := c.Reader.ReadByte()
	if err == nil {
		c.n++
	}
	return b, err
}

func list(out io.Writer, name string) error {
	f, err := os.Open(name)
	if err != nil {
		return err
	}
	defer f.Close()
	in := &counter{Reader: bufio.NewReaderSize(f, 1<<20)}
	var z *gzip.Reader
	for {
		offset := in.n
		if _, err := in.Peek(1); err == io.EOF {
			return nil
		}
		if z == nil {
			z, err = gzip.NewReader(in)
		} else {
			err = z.Reset(in)
		}
		if err != nil {
			return fmt.Errorf("at %d: %w", offset, err)
		}
		z.Multistream(false)
		member, err := io.ReadAll(z)
		if err != nil {
			return fmt.Errorf("at %d: %w", offset, err)
		}
		if err := record(out, offset, member); err != nil {
			return fmt.Errorf("at %d: %w", offset, err)
		}
	}
}

func record(out io.Writer, offset int64, member []byte) error {
	in := bufio.NewReader(bytes.NewReader(member))
	tp := textproto.NewReader(in)
	if version, err := tp.ReadLine(); err != nil || version != "WARC/1.1" {
		return fmt.Errorf("version line %q", version)
	}
	head, err := tp.ReadMIMEHeader()
	if err != nil {
		return err
	}
	n, err := strconv.Atoi(head.Get("Content-Length"))
	if err != nil {
		return err
	}
	block := make([]byte, n)
	if _, err := io.ReadFull(in, block); err != nil {
		return err
	}
	if rest, _ := io.ReadAll(in); string(rest) != "\r\n\r\n" {
		return fmt.Errorf("%d bytes after the block", len(rest))
	}
	status, sum := "-", "-"
	kind := head.Get("WARC-Type")
	if kind == "response" || kind == "revisit" {
		if status, sum, err = entity(block, head.Get("WARC-Truncated") != ""); err != nil {
			return err
		}
	}
	whole := "whole"
	if cut := head.Get("WARC-Truncated"); cut != "" {
		whole = "cut:" + cut
	}
	uri := head.Get("WARC-Target-URI")
	if uri == "" {
		uri = "-"
	}
	_, err = fmt.Fprintf(out, "%d\t%s\t%s\t%s\t%s\t%s\n", offset, kind, uri, status, sum, whole)
	return err
}

func entity(block []byte, cut bool) (status, sum string, err error) {
	r, err := http.ReadResponse(bufio.NewReader(bytes.NewReader(block)), nil)
	if err != nil {
		return "", "", err
	}
	body, err := io.ReadAll(r.Body)
	headOnly := len(body) == 0 && errors.Is(err, io.ErrUnexpectedEOF) // a revisit
	if err != nil && !cut && !headOnly {
		return "", "", err
	}
	return strconv.Itoa(r.StatusCode), fmt.Sprintf("%x", sha1.Sum(body)), nil
}
