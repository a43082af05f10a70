package cli

import "fmt"

// onOff is a flag that is on or off, and knows whether it was given.
type onOff struct {
	on, given bool
}

// Set reads it.
func (o *onOff) Set(text string) error {
	if text != "on" && text != "off" {
		return fmt.Errorf("%.40q is neither on nor off", text)
	}
	o.on, o.given = text == "on", true
	return nil
}

// String writes it.
func (o *onOff) String() string { return sayOnOff(o.on) }

// Type names it in the help.
func (o *onOff) Type() string { return "on|off" }

// change is what the flag changes, nil where it was not given.
func (o *onOff) change() *bool {
	if !o.given {
		return nil
	}
	return &o.on
}

func sayOnOff(on bool) string {
	if on {
		return "on"
	}
	return "off"
}
