package cli

import (
	"os"
	"reflect"
	"strings"
	"testing"

	"github.com/spf13/cobra"

	"github.com/anet-hub/anet/node/internal/config"
)

// Every command shows how it is used, with lines that begin as it is called, and
// says which exit codes mean something of their own.
func TestHelpIsComplete(t *testing.T) {
	special := map[string]string{
		"anet": "012345678", "anet status": "3", "anet doctor": "3", "anet card": "6", "anet review": "6", "anet up": "4",
		"anet delegate": "045678", "anet task get": "045678", "anet pay": "045678", "anet redeem": "6",
		"anet voucher redeem": "04568", "anet voucher buy": "046",
	}
	each((&Program{}).root(), func(c *cobra.Command) {
		path := c.CommandPath()
		if !strings.Contains(c.Example, path) {
			t.Errorf("%s has no example of itself:\n%s", path, c.Example)
		}
		_, said, _ := strings.Cut(c.Long, "Exit codes:")
		if c.Flags().Lookup("wait") != nil && special[path] == "" {
			t.Errorf("%s waits, and says nothing of exit codes", path)
		}
		for _, code := range special[path] {
			if !strings.Contains(said, "\n  "+string(code)+"  ") {
				t.Errorf("%s says nothing of the exit code %c:\n%s", path, code, c.Long)
			}
		}
		delete(special, path)
	})
	for path := range special {
		t.Errorf("there is no command %s", path)
	}
}

// The page for operators names every command and every key of the file.
func TestThePageIsComplete(t *testing.T) {
	b, err := os.ReadFile("../../../docs/node.md")
	must(t, err)
	page := string(b)
	each((&Program{}).root(), func(c *cobra.Command) {
		if !c.HasSubCommands() && !strings.Contains(page, strings.TrimPrefix(c.CommandPath(), "anet ")) {
			t.Errorf("docs/node.md does not name %s", c.CommandPath())
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
