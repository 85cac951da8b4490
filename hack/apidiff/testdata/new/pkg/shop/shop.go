// Package shop has one of each that this version breaks.
package shop

// Signature has another parameter.
func Signature(a int, b string) {}

// Interface has another method.
type Interface interface {
	One()
	Two()
}

// Struct has a field whose type changed, and one that is new.
type Struct struct {
	Field string
	Added int
}

// Method has another method.
type Method struct{}

// Came is new.
func (Method) Came() {}

// Most has another value.
const Most = 2

// Added is new.
func Added() {}
