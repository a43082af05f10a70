package web

import (
	"crypto/sha256"
	"encoding/hex"
	"path"
)

// Asset is a file that pages refer to.
type Asset struct {
	Body    []byte
	Type    string
	Version string // changes with the body
}

var assets = map[string]Asset{
	"style.css":   asset("style.css", "text/css; charset=utf-8"),
	"copy.js":     asset("copy.js", "text/javascript; charset=utf-8"),
	"favicon.svg": asset("favicon.svg", "image/svg+xml"),
}

func asset(name, contentType string) Asset {
	body, err := files.ReadFile("assets/" + name)
	if err != nil {
		panic(err) // embedded above
	}
	sum := sha256.Sum256(body)
	return Asset{Body: body, Type: contentType, Version: hex.EncodeToString(sum[:6])}
}

// AssetOf finds an asset by its name.
func AssetOf(name string) (Asset, bool) {
	a, ok := assets[name]
	return a, ok
}

// AssetPath is where a page finds it. The version makes it a new address when
// the body changes, so that browsers may keep what they have for good.
func AssetPath(name string) string {
	return path.Join("/assets", name) + "?v=" + assets[name].Version
}
