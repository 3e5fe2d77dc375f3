package cli

import (
	"fmt"
	"os"
	"sync"
	"time"

	"curtsy/crawler"
)

// keys handles keys pressed during a crawl: p, + and -, q.
type keys struct {
	mu      sync.Mutex
	now     crawler.Steering
	steer   chan crawler.Steering
	stop    func()
	say     func(string, ...any)
	listens bool
	end     chan struct{}
	ended   sync.WaitGroup
}

// leastDelay is the shortest delay that can be set by keys.
const leastDelay = 100 * time.Millisecond

// newKeys reads keys, if stdin is a terminal. stop is the action of q.
func newKeys(u *ui, delay time.Duration, stop func()) *keys {
	k := &keys{now: crawler.Steering{Delay: delay}, steer: make(chan crawler.Steering), stop: stop, say: u.say,
		end: make(chan struct{})}
	in, ok := u.in.(*os.File)
	if !ok || !u.drawsBars() || !hasKeys(in) {
		return k
	}
	k.listens = true
	k.ended.Go(func() { readKeys(in, k.end, k.press) })
	return k
}

func (k *keys) close() {
	if k.listens {
		close(k.end)
		k.ended.Wait()
		k.listens = false
	}
}

// hint describes the keys, in a long and a short form.
func (k *keys) hint() (long, short string) {
	k.mu.Lock()
	defer k.mu.Unlock()
	switch {
	case !k.listens:
		return "", ""
	case k.now.Pause:
		return "keys: p continue, q finish", "keys: p q"
	}
	return "keys: p pause, + faster, - slower, q finish", "keys: p + - q"
}

// press performs the action of a key.
func (k *keys) press(key byte) {
	k.mu.Lock()
	text := ""
	switch key {
	case 'p', ' ':
		if k.now.Pause = !k.now.Pause; !k.now.Pause {
			text = "the crawl continues"
		} else {
			text = "paused; press p to continue"
		}
	case '+', '=':
		k.now.Delay = min(max(k.now.Delay/2, leastDelay), k.now.Delay)
		text = k.delayText()
	case '-':
		k.now.Delay = max(k.now.Delay*2, leastDelay)
		text = k.delayText()
	case 'q':
		k.mu.Unlock()
		k.stop()
		return
	}
	now := k.now
	k.mu.Unlock()
	if text == "" {
		return
	}
	select {
	case k.steer <- now:
		k.say("%s", text)
	case <-k.end:
	}
}

func (k *keys) delayText() string {
	return fmt.Sprintf("the pause is now %s, or longer if the site asks for it", k.now.Delay)
}
