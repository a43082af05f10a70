package config

import (
	"fmt"

	"github.com/anet-hub/anet/shared/capability"
)

// Warnings are settings that are allowed and hardly meant: they serve nobody,
// or open nothing. They do not refuse the start.
func (c *Config) Warnings() []string {
	var told []string
	for _, p := range c.Inbound.PublicCapabilities {
		if !c.configured(p.ID) {
			told = append(told, fmt.Sprintf("capability %s is public, and no module names it", p.ID))
		}
	}
	for _, s := range c.services() {
		_, public := c.Public(s.ID)
		switch {
		case !public:
			told = append(told, fmt.Sprintf("capability %s is not public: only peers on the allow and trust lists can call it", s.ID))
		}
	}
	return told
}

func (c *Config) services() []ServiceCapability {
	if c.Modules.Service == nil {
		return nil
	}
	return c.Modules.Service.Capabilities
}

// configured reports whether a module names the id itself or one above it.
func (c *Config) configured(id string) bool {
	for _, s := range c.services() {
		if s.ID == id {
			return true
		}
		for parent := range capability.Parents(id) {
			if parent == s.ID {
				return true
			}
		}
	}
	return false
}
