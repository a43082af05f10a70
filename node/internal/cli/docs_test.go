package cli

import (
	"os"
	"reflect"
	"strings"
	"testing"

	"github.com/spf13/cobra"

	"github.com/anet-hub/anet/node/internal/config"
)

// The page for operators names every command and every key of the file, and
// every command shows how it is used.
func TestThePageIsComplete(t *testing.T) {
	b, err := os.ReadFile("../../../docs/node.md")
	must(t, err)
	page := string(b)
	each((&Program{}).root(), func(c *cobra.Command) {
		if !c.HasSubCommands() && !strings.Contains(page, strings.TrimPrefix(c.CommandPath(), "anet ")) {
			t.Errorf("docs/node.md does not name %s", c.CommandPath())
		}
		if !c.HasSubCommands() && c.Example == "" {
			t.Errorf("%s has no example", c.CommandPath())
		}
	})
	for _, key := range keys(reflect.TypeFor[config.Config]()) {
		if !strings.Contains(page, "`"+key) && !strings.Contains(page, "."+key+"`") && !strings.Contains(page, `"`+key+`"`) {
			t.Errorf("docs/node.md does not name the key %s", key)
		}
	}
}

func each(c *cobra.Command, do func(*cobra.Command)) {
	do(c)
	for _, sub := range c.Commands() {
		each(sub, do)
	}
}

// keys are the JSON names below a type.
func keys(t reflect.Type) (names []string) {
	for t.Kind() == reflect.Pointer || t.Kind() == reflect.Slice {
		t = t.Elem()
	}
	if t.Kind() != reflect.Struct {
		return nil
	}
	for i := range t.NumField() {
		name, _, _ := strings.Cut(t.Field(i).Tag.Get("json"), ",")
		names = append(append(names, name), keys(t.Field(i).Type)...)
	}
	return names
}
