package capability

import "strings"

// Device is the reading of an id that names one device: name@adapter/device.
type Device struct {
	Name    string // the capability, ptz.absolute
	Adapter string // what reaches the device, onvif
	Device  string // the device as its adapter names it, camera-006
}

// ParseDevice splits id at its last '@', then at the first '/' behind it. It is
// false when a part is missing: an id such as shell.run@uptime names a command.
func ParseDevice(id string) (Device, bool) {
	at := strings.LastIndexByte(id, '@')
	if at < 0 {
		return Device{}, false
	}
	adapter, device, _ := strings.Cut(id[at+1:], "/")
	d := Device{Name: id[:at], Adapter: adapter, Device: device}
	return d, d.Name != "" && adapter != "" && device != ""
}

// String is the id that d was read from.
func (d Device) String() string { return d.Name + "@" + d.Adapter + "/" + d.Device }
