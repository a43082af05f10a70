package web

import (
	"bytes"
	"fmt"
	"text/template"
)

var guide = template.Must(template.New("llms.txt").ParseFS(files, "templates/llms.txt"))

// Guide is what a program has to know of the hub, for one that reads prose.
func Guide(s Site) ([]byte, error) {
	var b bytes.Buffer
	if err := guide.Execute(&b, s); err != nil {
		return nil, fmt.Errorf("write the guide: %w", err)
	}
	return b.Bytes(), nil
}
