package stage

import (
	"context"
	"os"
	"path/filepath"
	"testing"

	"github.com/chromedp/cdproto/cdp"
	"github.com/chromedp/cdproto/emulation"
	"github.com/chromedp/cdproto/log"
	"github.com/chromedp/cdproto/runtime"
	"github.com/chromedp/chromedp"

	"github.com/anet-hub/anet/shared/testkit/need"
)

// Browser is a tab of a real Chromium, with a profile of its own.
type Browser struct {
	t   testing.TB
	ctx context.Context
}

// NewBrowser starts one. Whatever a page complains of, a style that was refused
// or a script that failed, fails the story.
func NewBrowser(t testing.TB) *Browser {
	t.Helper()
	opts := append(chromedp.DefaultExecAllocatorOptions[:], chromedp.DisableGPU, chromedp.ExecPath(need.Chromium(t)))
	if os.Geteuid() == 0 {
		opts = append(opts, chromedp.NoSandbox) // the sandbox refuses root
	}
	process, stop := chromedp.NewExecAllocator(context.Background(), opts...)
	b := &Browser{t: t}
	tab, leave := chromedp.NewContext(process, chromedp.WithListener(b.complaint))
	b.ctx = tab
	t.Cleanup(func() {
		if err := chromedp.Cancel(tab); err != nil {
			t.Errorf("the browser ended badly: %v", err)
		}
		leave()
		stop()
	})
	// What starts the browser lives as long as its context: it gets no deadline.
	Must(t, chromedp.Do(tab, Call(log.Enable, cdp.Empty{}), Call(runtime.Enable, cdp.Empty{})))
	return b
}

// complaint hears what a page would write into the console. That a page has the
// status of a failure is the network's word and no complaint.
func (b *Browser) complaint(event any) {
	switch e := event.(type) {
	case *runtime.EventExceptionThrown:
		b.t.Errorf("a script failed: %s", e.ExceptionDetails.Text)
	case *log.EventEntryAdded:
		if e.Entry.Level == log.EntryLevelError && e.Entry.Source != log.EntrySourceNetwork {
			b.t.Errorf("the browser complains: %s", e.Entry.Text)
		}
	}
}

// For is the same tab in a part of a story.
func (b *Browser) For(t testing.TB) *Browser { return &Browser{t: t, ctx: b.ctx} }

// Do runs steps, each within one Patience.
func (b *Browser) Do(steps ...chromedp.Action[chromedp.Void]) {
	b.t.Helper()
	for _, step := range steps {
		ask(b, step)
	}
}

func ask[T any](b *Browser, a chromedp.Action[T]) T {
	b.t.Helper()
	ctx, cancel := context.WithTimeout(b.ctx, Patience)
	defer cancel()
	v, err := chromedp.Run(ctx, a)
	Must(b.t, err)
	return v
}

// Open goes to an address and waits until it is there.
func (b *Browser) Open(url string) {
	b.t.Helper()
	b.Do(chromedp.Navigate(url))
}

// Follow does what leads to another page and waits until that is there.
func (b *Browser) Follow(step chromedp.Action[chromedp.Void]) {
	b.t.Helper()
	ctx, cancel := context.WithTimeout(b.ctx, Patience)
	defer cancel()
	_, err := chromedp.RunResponse(ctx, step)
	Must(b.t, err)
}

// Window is how large a page is shown.
func (b *Browser) Window(width, height int64) {
	b.t.Helper()
	b.Do(chromedp.EmulateViewport(width, height))
}

// Light is the scheme the reader prefers: light or dark.
func (b *Browser) Light(scheme string) {
	b.t.Helper()
	b.Do(Call(emulation.SetEmulatedMedia, emulation.SetEmulatedMediaParams{
		Features: []*emulation.MediaFeature{{Name: "prefers-color-scheme", Value: scheme}},
	}))
}

// Call is a command of the browser's own protocol.
func Call[P, R any](c cdp.Command[P, R], params P) chromedp.Action[chromedp.Void] {
	return chromedp.Func(func(ctx context.Context, _ *chromedp.Target) error {
		_, err := chromedp.Call(ctx, c, params)
		return err
	})
}

// Eval is the value of an expression in the page.
func Eval[T any](b *Browser, expression string) T {
	b.t.Helper()
	return ask(b, chromedp.Evaluate[T](expression))
}

// Until waits for an expression in the page to be true.
func (b *Browser) Until(what, expression string) {
	b.t.Helper()
	Until(b.t, Patience, what, func() bool { return Eval[bool](b, expression) })
}

// screenshots names the folder for pictures, for whoever wants to look at them.
const screenshots = "ANET_SCREENSHOTS"

// Picture takes one of the whole page where there is a folder for it.
func (b *Browser) Picture(name string) {
	b.t.Helper()
	dir := os.Getenv(screenshots)
	if dir == "" {
		return
	}
	png := ask(b, chromedp.FullScreenshot(100))
	Must(b.t, os.WriteFile(filepath.Join(dir, name+".png"), png, 0o644))
}
