package judge

import (
	"cmp"
	"encoding/json"
	"slices"
)

// Reason says which rule decided, and with what parameters. It is comparable; the zero Reason is none.
type Reason struct {
	Rule   string `json:"rule"`
	Params `json:"params,omitzero"`
}

// Params are the parameters of a decision; each rule uses those that it needs.
type Params struct {
	Limit   int    `json:"limit,omitempty"`   // the budget or bound that was exceeded
	Line    int    `json:"line,omitempty"`    // line of robots.txt
	Text    string `json:"text,omitempty"`    // the line, the pattern or the kind of failure
	Version string `json:"version,omitempty"` // version of robots.txt
	Status  int    `json:"status,omitempty"`  // status of the response
}

// IsZero reports whether there is no reason.
func (r Reason) IsZero() bool { return r == Reason{} }

// Encode returns the reason as it is stored: JSON, or nothing for the zero Reason.
func (r Reason) Encode() []byte {
	if r.IsZero() {
		return nil
	}
	b, _ := json.Marshal(r) // strings and numbers
	return b
}

// Decode decodes what Encode returned.
func Decode(b []byte) (r Reason, err error) {
	if len(b) > 0 {
		err = json.Unmarshal(b, &r)
	}
	return r, err
}

// Tally counts URLs by reason.
type Tally map[Reason]int

// Count is a reason, and the number of URLs with it.
type Count struct {
	Reason
	Count int `json:"count"`
}

// Largest returns the n most frequent reasons, the most frequent first; all of them for n < 0. URLs without
// a reason are left out.
func (t Tally) Largest(n int) []Count {
	list := make([]Count, 0, len(t))
	for r, count := range t {
		if !r.IsZero() {
			list = append(list, Count{r, count})
		}
	}
	slices.SortFunc(list, func(a, b Count) int {
		return cmp.Or(b.Count-a.Count, cmp.Compare(a.Rule, b.Rule), a.Line-b.Line, cmp.Compare(a.Text, b.Text),
			cmp.Compare(a.Version, b.Version), a.Limit-b.Limit, a.Status-b.Status)
	})
	if n >= 0 && n < len(list) {
		list = list[:n]
	}
	return list
}

// Rules returns the number of URLs per rule.
func (t Tally) Rules() map[string]int {
	rules := map[string]int{}
	for r, n := range t {
		if !r.IsZero() {
			rules[r.Rule] += n
		}
	}
	return rules
}

// MarshalJSON encodes a list, since a Reason cannot be an object key.
func (t Tally) MarshalJSON() ([]byte, error) {
	list := t.Largest(-1)
	if n := t[Reason{}]; n > 0 {
		list = append(list, Count{Count: n})
	}
	return json.Marshal(list)
}

// UnmarshalJSON decodes what MarshalJSON returned.
func (t *Tally) UnmarshalJSON(b []byte) error {
	var list []Count
	if err := json.Unmarshal(b, &list); err != nil {
		return err
	}
	*t = make(Tally, len(list))
	for _, c := range list {
		(*t)[c.Reason] += c.Count
	}
	return nil
}
