package app

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"sync"
	"time"
)

// memoryFile keeps what the page knows and no archive does.
const memoryFile = ".curtsy-app.json"

// memory is what outlives the program.
type memory struct {
	mu   sync.Mutex
	root *os.Root
	now  struct {
		Contact  string                 `json:"contact,omitempty"`
		Archives map[string]*intentions `json:"archives,omitempty"`
	}
}

// intentions are what a person wants of an archive.
type intentions struct {
	Goes bool     `json:"goes,omitempty"` // a crawl or a round runs, and is continued by the next program
	Make []string `json:"make,omitempty"` // formats to be made when the crawl is finished
	Ours bool     `json:"ours,omitempty"` // it was begun here: its settings are this person's
	// Every is how often the site is visited again, "day" or "week"; "" is never.
	Every string    `json:"every,omitempty"`
	Next  time.Time `json:"next,omitzero"`
}

func openMemory(root *os.Root) (*memory, error) {
	m := &memory{root: root}
	b, err := root.ReadFile(memoryFile)
	switch {
	case errors.Is(err, fs.ErrNotExist):
	case err != nil:
		return nil, err
	default:
		if err := json.Unmarshal(b, &m.now); err != nil {
			return nil, fmt.Errorf("%s: %w; remove it to begin anew: the archives stay", memoryFile, err)
		}
	}
	if m.now.Archives == nil {
		m.now.Archives = map[string]*intentions{}
	}
	return m, nil
}

// of is what is wanted of an archive.
func (m *memory) of(name string) intentions {
	m.mu.Lock()
	defer m.mu.Unlock()
	if i := m.now.Archives[name]; i != nil {
		return *i
	}
	return intentions{}
}

// change changes what is wanted of an archive.
func (m *memory) change(name string, change func(*intentions)) error {
	m.mu.Lock()
	defer m.mu.Unlock()
	i := m.now.Archives[name]
	if i == nil {
		i = &intentions{}
		m.now.Archives[name] = i
	}
	change(i)
	return m.save()
}

// forget drops what was wanted of an archive.
func (m *memory) forget(name string) error {
	m.mu.Lock()
	defer m.mu.Unlock()
	delete(m.now.Archives, name)
	return m.save()
}

// contact is the one that was given last.
func (m *memory) contact() string {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.now.Contact
}

func (m *memory) setContact(c string) error {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.now.Contact == c {
		return nil
	}
	m.now.Contact = c
	return m.save()
}

// save replaces the file as a whole.
func (m *memory) save() error {
	b, err := json.MarshalIndent(&m.now, "", "  ")
	if err != nil {
		return err
	}
	next := memoryFile + ".new"
	if err := m.root.WriteFile(next, append(b, '\n'), 0o600); err != nil {
		return err
	}
	return m.root.Rename(next, memoryFile)
}
