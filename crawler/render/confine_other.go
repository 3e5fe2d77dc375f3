//go:build !linux

package render

import "github.com/chromedp/chromedp"

// confine does nothing on this system; only the bounds within a page apply.
func confine(int64) chromedp.ExecAllocatorOption { return func(*chromedp.ExecAllocator) {} }
