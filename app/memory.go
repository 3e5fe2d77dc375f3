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

// memoryFile stores what the page knows and the archives do not.
const memoryFile = ".curtsy-app.json"

// memory is the stored state of the page.
type memory struct {
	mu   sync.Mutex
	root *os.Root
	now  struct {
		Contact  string                 `json:"contact,omitempty"`
		Archives map[string]*intentions `json:"archives,omitempty"`
	}
}

// intentions are the settings for an archive.
type intentions struct {
	Goes bool     `json:"goes,omitempty"` // a crawl or update is running; it is continued at the next start
	Make []string `json:"make,omitempty"` // formats to make when the crawl has finished
	Ours bool     `json:"ours,omitempty"` // the crawl was started on this page with its settings
	// Every is the interval of updates, "day" or "week"; "": none.
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

// of returns the settings for an archive.
func (m *memory) of(name string) intentions {
	m.mu.Lock()
	defer m.mu.Unlock()
	if i := m.now.Archives[name]; i != nil {
		return *i
	}
	return intentions{}
}

// change changes and stores the settings for an archive.
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

// forget deletes the settings for an archive.
func (m *memory) forget(name string) error {
	m.mu.Lock()
	defer m.mu.Unlock()
	delete(m.now.Archives, name)
	return m.save()
}

// contact returns the contact given last.
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

// save replaces the file atomically.
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
