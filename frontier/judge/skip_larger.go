package judge

// SkipLarger excludes responses whose Content-Length exceeds the setting; their body is not read.
// Responses without a Content-Length are read.
const SkipLarger = "skip-larger"

func skipLarger(_ *Link, f *Facts) Verdict {
	large := f.SkipLarger > 0 && f.Answer.Length > f.SkipLarger
	return excludesIf(large, SkipLarger, Params{Limit: int(f.Answer.Length)})
}

func skipsLarger(r Reason, s *Settings) bool {
	return s.SkipLarger > 0 && int64(r.Limit) > s.SkipLarger
}
