package mirror

import "curtsy/htmlmeta"

// SetRewrite replaces the rewriter, by one that fails.
func (o *Options) SetRewrite(f func(htmlmeta.Page, htmlmeta.Rewriting) htmlmeta.Rewritten) {
	o.rewrite = f
}
