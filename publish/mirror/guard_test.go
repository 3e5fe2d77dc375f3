package mirror

import "curtsy/htmlmeta"

// SetRewrite lets a test put in a rewriter that fails.
func (o *Options) SetRewrite(f func(htmlmeta.Page, htmlmeta.Rewriting) htmlmeta.Rewritten) {
	o.rewrite = f
}
