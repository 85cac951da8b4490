// Package kept stays as it is.
package kept

// Name is a name.
const Name = "kept"
