//go:build no_payments

package till

// Built is false in a program that was built without payments.
const Built = false
