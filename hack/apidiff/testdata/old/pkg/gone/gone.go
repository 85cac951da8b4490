// Package gone goes.
package gone
