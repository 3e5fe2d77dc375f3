package crawler

// Turns returns how often an origin was queued, which is a measure of the schedule's cost.
func (c *Crawl) Turns() int { return int(c.schedule.turns) }

// MaxHeld bounds the octets that wait to be written.
const MaxHeld = maxHeld

// Held returns how many octets of bodies and records are in memory.
func (c *Crawl) Held() int {
	c.flight.mu.Lock()
	defer c.flight.mu.Unlock()
	return int(c.flight.held)
}
