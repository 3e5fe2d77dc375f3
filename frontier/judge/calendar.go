package judge

// FarDates excludes pages whose URL names a month far in the future: calendars have no end.
const FarDates = "far-dates"

func farDates(l *Link, f *Facts) Verdict {
	far := f.Ahead > 0 && l.Class != Requisite && ahead(l.URL.Target(), f.Now, f.Ahead)
	return excludesIf(far, FarDates, Params{Limit: f.Ahead})
}

// Calendar limits the URLs with a date that differ only in digits.
const Calendar = "calendar"

// manyDates URLs of one shape with dates between firstYear and lastYear make it a calendar, in which
// earlier years count as dates too.
const manyDates = 500

// aYear is how many URLs of a calendar are fetched without delay; the rest are Late. For views of other
// pages by date the number is aFewViews.
const (
	aYear     = 366
	aFewViews = 12
)

func calendar(l *Link, f *Facts) Budget {
	shape, digits := withoutDigits(l.URL.String())
	target := l.URL.Target()
	if !digits || latest(target, 0, 9999, likely) == 0 {
		return Budget{}
	}
	if latest(target, firstYear, lastYear, likely) == 0 && f.Memory != nil &&
		f.Memory.Counted(Calendar+" "+shape) < manyDates {
		return Budget{}
	}
	b, atOnce := Budget{Shape: shape, Limit: f.Calendar}, aYear
	isView := latest(l.URL.Path(), 0, 9999, likely) == 0 // a view of other pages, which exists for any date
	if b.Limit > 0 && !hasDays(target) {
		b.Limit = max(b.Limit/8, 1)
	} else if isView {
		b.Limit = (b.Limit + 3) / 4
	}
	if isView {
		atOnce = aFewViews
	}
	b.Late = f.Memory != nil && f.Memory.Counted(Calendar+" "+shape) >= atOnce
	return b
}

// hasDays reports whether a target has more digits or numbers than a year and a month, so that its
// dates may be days, of which there are more.
func hasDays(target string) bool {
	runs, digits := 0, 0
	for i := range len(target) {
		if c := target[i]; c < '0' || c > '9' {
			continue
		}
		if digits++; i == 0 || target[i-1] < '0' || target[i-1] > '9' {
			runs++
		}
	}
	return runs > 2 || digits > 6
}
