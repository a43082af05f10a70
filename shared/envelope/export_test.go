package envelope

// ParseInner is what Open does after the seal is off.
var ParseInner = parseInner
