// Package shop has one of each that the next version breaks.
package shop

// Removed goes.
func Removed() {}

// Signature gets another parameter.
func Signature(a int) {}

// Interface gets another method.
type Interface interface{ One() }

// Struct has a field whose type changes, and one that goes.
type Struct struct {
	Field   int
	Dropped string
}

// Method loses its receiver's method.
type Method struct{}

// Gone goes.
func (Method) Gone() {}

// Most changes its value.
const Most = 1
