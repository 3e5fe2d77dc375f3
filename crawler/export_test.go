package crawler

// Turns is how often an origin was queued to be looked at, which is what the
// schedule costs.
func (c *Crawl) Turns() int { return int(c.schedule.turns) }
