//go:build !no_payments

package till

// Built says whether this program takes and makes payments at all. Built with the
// tag no_payments it does neither, and answers priced calls as unavailable.
const Built = true
