//go:build !linux

package render

import "github.com/chromedp/chromedp"

// confine has no means of the system's here; the bounds on a page's own are left.
func confine(int64) chromedp.ExecAllocatorOption { return func(*chromedp.ExecAllocator) {} }
