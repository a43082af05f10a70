package e2e

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/chromedp/cdproto/emulation"
	"github.com/chromedp/chromedp"
	"github.com/chromedp/chromedp/kb"

	"github.com/anet-hub/anet/e2e/stage"
)

// People find an agent, read about it and learn how to call it: in a real
// browser, with and without a script, by hand and by keyboard, on a phone and in
// the dark.
func TestPeopleBrowseTheHub(t *testing.T) {
	p := settle(t)
	for _, story := range []struct {
		name string
		tell func(*testing.T, *stage.Browser, *town)
	}{
		{"a search without a script", searchWithoutScript},
		{"one agent", readOne},
		{"another hub", readElsewhere},
		{"by keyboard", byKeyboard},
		{"what a screen reader needs", forAScreenReader},
		{"on a phone", onAPhone},
		{"in both lights", inBothLights},
	} {
		t.Run(story.name, func(t *testing.T) { story.tell(t, p.browser.For(t), p) })
	}
}

func searchWithoutScript(t *testing.T, b *stage.Browser, p *town) {
	b.Do(stage.Call(emulation.SetScriptExecutionDisabled, emulation.SetScriptExecutionDisabledParams{Value: true}))
	defer b.Do(stage.Call(emulation.SetScriptExecutionDisabled, emulation.SetScriptExecutionDisabledParams{Value: false}))
	b.Open(p.hub.URL)
	b.Picture("front")
	b.Do(chromedp.SendKeys(chromedp.CSS("#cap"), "sensor.*"))
	b.Follow(chromedp.Click(chromedp.CSS("#cap + button")))
	b.Picture("search")
	seen, pages := agentsOn(b), 1
	for ; hasNext(b) && pages <= sensors; pages++ { // a search that finds no time ends a page early, and offers to go on
		b.Follow(chromedp.Click(chromedp.CSS("a[rel=next]")))
		seen = append(seen, agentsOn(b)...)
	}
	slices.Sort(seen)
	if n := len(slices.Compact(slices.Clone(seen))); n != sensors || len(seen) != sensors || pages < 2 || hasNext(b) {
		t.Errorf("%d pages show %d agents, %d of them different, want each of %d once: %q", pages, len(seen), n, sensors, seen)
	}
	b.Do(chromedp.SendKeys(chromedp.CSS("#q"), "in ghent"))
	b.Follow(chromedp.Click(chromedp.CSS("#q + button")))
	if seen := agentsOn(b); len(seen) != 1 || seen[0] != p.text.AID() {
		t.Errorf("the words lead to %q", seen)
	}
}

func hasNext(b *stage.Browser) bool {
	return stage.Eval[bool](b, `!!document.querySelector("a[rel=next]")`)
}

// agentsOn are the AIDs of the agents on a page.
func agentsOn(b *stage.Browser) []string {
	return stage.Eval[[]string](b, `[...document.querySelectorAll(".agents .aid")].map(e => e.textContent)`)
}

func readOne(t *testing.T, b *stage.Browser, p *town) {
	b.Open(p.hub.URL + "/?cap=text.digest")
	b.Follow(chromedp.Click(chromedp.CSS(".agents h2 a")))
	b.Picture("agent")
	said := stage.Eval[string](b, `document.querySelector("main").innerText`)
	for _, want := range []string{
		"text tools", p.text.AID(), "card verified", "text.digest", "The SHA-256 of args.text.", "See https://example.org/text.",
		"anet delegate " + p.text.AID() + " \\\n  --capability text.digest", "curl https://hub.example.org/agents/" + p.text.AID(),
	} {
		if !strings.Contains(said, want) {
			t.Errorf("the page lacks %q: %s", want, said)
		}
	}
	stage.Eval[bool](b, `(e => { // who says it for a moment only
		window.said = [];
		new MutationObserver(() => window.said.push(e.textContent)).observe(e, {childList: true});
		return true;
	})(document.querySelector(".command button"))`)
	b.Do(chromedp.Click(chromedp.CSS(".command button")))
	b.Until("the command is copied", `window.said.includes("Copied")`)
	b.Open(p.hub.URL + "/a/" + p.hub.AID)
	if said := stage.Eval[string](b, `document.querySelector("h1").textContent`); said != "Not found" {
		t.Errorf("an agent nobody knows: %q", said)
	}
}

// An agent of another hub stands in the list behind those of this one, and leads to
// where it is at home; the hub tells whom it federates with.
func readElsewhere(t *testing.T, b *stage.Browser, p *town) {
	b.Open(p.hub.URL + "/?cap=text.*")
	b.Picture("federated")
	if seen := agentsOn(b); len(seen) != 2 || seen[0] != p.text.AID() || seen[1] != p.far.AID() {
		t.Errorf("the list shows %q, want this hub's agent and then the other's", seen)
	}
	home := stage.Eval[string](b, `document.querySelector(".agents li:last-child a[rel~=external]").href`)
	if home != stage.PublicURL("labs")+"/" {
		t.Errorf("the home hub is at %s", home)
	}
	b.Follow(chromedp.Click(chromedp.CSS(".agents li:last-child h2 a")))
	b.Picture("elsewhere")
	said := stage.Eval[string](b, `document.querySelector("main").innerText`)
	for _, want := range []string{"at labs.example.org", "card verified", "anet delegate " + p.far.AID(), "passes it on to the home hub"} {
		if !strings.Contains(said, want) {
			t.Errorf("the page lacks %q: %s", want, said)
		}
	}
	stage.Until(t, stage.Patience, "the hub tells that it has peers", func() bool {
		b.Open(p.hub.URL + "/hub")
		return stage.Eval[bool](b, `!!document.querySelector("a[href='/peers']")`)
	})
	b.Follow(chromedp.Click(chromedp.CSS("a[href='/peers']")))
	stage.Until(t, stage.Patience, "it is known how many agents come from there", func() bool {
		b.Open(p.hub.URL + "/peers")
		return stage.Eval[string](b, `document.querySelector(".peers dd").textContent`) == "1"
	})
	b.Picture("peers")
	said = stage.Eval[string](b, `document.querySelector("main").innerText`)
	if !strings.Contains(said, "labs") || !strings.Contains(said, "discovery off") {
		t.Errorf("of peers is said %s", said)
	}
}

// Everything is reached with Tab, seen where it is, and a question is asked with
// Enter.
func byKeyboard(t *testing.T, b *stage.Browser, p *town) {
	b.Open(p.hub.URL)
	b.Do(chromedp.KeyEvent(kb.Tab))
	if at := focused(b); at != "Skip to the content" {
		t.Errorf("the first Tab leads to %q", at)
	}
	b.Do(chromedp.KeyEvent(kb.Enter))
	b.Until("the content has the focus", `document.activeElement.id == "main"`)
	for _, want := range []string{"Capability", "Find", "Words", "Search"} {
		b.Do(chromedp.KeyEvent(kb.Tab))
		if at := focused(b); at != want {
			t.Fatalf("Tab leads to %q, want %q", at, want)
		}
	}
	b.Do(chromedp.Focus(chromedp.CSS("#cap")), chromedp.KeyEvent("text.d*"))
	b.Follow(chromedp.KeyEvent(kb.Enter))
	if seen := agentsOn(b); len(seen) != 1 || seen[0] != p.text.AID() {
		t.Errorf("Enter leads to %q", seen)
	}
}

// focused names what has the focus, which must be seen to have it.
func focused(b *stage.Browser) string {
	return stage.Eval[string](b, `(e => {
		const s = getComputedStyle(e), r = e.getBoundingClientRect();
		if (s.outlineStyle == "none" || r.top < 0 || r.bottom > innerHeight) return "something not seen";
		return (e.labels?.[0] ?? e).textContent;
	})(document.activeElement)`)
}

// Landmarks, names and headings, on every page.
func forAScreenReader(t *testing.T, b *stage.Browser, p *town) {
	for _, path := range p.paths() {
		b.Open(p.hub.URL + path)
		for _, fault := range stage.Eval[[]string](b, `(() => {
			const faults = [], all = s => [...document.querySelectorAll(s)];
			for (const one of ["header.site", "main", "footer.site", "h1", "nav[aria-label=Site]", "title"])
				if (all(one).length != 1) faults.push(all(one).length + " times " + one);
			if (document.documentElement.lang != "en") faults.push("no language");
			for (const e of all("input")) if (!e.labels.length) faults.push(e.id + " has no label");
			for (const e of all("a, button")) if (!e.textContent.trim()) faults.push("nothing to read: " + e.outerHTML);
			for (const e of all("[aria-labelledby], [aria-describedby]"))
				if (!document.getElementById(e.getAttribute("aria-labelledby") ?? e.getAttribute("aria-describedby"))) faults.push("no label for " + e.outerHTML);
			const ids = all("[id]").map(e => e.id);
			if (new Set(ids).size != ids.length) faults.push("an id twice: " + ids);
			all("h1, h2, h3").map(e => +e.tagName[1]).reduce((a, b) => { if (b > a + 1) faults.push("h" + b + " under h" + a); return b; }, 0);
			return faults;
		})()`) {
			t.Errorf("%s: %s", path, fault)
		}
	}
}

// 360 pixels hold everything, words without a blank included.
func onAPhone(t *testing.T, b *stage.Browser, p *town) {
	b.Window(360, 740)
	defer b.Window(1100, 800)
	for i, path := range p.paths() {
		b.Open(p.hub.URL + path)
		b.Picture(fmt.Sprint("phone-", i))
		if wide := stage.Eval[int](b, `document.documentElement.scrollWidth`); wide > 360 {
			t.Errorf("%s: %d pixels wide, want 360", path, wide)
		}
	}
}

// What is read stands out from what is behind it, as WCAG 2.2 AA has it.
func inBothLights(t *testing.T, b *stage.Browser, p *town) {
	defer b.Light("light")
	behind := map[string]string{}
	for _, light := range []string{"light", "dark"} {
		b.Light(light)
		for i, path := range p.paths() {
			b.Open(p.hub.URL + path)
			b.Picture(fmt.Sprint(light, "-", i))
			for _, faint := range stage.Eval[[]string](b, contrast) {
				t.Errorf("%s, %s: %s", light, path, faint)
			}
		}
		behind[light] = stage.Eval[string](b, `getComputedStyle(document.body).backgroundColor`)
	}
	if behind["light"] == behind["dark"] {
		t.Errorf("the dark page is %s, as the light one", behind["dark"])
	}
}

// contrast finds texts that stand out less than 4.5 to 1.
const contrast = `(() => {
	const rgba = c => { const v = c.match(/[\d.]+/g).map(Number); return {rgb: v.slice(0, 3), a: v[3] ?? 1}; };
	const light = rgb => { const [r, g, b] = rgb.map(v => (v /= 255) <= .04045 ? v / 12.92 : ((v + .055) / 1.055) ** 2.4); return .2126 * r + .7152 * g + .0722 * b; };
	const behind = e => { for (; e; e = e.parentElement) { const c = rgba(getComputedStyle(e).backgroundColor); if (c.a == 1) return c.rgb; } };
	const ratio = (a, b) => { const [x, y] = [light(a), light(b)].sort((p, q) => q - p); return (x + .05) / (y + .05); };
	const faint = [];
	for (const e of document.querySelectorAll("body *")) {
		const said = e.tagName == "INPUT" || [...e.childNodes].some(n => n.nodeType == 3 && n.textContent.trim());
		if (!said) continue;
		for (const pseudo of e.tagName == "INPUT" ? [null, "::placeholder"] : [null]) {
			const r = ratio(rgba(getComputedStyle(e, pseudo).color).rgb, behind(e));
			if (r < 4.5) faint.push(r.toFixed(2) + " in " + e.outerHTML.slice(0, 80));
		}
	}
	return faint;
})()`
