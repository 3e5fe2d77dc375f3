package crawler

// Turns is how often an origin was queued to be looked at, which is what the
// schedule costs.
func (c *Crawl) Turns() int { return int(c.schedule.turns) }

// MaxHeld is the bound on what waits for the disk.
const MaxHeld = maxHeld

// Held is how many octets of bodies and records are held.
func (c *Crawl) Held() int {
	c.flight.mu.Lock()
	defer c.flight.mu.Unlock()
	return int(c.flight.held)
}
