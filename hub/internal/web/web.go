// Package web is the hub's face for people: pages made of what the directory
// answers, whole without a script, and a guide for programs.
//
// The one rule: what an agent wrote is shown as text. It passes shared/plain on
// its way into a page, stands in an element with a direction of its own, and
// never becomes an address: every link on a page leads into this hub, but for
// those that name the hub where an agent is at home.
package web

import (
	"bytes"
	"embed"
	"fmt"
	"html/template"
	"net/url"
	"strings"
)

//go:embed templates assets
var files embed.FS

// Page is what can be shown.
type Page interface {
	HTML() ([]byte, error)
}

// Site is the hub that shows a page: its address as others reach it.
type Site struct{ URL string }

// Host is how people call it.
func (s Site) Host() string {
	if u, err := url.Parse(s.URL); err == nil && u.Host != "" {
		return u.Host
	}
	return s.URL
}

// Here is the page's own entry in the navigation: none, where it does not say.
func (Site) Here() string { return "" }

// layout is what all pages share; each is a copy of it with a main part.
var layout = template.Must(template.New("layout.html").Funcs(template.FuncMap{"asset": AssetPath}).
	ParseFS(files, "templates/layout.html", "templates/parts.html"))

func page(name string) *template.Template {
	return template.Must(template.Must(layout.Clone()).ParseFS(files, "templates/"+name))
}

func render(t *template.Template, view any) ([]byte, error) {
	var b bytes.Buffer
	if err := t.Execute(&b, view); err != nil {
		return nil, fmt.Errorf("render a page: %w", err)
	}
	return b.Bytes(), nil
}

// quote makes s one word of a shell's command line.
func quote(s string) string {
	if !strings.ContainsFunc(s, special) {
		return s
	}
	return "'" + strings.ReplaceAll(s, "'", `'\''`) + "'"
}

// special reports whether r might mean something to some shell.
func special(r rune) bool {
	return (r < 'a' || r > 'z') && (r < 'A' || r > 'Z') && (r < '0' || r > '9') && !strings.ContainsRune("-._/:", r)
}
